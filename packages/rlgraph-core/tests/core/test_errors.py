"""Errors that carry their faults as data."""

import pickle

import pytest

from rlgraph.core.errors import (
    LONG_FAULT,
    Fault,
    PluginError,
    RLGraphError,
    SpecError,
    first_line,
    type_and_text,
)
from rlgraph.core.registry import Registry


@pytest.mark.parametrize(
    ("error", "lines", "faults"),
    [
        (SpecError("expected 1", path="a.b"), ["a.b: expected 1"], [("a.b", "expected 1")]),
        (SpecError("nothing there"), ["nothing there"], [("", "nothing there")]),
        (
            SpecError(Fault("expected 1", "a"), "x", path="b"),
            ["a: expected 1", "b: x"],
            [("a", "expected 1"), ("b", "x")],
        ),
    ],
)
def test_a_message_has_a_line_for_each_fault(error, lines, faults):
    assert str(error).split("\n") == lines
    assert [(fault.path, fault.text) for fault in error.faults] == faults


def test_a_long_fault_is_shortened_only_in_the_message():
    error = SpecError("x" * 3 * LONG_FAULT + "end", path="net.units")
    assert str(error).startswith("net.units: xxx") and str(error).endswith("xxend")
    assert len(str(error)) <= LONG_FAULT + 5
    assert len(error.faults[0].text) == 3 * LONG_FAULT + 3


def test_a_spec_error_can_be_pickled():
    error = SpecError(Fault("expected 1", "a"), Fault("expected 2", "b"), located=True)
    error.add_note("(in a file)")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.faults, copy.located) == (SpecError, error.faults, True)
    assert copy.__notes__ == ["(in a file)"] and str(copy) == "a: expected 1\nb: expected 2"


@pytest.mark.parametrize(
    ("message", "command"),
    [
        (
            "engine 'ray' needs Ray: pip install 'rlgraph-dist[ray]'",
            'pip install "packages/rlgraph-dist[ray]"',
        ),
        (
            'a PNG needs it: pip install "rlgraph-core[draw]". SVG does not',
            'pip install "packages/rlgraph-core[draw]"',
        ),
        (
            "YAML needs PyYAML: pip install rlgraph-core[yaml] (or)",
            'pip install "packages/rlgraph-core[yaml]"',
        ),
        (
            "backend 'torch' is not installed: pip install rlgraph-torch",
            'pip install "packages/rlgraph-torch"',
        ),
        ("pip install rlgraph-symlog", None),
        ("pip install torch", None),
        ("rlgraph-dist has it", None),
    ],
)
@pytest.mark.parametrize("kind", [RLGraphError, PluginError, SpecError])
def test_what_an_install_line_means_in_a_clone(kind, message, command):
    for error in (kind(message), pickle.loads(pickle.dumps(kind(message)))):
        notes = getattr(error, "__notes__", [])
        assert notes == (
            [] if command is None else [f"RLgraph is not on PyPI yet: in a clone of it, {command}"]
        )
        assert str(error) == message


def test_an_engine_that_is_not_installed_names_its_extra(monkeypatch):
    engines = Registry("rlgraph.engines", find=lambda group: [])
    for name, extra in (("ray", "ray"), ("distributed_tf", "tf")):
        with pytest.raises(
            SpecError, match=rf"engine '{name}' is not installed: pip install 'rlgraph-dist\[{extra}\]'"
        ):
            engines.load(name)


@pytest.mark.parametrize(
    ("text", "line"), [("", "ValueError: "), ("a\nb", "ValueError: a"), ("\n a\nb", "ValueError: a")]
)
def test_the_first_line_of_an_error_of_other_code(text, line):
    assert first_line(ValueError(text)) == line
    assert type_and_text(ValueError(text)) == f"ValueError: {text}"
