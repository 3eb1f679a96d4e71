"""Whole numbers as options, and keys of documents as options."""

import inspect
import re
from typing import get_args

import pytest

from rlgraph.cli import training
from rlgraph.cli.main import app


class Stopped(Exception):
    pass


def commands():
    """The words of each command, and its function."""
    groups = [
        ([], app),
        *(
            ([group.typer_instance.info.name or group.name], group.typer_instance)
            for group in app.registered_groups
        ),
    ]
    for words, group in groups:
        for info in group.registered_commands:
            yield [*words, info.name or info.callback.__name__.replace("_", "-")], info.callback


def test_every_whole_number_is_read_alike(rlgraph):
    given = {"evaluate": ["run"], "resume": ["run"], "check-env": ["CartPole-v1"], "benchmark": ["suite"]}
    found = set()
    for words, function in commands():
        for name, parameter in inspect.signature(function).parameters.items():
            kind, info, *_ = get_args(parameter.annotation)
            if re.search(r"\bint\b", repr(kind)):
                option = next(iter(info.param_decls or ()), f"--{name.replace('_', '-')}")
                outcome = rlgraph(*words, *given.get(words[-1], ()), option, "x")
                said = "expected a whole number, such as 10000 or 1e4, given 'x'"
                assert outcome.code == 2 and said in outcome.err, (words, option)
                found.add(f"{words[-1]} {option}")
    assert found >= {
        "train --steps",
        "train --seed",
        "tune --trials",
        "graph --depth",
        "benchmark --seeds",
        "init --steps",
    }


@pytest.mark.parametrize(
    ("text", "steps"),
    [("1e4", 10_000), ("10_000", 10_000), ("1E+3", 1000), ("2.5e3", 2500), ("7", 7), ("300.0", 300)],
)
def test_numbers(rlgraph, monkeypatch, text, steps):
    def stop(document, *_):
        assert document["steps"] == steps and isinstance(document["steps"], int)
        raise Stopped

    monkeypatch.setattr(training, "_train", stop)
    with pytest.raises(Stopped):
        rlgraph("train", "--backend", "numpy", "--env", "deterministic", "--steps", text)


@pytest.mark.parametrize("text", ["1.5", "1e-1", "1e99", "nan", "inf", "1e999999999", "", "ten", "1e4.5"])
def test_no_whole_numbers(rlgraph, text):
    outcome = rlgraph("train", "--backend", "numpy", "--steps", text)
    assert outcome.code == 2 and "expected a whole number, such as 10000 or 1e4" in outcome.err


def test_a_least_value_is_kept(rlgraph):
    assert "expected a whole number of at least 1, given '0'" in rlgraph("tune", "--trials", 0).err
    assert (
        "expected a whole number of at least 1, given '0e1'"
        in rlgraph("check-env", "x", "--episodes", "0e1").err
    )


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--lr", "--set optimizer_spec.learning_rate=VALUE"),
        ("--learning-rate", "--set optimizer_spec.learning_rate=VALUE"),
        ("--gamma", "--set discount=VALUE"),
        ("--buffer-size", "--set memory_spec.capacity=VALUE"),
        ("--foo", "by --set, such as --set optimizer_spec.learning_rate=1e-3"),
    ],
)
@pytest.mark.parametrize("command", ["train", "resume", "tune"])
def test_a_key_of_the_document_as_an_option(rlgraph, command, option, said):
    outcome = rlgraph(command, *(["run"] if command == "resume" else []), option, 0.1)
    assert (
        outcome.code == 2 and re.search(rf"[Nn]o such option:? {option}", outcome.err) and said in outcome.err
    )
    assert "--set" not in rlgraph("plugins", option, 0.1).err
