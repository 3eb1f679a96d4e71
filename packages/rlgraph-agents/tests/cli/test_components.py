"""``rlgraph components``: what there is to build from."""

import json
from copy import copy

import pytest

from rlgraph.components import Dense
from rlgraph.core import Component, registry


@pytest.fixture
def known(monkeypatch):
    """The registry of components; what is registered is gone behind the test."""
    found = registry("rlgraph.components")
    for part in ("_plugins", "_objects"):
        monkeypatch.setattr(found, part, copy(getattr(found, part)))
    return found


def test_all_by_family(rlgraph, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = rlgraph("components")
    assert outcome.code == 0
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    families = [line for line in lines if line[:1].strip()]
    assert families == sorted(families) and {"layers", "losses", "memories", "models"} <= set(families)
    rows = lines[lines.index("layers") : lines.index("losses")]
    assert any(
        row.startswith("  dense, fc ") and "activation(inputs @ weights + biases)" in row for row in rows
    )
    assert max(map(len, lines)) <= 100


def test_every_name_is_listed_once(rlgraph):
    listed = json.loads(rlgraph("components", "--json").out)
    names = [name for entry in listed for name in (entry["name"], *entry["other_names"])]
    assert sorted(names) == registry("rlgraph.components").names()
    (loss,) = (entry for entry in listed if entry["name"] == "ppo_loss")
    assert (loss["family"], loss["other_names"]) == ("losses", ["ppo_loss_function"])
    assert loss["summary"].startswith("Clipped surrogate objective")


def test_one(rlgraph):
    outcome = rlgraph("components", "dense")
    assert outcome.code == 0
    for text in (
        "component dense, fc",
        "units",
        "an integer; required",
        "size of the output.",
        "call(inputs)",
    ):
        assert text in outcome.out
    assert '{"type": "dense", "units": "<an integer>"}' in outcome.out
    assert "trainable" not in outcome.out  # what every component takes


def test_one_for_machines(rlgraph):
    shown = json.loads(rlgraph("components", "DQN-loss", "--json").out)
    assert (shown["names"], shown["family"]) == (["dqn_loss", "dqn_loss_function"], "losses")
    assert shown["class"] == "rlgraph.components.losses.dqn_loss.DQNLoss"
    assert shown["arguments"]["discount"] == {
        "type": "a number in [0, 1]",
        "required": False,
        "default": 0.99,
        "description": "discount factor in [0, 1].",
    }
    assert shown["api_methods"]["get_td_errors"]["call"].startswith("get_td_errors(q_values, actions,")
    papers = {paper["authors"]: paper["address"] for paper in shown["papers"]}
    assert papers["van Hasselt et al."] == "https://arxiv.org/abs/1509.06461"
    assert shown["backends"] == "all" and shown["spec"] == {"type": "DQN-loss"}


def test_every_component_can_be_shown(rlgraph):
    """Each argument is described, and the spec names what has to be given."""
    for name in ("policy", "sac_loss", "intrinsic_curiosity_module", "adam", "gru"):
        shown = json.loads(rlgraph("components", name, "--json").out)
        required = {key for key, entry in shown["arguments"].items() if entry["required"]}
        assert shown["spec"].keys() == {"type", *required}
        assert all(entry["description"] for entry in shown["arguments"].values()), name
        assert shown["api_methods"] and shown["summary"]


def narrow(units: int = 4):
    """A layer of few units."""
    return Dense(units)


class Bound(Component):
    """Runs where it has kernels ``[B]``."""


def test_components_of_others(rlgraph, refused, known):
    known.register("narrow", narrow)
    known.register("bound", Bound)
    known.register("broken", "no_such_package.layers:Layer")
    shown = json.loads(rlgraph("components", "narrow", "--json").out)
    assert (shown["summary"], shown["arguments"]["units"]["default"]) == ("A layer of few units.", 4)
    assert "A layer of few units." in rlgraph("components", "narrow").out
    assert "none of its own" in rlgraph("components", "bound").out
    listed = {entry["name"]: entry for entry in json.loads(rlgraph("components", "--json").out)}
    assert listed["bound"]["family"] == Bound.__module__.partition(".")[0]
    assert "No module named 'no_such_package'" in listed["broken"]["summary"]
    refused("cannot be loaded from no_such_package.layers:Layer", "components", "broken")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("components dens", "unknown component 'dens'. Did you mean 'dense'?"),
        ("plugins agnts", "unknown kind of plug-in 'agnts'. Did you mean 'agents'?"),
    ],
)
def test_mistakes(refused, command, said):
    assert refused(said, *command.split()).out == ""


@pytest.mark.parametrize("kind", ["backends", "backend", "Backends"])
def test_plugins_of_one_kind(rlgraph, kind):
    listed = json.loads(rlgraph("plugins", kind, "--json").out)
    assert [entry["name"] for entry in listed] == registry("rlgraph.backends").names()
    assert {entry["kind"] for entry in listed} == {"backend"}
