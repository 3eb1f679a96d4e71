#!/usr/bin/env python3
"""The table "Can I use ...?" of every agent: written into the documentation, and tried out.

What the table says is what `Agent.check_spec` answers. ``--write`` writes the page; ``--sweep`` trains random
combinations of agent, actions, states, features and autoreset mode for some seconds, and lists those that were neither
refused when they were made nor trained. It needs rlgraph-agents.

    .venvs/dev/bin/python tools/can_i_use.py --write
    .venvs/dev/bin/python tools/can_i_use.py --sweep 120 --backend torch
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlgraph.agents import Agent
from rlgraph.core import RLGraphError, SpecError, registry
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.environments import Environment
from rlgraph.learning.training_program import reasons_against
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.spaces.gymnasium import to_gymnasium
from rlgraph.workers import record_data_set

PAGE = Path(__file__).parents[1] / "docs" / "can_i_use.md"
FIRST = ("dqn", "ppo", "a2c", "sac", "bc", "random")

ACTIONS: dict[str, Space] = {
    "one category": IntBox(3),
    "several categories (MultiDiscrete)": IntBox(3, shape=(2,)),
    "a bool": BoolBox(),
    "floats with both bounds": FloatBox(-1.0, 1.0, shape=(2,)),
    "floats without bounds": FloatBox(shape=(2,)),
    "a `Dict` or `Tuple` of categories": Dict(a=IntBox(2), b=IntBox(3)),
    "a `Dict` or `Tuple` of floats with both bounds": Tuple(FloatBox(-1.0, 1.0), FloatBox(0.0, 1.0)),
    "a `Dict` or `Tuple` of categories and floats": Dict(a=IntBox(2), b=FloatBox(-1.0, 1.0)),
}
STATES: dict[str, Space] = {
    "a vector": FloatBox(shape=(4,)),
    "a picture": IntBox(256, shape=(36, 36, 1), dtype="uint8"),
    "a category": IntBox(6),
    "a `Dict` or `Tuple` of vectors and categories": Dict(place=FloatBox(shape=(3,)), room=IntBox(5)),
}
MASKS = "masks of the actions"
HINDSIGHT = "other goals in hindsight"
IN_GRAPH = "one program with the environment"
GOAL = FloatBox(shape=(2,))
_FLOATS = [{"type": "reshape", "flatten": True}, {"type": "convert_type", "to_dtype": "float"}]
_LSTM = [{"type": "dense", "units": 4}, {"type": "lstm", "units": 4}]
#: Feature -> the options that ask for it, and the page about it.
FEATURES: dict[str, tuple[dict[str, Any], str]] = {
    MASKS: ({}, "masks"),
    "recurrent layers": ({"network_spec": _LSTM}, "partially_observable_tasks"),
    "previous action and reward": ({"previous_action_and_reward": True}, "partially_observable_tasks"),
    "normalized observations": ({"normalize_states": True}, "normalization"),
    "scaled rewards": ({"scale_rewards": True}, "normalization"),
    "stacks of states": (
        {"preprocessing_spec": [{"type": "sequence", "sequence_length": 2}]},
        "preprocessing",
    ),
}
#: The same of features that need an environment of their own, which the sweep does not have.
OTHER_FEATURES: dict[str, tuple[dict[str, Any], str]] = {HINDSIGHT: ({"hindsight_spec": {}}, "hindsight")}
#: What some agents need beside a feature, since their own defaults exclude it: options, and how they are written.
BESIDE: dict[str, tuple[dict[str, Any], str]] = {
    "recurrent layers": (
        {"memory_spec": {"type": "sequence_replay"}},
        "`memory_spec: {type: sequence_replay}`",
    ),
    HINDSIGHT: ({"n_step": 1}, "`n_step: 1`"),
}
#: Two features that exclude each other are refused with one of these.
EXCEPTIONS = ("there is no default network", "the states have none")
SMALL = {
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 2,
    "update_spec": {"steps_before_update": 32, "update_interval": 16, "batch_size": 4},
}


def agents() -> list[str]:
    """The names of all agents, ours first and in the order of the documentation."""
    names = registry("rlgraph.agents").names()
    return [*(name for name in FIRST if name in names), *(name for name in names if name not in FIRST)]


def mask_space(actions: Space) -> Space:
    """The Space of one mask of `actions`."""
    if isinstance(actions, Dict):
        return Dict({name: mask_space(part) for name, part in actions.items() if isinstance(part, IntBox)})
    categories = (actions.num_categories,) if isinstance(actions, IntBox) else ()
    return BoolBox(shape=(*actions.shape, *categories))


def spec_of(
    agent: str, states: Space, actions: Space, features: tuple[str, ...] = (), beside: bool = False
) -> tuple[dict[str, Any], Space]:
    """The spec of an agent with these features, and what is `BESIDE` them, and the Space of its states."""
    options: dict[str, Any] = {}
    for feature in features:
        options |= (FEATURES | OTHER_FEATURES)[feature][0] | (BESIDE.get(feature, ({},))[0] if beside else {})
    is_vector = isinstance(states, FloatBox)
    if "network_spec" in options and not is_vector:
        together = [] if not isinstance(states, Dict) and len(features) == 1 else [{"type": "concat"}]
        options["network_spec"] = [*_FLOATS, *together, *_LSTM]
    if MASKS in features:
        states = Dict(state=states, action_mask=mask_space(actions))
    if HINDSIGHT in features:
        states = Dict(observation=states, achieved_goal=GOAL, desired_goal=GOAL)
    return {"type": agent, **options}, states


def refusal(
    agent: str, states: Space, actions: Space, features: tuple[str, ...] = (), beside: bool = False
) -> str:
    """Why the agent cannot be used so, in one line; empty if it can."""
    spec, seen = spec_of(agent, states, actions, features, beside)
    try:
        Agent.check_spec(spec, state_space=seen, action_space=actions)
    except SpecError as error:
        return str(error).splitlines()[0]
    return ""


def taken_actions(agent: str) -> Space:
    """The first actions that the agent takes; categories if it can, which masks need."""
    return next(space for space in ACTIONS.values() if not refusal(agent, STATES["a vector"], space))


def not_in_graph(agent: str) -> str:
    """Why the agent cannot be in one program with an environment; empty if it can."""
    states, actions = STATES["a vector"], taken_actions(agent)
    made = Agent.from_spec(agent, state_space=states, action_space=actions, backend="numpy")
    reasons = reasons_against(made)
    return f"worker.in_graph: {', '.join(reasons)}: cannot be in the program" if reasons else ""


def _cell(agent: str, feature: str, refused: str) -> str:
    """What the table says of an agent and a feature, which it refuses with its defaults or does not."""
    if not refused:
        return "yes"
    vector, actions = STATES["a vector"], taken_actions(agent)
    if feature in BESIDE and not refusal(agent, vector, actions, (feature,), beside=True):
        return f"with {BESIDE[feature][1]}"
    return "no"


def page() -> str:
    """The page of the documentation."""
    names, refused = agents(), []
    vector = STATES["a vector"]
    lines = [
        "# Can I use ...?",
        "",
        "The table says what each agent takes. It is made with the checks of the agents' constructors: an agent",
        "refuses everything else when it is made. What an agent takes can be combined, with the conditions below, on",
        "every backend that learns and with every autoreset mode. `tools/can_i_use.py --sweep` trains random",
        "combinations to check this. Where the table names an option, the agent needs it beside the feature.",
        "",
        "The conditions:",
        "",
        "* Masks are for categories. Other parts of a `Dict` of actions have no mask.",
        "* Normalized observations need states with floats.",
        "* Stacks of pictures need `add_rank: false`, which makes channels of the frames, or a `network_spec`.",
        "* Recurrent PPO needs as many sequences as minibatches. Its defaults have them; with a shorter",
        "  `rollout_length` take more environments or a shorter `sequence_length`.",
        "* Other goals in hindsight exclude recurrent layers, stacks of states, and previous action and reward.",
        "* One program with the environment is for environments that are components; on PyTorch compile it.",
        "",
        "<!-- Written by tools/can_i_use.py --write. -->",
        "",
        "| | " + " | ".join(f"`{name}`" for name in names) + " |",
        "| --- |" + " --- |" * len(names),
    ]
    questions: list[tuple[str, str, Any]] = [
        *(
            (f"actions: {what}", what, lambda name, x=x: refusal(name, vector, x))
            for what, x in ACTIONS.items()
        ),
        *(
            (f"states: {what}", what, lambda name, x=x: refusal(name, x, taken_actions(name)))
            for what, x in STATES.items()
        ),
        *(
            (
                f"{{doc}}`{what} <{place}>`",
                what,
                lambda name, what=what: refusal(name, vector, taken_actions(name), (what,)),
            )
            for what, (_, place) in (FEATURES | OTHER_FEATURES).items()
        ),
        ("{doc}`one program with the environment <environments_in_the_graph>`", IN_GRAPH, not_in_graph),
    ]
    for title, what, ask in questions:
        answers = {name: ask(name) for name in names}
        cells = [_cell(name, what, answers[name]) for name in names]
        lines.append("| " + " | ".join([title, *cells]) + " |")
        messages: dict[str, list[str]] = {}
        for name, said in answers.items():
            messages.setdefault(said, []).append(f"`{name}`")
        refused += [f"* {', '.join(who)}, {what}: `{said}`" for said, who in messages.items() if said]
    title = "## Messages of combinations that are refused, or need another option"
    return "\n".join([*lines, "", title, "", *refused, ""])


class RandomTask(Environment):
    """Random states and rewards; masks with at least one legal action."""

    def __init__(self, states: Space, actions: Space) -> None:
        super().__init__(states, actions)
        self._time, self._rng = 0, np.random.default_rng(0)

    def _state(self) -> Any:
        state = self.state_space.sample(rng=self._rng)
        if isinstance(state, dict) and "action_mask" in state:
            for mask in self.state_space.flatten_sample(state).values():
                if mask.dtype == bool:
                    mask[..., 0] = True
        return state

    def reset(self, seed: int | None = None) -> Any:
        self._time = 0
        return self._state()

    def step(self, actions: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._time += 1
        return self._state(), float(self._rng.random()), self._time % 7 == 0, self._time % 11 == 0, {}


class GymTask(gymnasium.Env[Any, Any]):
    """A `RandomTask` as an environment of Gymnasium."""

    def __init__(self, states: Space, actions: Space) -> None:
        self._task = RandomTask(states, actions)
        self.observation_space, self.action_space = to_gymnasium(states), to_gymnasium(actions)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self._task.reset(seed), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._task.step(action)


def outcome(
    name: str,
    states: str,
    actions: str,
    features: tuple[str, ...],
    backend: str,
    timesteps: int = 200,
    mode: AutoresetMode | None = None,
) -> str:
    """``"trained"``, ``"refused"``, or what was wrong: neither, or a refusal that is not in the table.

    Args:
        name: of the agent.
        states, actions, features: names in the table.
        backend: that trains.
        timesteps: of two environments; agents that learn from data sets do an update for ten of them.
        mode: how a vector environment of Gymnasium resets; None: the environments are RLgraph's.
    """
    spec, seen = spec_of(name, STATES[states], ACTIONS[actions], features)
    kind = Agent.of(name)
    options = parameters_of(kind).named
    spec |= {option: value for option, value in SMALL.items() if option in options}
    if "recurrent layers" in features and "memory_spec" in options:
        spec["memory_spec"] = {"sequence_length": 4, "burn_in": 1, "overlap": 2, "capacity": 50}
    task = partial(RandomTask if mode is None else GymTask, seen, ACTIONS[actions])
    env: Any = task if mode is None else SyncVectorEnv([task, task], autoreset_mode=mode)
    try:
        agent = Agent.from_spec(spec, env=env, backend=backend, seed=1)
    except RLGraphError as error:
        vector, any_actions = STATES["a vector"], taken_actions(name)
        told = any(reason in str(error) for reason in EXCEPTIONS) or any(
            [
                refusal(name, vector, ACTIONS[actions]),
                refusal(name, STATES[states], any_actions),
                *(refusal(name, vector, any_actions, (feature,)) for feature in features),
            ]
        )
        return "refused" if told else f"refused, {type(error).__name__}: {error}"
    except Exception as error:
        return f"when made, {type(error).__name__}: {error}"
    try:
        if kind.algorithm_class.experience.kind.is_recorded:
            with tempfile.TemporaryDirectory() as folder:
                data = record_data_set(agent, task, 4, Path(folder) / "data.npz")
                agent.learn(updates=timesteps // 10, data=data)
        else:
            agent.learn(timesteps, num_envs=2)
    except Exception as error:
        return f"in training, {type(error).__name__}: {error}"
    return "trained"


def sweep(seconds: float, backend: str, seed: int) -> list[str]:
    """Train random combinations; what was wrong."""
    rng, found, counts = random.Random(seed), [], Counter[str]()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name, what, given = rng.choice(agents()), rng.choice(list(STATES)), rng.choice(list(ACTIONS))
        features = tuple(feature for feature in FEATURES if rng.random() < 0.4)
        actions = ACTIONS[given]
        if MASKS in features and not (
            isinstance(actions, IntBox) or "category" in given or isinstance(actions, Dict)
        ):
            continue  # such actions have no masks
        # Gymnasium has no bool: it is a category there, which agents may take that refuse bools.
        mode = rng.choice([None, *AutoresetMode]) if given != "a bool" else None
        result = outcome(name, what, given, features, backend, mode=mode)
        counts[result if result in ("trained", "refused") else "wrong"] += 1
        if result not in ("trained", "refused"):
            found.append(f"{name}, {what}, {given}, {', '.join(features)}, {mode}: {result}")
    print(dict(counts))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--sweep", type=float, metavar="SECONDS", help="train random combinations")
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.write:
        PAGE.write_text(page(), encoding="utf-8")
    found = sweep(options.sweep, options.backend, options.seed) if options.sweep else []
    print("\n".join(found))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
