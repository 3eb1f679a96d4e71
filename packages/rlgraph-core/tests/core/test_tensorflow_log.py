"""What TensorFlow writes while it starts, and what else is written meanwhile."""

import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from rlgraph.core.tensorflow_log import LEVEL, startup_log_hidden

NOISE = [
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    "I0000 00:00:1795853360.573883   24913 cudart_stub.cc:31] Could not find cuda drivers on your machine.",
    "W0000 00:00:1795853360.573883   24913 gpu_device.cc:2342] Cannot dlopen some GPU libraries.",
    "E0000 00:00:1795853375.191958   24913 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error",
]
OTHERS = ["E0000 00:00:1795853375.19   24913 tensor.cc:5] out of memory", "Info of mine", "Warning: mine"]


@pytest.fixture
def starting(monkeypatch, capfd):
    """Writes to standard error as TensorFlow starts, with its environment variable set to a level."""
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)

    def devices():
        os.write(2, f"{NOISE[3]}\n".encode())

    def start(level=None, fail=False):
        monkeypatch.delenv(LEVEL, raising=False)
        if level is not None:
            monkeypatch.setenv(LEVEL, level)
        with startup_log_hidden():
            os.write(2, "".join(f"{line}\n" for line in (*NOISE[:3], *OTHERS)).encode())
            if fail:
                raise ImportError("no")
            module = ModuleType("tensorflow")
            module.config = SimpleNamespace(list_physical_devices=devices)
            monkeypatch.setitem(sys.modules, "tensorflow", module)
        os.write(2, b"after\n")
        return capfd.readouterr().err.splitlines()

    return start


@pytest.mark.parametrize("level", [None, "2", "3"])
def test_its_start_up_log_is_hidden_and_nothing_else(starting, level):
    assert starting(level) == [*OTHERS, "after"]
    assert os.environ[LEVEL] == (level or "2")


@pytest.mark.parametrize("level", ["0", "1"])
def test_whoever_asks_for_it_sees_it(starting, level):
    assert starting(level) == [*NOISE[:3], *OTHERS, "after"]


def test_an_import_that_fails_keeps_what_was_written(starting, capfd):
    with pytest.raises(ImportError, match="no"):
        starting(fail=True)
    assert capfd.readouterr().err.splitlines() == OTHERS
