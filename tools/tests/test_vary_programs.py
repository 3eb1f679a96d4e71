"""`vary_programs` finds what a program of several operations does otherwise than its build says."""

from __future__ import annotations

import program_steps
import pytest
import vary_programs

#: The calls of all operations take seconds to draw.
FEW = ("tanh", "where", "sum", "concat", "reshape")
PAGE = """
```python
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox


class Squashed(Component):
    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.tanh(x)


GraphExecutor(Squashed(), {"x": FloatBox(shape=(2,), add_batch_rank=True)}, backend="numpy")
```
"""


@pytest.fixture
def main(monkeypatch, tmp_path):
    few = [each for each in program_steps.operations() if each[0] in FEW]
    monkeypatch.setattr(program_steps, "operations", lambda: few)
    monkeypatch.setattr(vary_programs, "ROOT", tmp_path)
    monkeypatch.setattr(vary_programs, "installed_backends", lambda: ["numpy", "torch"])
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text(PAGE, encoding="utf-8")

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["vary_programs.py", *arguments])
        return vary_programs.main()

    program_steps.calls.cache_clear()
    yield run
    program_steps.calls.cache_clear()


def test_programs_do_what_the_build_says(main, capsys):
    printed = []
    for _ in range(2):
        assert main("--programs", "8", "--seed", "3") == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and "nothing was wrong" in printed[0]
    assert main("--programs", "8", "--seed", "4") == 0
    assert capsys.readouterr().out != printed[0]


def test_other_numbers_are_found_in_programs_and_on_pages(main, capsys, monkeypatch):
    monkeypatch.setattr("rlgraph.core.numpy.ops.NumpyOps.tanh", staticmethod(lambda x: x * 2))
    assert main("--programs", "20") == 1
    printed = capsys.readouterr().out
    assert "torch: result[" in printed and "tanh(p" in printed
    assert "page: Squashed, as on the page" in printed
    assert "torch: result: other numbers" in printed


def test_an_error_of_python_is_no_refusal(main, capsys, monkeypatch):
    def fails(*_):
        raise IndexError("tuple index out of range")

    monkeypatch.setattr("rlgraph.core.ops.symbolic._sliced", fails)
    assert main("--programs", "20", "--pages") == 1
    assert "build: IndexError: tuple index out of range" in capsys.readouterr().out


def test_a_page_that_fails_is_named(main, capsys, tmp_path):
    (tmp_path / "docs/page.md").write_text(PAGE + "```python\nraise KeyError(3)\n```\n", encoding="utf-8")
    assert main("--programs", "0") == 1
    assert "page: the page does not run: KeyError: 3" in capsys.readouterr().out
