"""Tests hold PyTorch's process-wide settings still."""

import pytest
import torch


@pytest.fixture(autouse=True)
def settings():
    before = (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads())
    yield
    assert (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()) == before


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for every test."""
    monkeypatch.setenv("RLGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "torch"


@pytest.fixture
def straight(monkeypatch):
    """Traced graphs run as they are, so that only the compiler itself is left out; lists what was 'compiled'."""
    from rlgraph.torch.compile import program

    made = []

    def compile_library(graph, inputs, library):
        made.append(graph)
        library.write_text(str(len(made) - 1))

    def load_library(library):
        graph = made[int(library.read_text())]

        def run(inputs):
            with torch.no_grad():
                return graph(*inputs)

        return run

    monkeypatch.setattr(program, "missing_compiler", lambda: None)
    monkeypatch.setattr(program, "compile_library", compile_library)
    monkeypatch.setattr(program, "load_library", load_library)
    return made
