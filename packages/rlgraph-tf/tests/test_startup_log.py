"""The first thing that one reads is not TensorFlow's log."""

import os
import subprocess
import sys

import pytest

from rlgraph.core.tensorflow_log import LEVEL

IMPORTS = [
    "import rlgraph.tf.backend",
    pytest.param("from rlgraph.tf import ModuleComponent", marks=pytest.mark.slow),
    pytest.param("import rlgraph.tf.collective", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("first", IMPORTS)
def test_tensorflow_starts_in_silence(first):
    code = f"{first}; import sys; import tensorflow as tf; tf.constant(1.0) + 1.0; print('mine', file=sys.stderr)"
    environment = {key: value for key, value in os.environ.items() if key != LEVEL}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert ended.stderr == "mine\n"
