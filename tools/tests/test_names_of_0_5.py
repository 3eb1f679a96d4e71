"""Each name of RLgraph 0.5 in `names_of_0_5.toml` works, or is answered, and then it is on the migration page."""

import re
import tomllib
from functools import cache
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import rlgraph.components
import rlgraph.environments
import rlgraph.spaces
from rlgraph.agents import Agent
from rlgraph.core import Component, GraphExecutor, rlgraph_api
from rlgraph.environments import GridWorld, OpenAIGymEnv
from rlgraph.environments.option_hints import atari_id
from rlgraph.spaces import Dict, FloatBox

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "migration" / "from_rlgraph_0_5.md").read_text(encoding="utf-8")
NAMES = {
    name: entry
    for group in tomllib.loads((ROOT / "tools" / "names_of_0_5.toml").read_text(encoding="utf-8")).values()
    for name, entry in group.items()
}


def agent(kind, **options):
    return Agent.from_spec({"type": kind, **options}, env="CartPole-v1", backend="numpy")


def build(component):
    return GraphExecutor(component, {"x": FloatBox(shape=(3,), add_batch_rank=True)}, backend="numpy")


def declare(**options):
    """Declares a variable with `options`."""

    class Declaring(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.variable = self.get_variable("variable", float, **options)

        @rlgraph_api
        def run(self, x):
            return x

    build(Declaring())


def draw(**options):
    """Draws from a categorical distribution with `options`."""

    class Drawing(Component):
        def __init__(self):
            self.distribution = rlgraph.components.Categorical()
            super().__init__(self.distribution)

        @rlgraph_api
        def run(self, x):
            return self.distribution.draw(x, **options)

    build(Drawing())


@cache
def used():
    """What the code of the list uses."""
    return {
        **{name: getattr(rlgraph.components, name) for name in rlgraph.components.__all__},
        **{name: getattr(rlgraph.spaces, name) for name in rlgraph.spaces.__all__},
        **{name: getattr(rlgraph.environments, name) for name in rlgraph.environments.__all__},
        "NESTED": Dict(a=Dict(b=float, c=float)),
        "GRID": GridWorld("2x2"),
        "CART_POLE": OpenAIGymEnv("CartPole-v1"),
        "AGENT": agent("dqn"),
        "STATES": np.zeros((1, 4), "float32"),
        "agent": agent,
        "declare": declare,
        "draw": draw,
        "gymnasium": gymnasium,
        "np": np,
        "rlgraph": rlgraph,
    }


@pytest.fixture(autouse=True)
def without_ids_of_ale(monkeypatch):
    """Ids of Atari's games are as if ale_py was not imported, which registers them."""
    for name in filter(atari_id, list(gymnasium.registry)):
        monkeypatch.delitem(gymnasium.registry, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_works_or_is_answered(name):
    entry = NAMES[name]
    if "says" not in entry:
        exec(entry["code"], dict(used()))
        return
    with pytest.raises(Exception, match=re.escape(entry["says"])):
        exec(entry["code"], dict(used()))


def test_the_migration_page_has_the_names_that_are_answered():
    answered = [name for name, entry in NAMES.items() if "says" in entry]
    words = {word for name in answered for word in re.findall(r"[\w-]{3,}", name.partition(",")[0])}
    shown = set(re.findall(r"[\w-]{3,}", PAGE))
    renamed = {
        f"{name}{suffix}" for name in rlgraph.components.__all__ for suffix in ("Optimizer", "LossFunction")
    }
    assert sorted(words - shown - renamed) == []
