import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
import torch

from rlgraph.core import ExecutionSpec, create_backend, find_backend
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.torch.backend import TorchBackend
from rlgraph.torch.descriptor import BACKEND

SCRIPT = """
import sys
import rlgraph.torch, rlgraph.torch.descriptor
from rlgraph.core import find_backend, registry
assert "torch" in registry("rlgraph.backends").names()
assert find_backend("pytorch").name == "torch"
print("torch" in sys.modules)
"""


def test_the_descriptor_imports_no_framework():
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_what_it_says():
    assert find_backend("torch") is find_backend("PyTorch") is BACKEND
    assert BACKEND.contract_version == CONTRACT_VERSION
    assert BACKEND.capabilities == TorchBackend.capabilities == {"gradients"}
    assert any(requirement.startswith("torch") for requirement in distribution("rlgraph-torch").requires)


def test_threads():
    before = torch.get_num_threads()
    try:
        create_backend("torch", ExecutionSpec(threads=1))
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    create_backend("torch", ExecutionSpec())
    assert torch.get_num_threads() == before


def test_our_name_does_not_shadow_the_framework():
    assert hasattr(torch, "tensor")
    assert Path(torch.__file__).parts[-3] != "rlgraph"
    with pytest.raises(ImportError):
        __import__("rlgraph.torch.nothing")
