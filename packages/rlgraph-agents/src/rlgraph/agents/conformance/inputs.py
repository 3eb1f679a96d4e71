"""Rows: inputs of networks besides the newest state, and inputs of exported policies."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rlgraph.agents.conformance.subject import (
    AgentUnderTest,
    NotApplicable,
    expect_same,
    perturbed,
    sample_states,
)
from rlgraph.agents.conformance.table import row
from rlgraph.core import CapabilityError
from rlgraph.workers.callbacks import Callback

#: The largest size of a normalized number.
LIMIT = 10.0


class _Observed(Callback):
    """The states of all steps, and how many there were at the last update with twice as many as before."""

    def __init__(self) -> None:
        self.states: list[np.ndarray] = []
        self.counted = 0

    def on_step(self, worker: Any, step: Any) -> None:
        self.states.append(step.states.copy())

    def on_update(self, worker: Any, results: Any) -> None:
        if len(self.states) >= 2 * self.counted:
            self.counted = len(self.states)


@row("inputs")
def normalized_states(subject: AgentUnderTest) -> None:
    """States are normalized by those observed until their number last doubled; acting and evaluating change nothing."""
    subject.need_own_steps()
    agent, task = subject.make(normalize_states=True), subject.task()
    agent.learn(48, env=task, num_envs=2, callbacks=(observed := _Observed()))
    held = agent.get_weights()
    mean, scale = held["normalizer/mean"], held["normalizer/scale"]
    states = np.concatenate(observed.states[: observed.counted]).astype(np.float64)
    expect_same(mean, states.mean(axis=0), "the mean and that of the states", 1e-6)
    expect_same(1.0 / scale, states.std(axis=0), "the scale and that of the states", 1e-6)
    agent.evaluate(2, env=task, seed=77)
    number = 100
    agent.reset()
    actions = agent.get_actions(seen := 3.0 * sample_states(number), use_exploration=False)
    expect_same(held, agent.get_weights(), "the weights before and after acting")
    if "network_spec" not in subject.option_names:
        return  # its actions do not depend on states
    plain = subject.make()
    plain.set_weights({name: value for name, value in held.items() if not name.startswith("normalizer/")})
    normalized = np.clip((seen - mean) * scale, -LIMIT, LIMIT)
    expected = plain.get_actions(normalized, use_exploration=False)
    expect_same(actions, expected, "the actions in states and in normalized states", 1e-6)


@row("inputs")
def previous_steps(subject: AgentUnderTest) -> None:
    """With previous_action_and_reward, actions depend on the reward of the step before, within an episode only."""
    if "network_spec" not in subject.option_names:
        raise NotApplicable("the agent has no network_spec")
    number = 300
    agent = subject.make(previous_action_and_reward=True)
    agent.set_weights(perturbed(agent))
    actor, rng = agent.new_actor(number), np.random.default_rng(0)

    def actions_after(rewards: np.ndarray, begins: bool) -> Any:
        actor.reset()
        actor.act(actor.preprocess(sample_states(number)), use_exploration=False)
        actor.record_rewards(rewards)
        if begins:
            actor.reset()
        return actor.act(actor.preprocess(sample_states(number, 1)), use_exploration=False)

    rewards = 5.0 * rng.normal(size=(2, number))
    one, other = (actions_after(each, begins=False) for each in rewards)
    assert not np.array_equal(one, other), "actions do not depend on the reward before"
    one, other = (actions_after(each, begins=True) for each in rewards)
    expect_same(one, other, "actions in first states, after different rewards of the episode before")


@row("inputs")
def exported_policies(subject: AgentUnderTest) -> None:
    """The greedy policy is exported, with what it remembers of frame stacks, and computes what acting does."""
    if "network_spec" not in subject.option_names:
        raise NotApplicable("the agent has no network_spec")
    stack = [{"type": "sequence", "sequence_length": 2, "add_rank": False}]
    agent, method, number = subject.make(dtype="float32", preprocessing_spec=stack), "get_greedy_actions", 4
    agent.set_weights(perturbed(agent))
    actor, table = agent.new_actor(number), agent.learner.graph.table_space(agent.state_space)
    assert table is not None, "no table for the frames before"
    carried = table.zeros(number)
    for seed in range(3):
        states = sample_states(number, seed)
        results = agent.executor.execute(method, states, carried)
        expect_same(
            results["actions"], actor.act(actor.preprocess(states), False), f"the actions of step {seed}"
        )
        carried = results["internal_states"]
    with TemporaryDirectory() as folder:
        try:
            written = agent.export_graph(Path(folder) / "policy")
        except CapabilityError as error:
            raise NotApplicable(str(error)) from None
        inputs = json.loads((written / "graph.json").read_text())["methods"][method]["inputs"]
    names = {entry["name"].partition("/")[0] for entry in inputs}
    assert names == {"states", "internal_states"}, (
        f"expected states and internal states, given {sorted(names)}"
    )
