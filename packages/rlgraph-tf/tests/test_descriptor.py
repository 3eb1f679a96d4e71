"""What can be had of the backend without its framework."""

import subprocess
import sys

from rlgraph.core import find_backend

CHECK = """
import os, sys
before = dict(os.environ)
import rlgraph.tf
from rlgraph.core import find_backend
descriptor = find_backend("tf")
assert descriptor.framework == "tensorflow" and descriptor.capabilities == {"gradients"}
assert "tensorflow" not in sys.modules and "keras" not in sys.modules
assert dict(os.environ) == before
"""


def test_neither_the_package_nor_its_descriptor_imports_the_framework():
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_alias():
    assert find_backend("tensorflow") is find_backend("tf")
