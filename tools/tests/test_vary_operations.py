"""`vary_operations` finds what a build says otherwise than a backend does."""

from __future__ import annotations

from dataclasses import replace

import pytest
import vary_operations

from rlgraph.core.ops import OPERATIONS, TensorSpec


@pytest.fixture
def main(monkeypatch):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["vary_operations.py", *arguments])
        return vary_operations.main()

    return run


def test_what_the_backends_do_is_what_the_build_says(main, capsys):
    assert main("--only", "where", "take", "//", "--calls", "2") == 0
    assert "nothing was wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x: TensorSpec((2, *x.shape), x.dtype), "tanh on numpy: expected"),
        (lambda x: replace(x, dtype="float16"), "'float16')"),
    ],
)
def test_a_wrong_rule_is_found(main, capsys, monkeypatch, wrong, message):
    wrong.__annotations__ = {"x": "TensorSpec"}
    monkeypatch.setitem(OPERATIONS, "tanh", replace(OPERATIONS["tanh"], rule=wrong))
    assert main("--only", "tanh", "--calls", "2") == 1
    assert message in capsys.readouterr().out


def test_a_backend_that_fails_is_named(main, capsys, monkeypatch):
    def fails(*_):
        raise RuntimeError("no room")

    monkeypatch.setattr("rlgraph.core.numpy.ops.NumpyOps.tanh", staticmethod(fails))
    assert main("--only", "tanh", "--calls", "2") == 1
    assert "tanh on numpy: RuntimeError: no room" in capsys.readouterr().out
