"""Rows: what training does."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rlgraph.agents import RandomAgent
from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.subject import (
    CATEGORY,
    FLOATS,
    RECURRENT,
    SMALL,
    AgentUnderTest,
    NotApplicable,
    expect_helpful,
    expect_same,
    sample_states,
)
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import random_reward, right_answers
from rlgraph.core import SpecError
from rlgraph.spaces import Dict, Space
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.data_set_recording import record_data_set

#: Steps of training between two evaluations, and at most.
STEPS, MOST_STEPS = 400, 3200
#: Options with which agents learn in few updates. An answer has its reward at once: values of what follows, which swell
#: by the updates of targets, only hide it for a while.
QUICK: dict[str, Any] = {
    "discount": 0.5,
    "optimizer_spec": {"learning_rate": 0.01},
    "update_spec": {**SMALL["update_spec"], "update_interval": 4},
}
PARTS = (
    Dict({"number": FLOATS, "category": CATEGORY}),
    Dict({"one": FLOATS, "other": FLOATS}),
    Dict({"one": CATEGORY, "other": CATEGORY}),
)


def _quick_agent(subject: AgentUnderTest, actions: Space, **options: Any) -> Agent:
    """An agent with the options `QUICK` in place of defaults."""
    subject.need_learning()
    quick = {name: value for name, value in QUICK.items() if name not in subject.declared_options}
    return subject.make(actions, dtype="float32", **quick, **options)


def _learns(subject: AgentUnderTest, actions: Space) -> None:
    agent, task = _quick_agent(subject, actions), subject.task(actions)
    chance, done, reached = random_reward(actions), 0, 0.0
    wanted = (chance + 1.0) / 2
    while done < MOST_STEPS and reached < wanted:
        _practise(subject, agent, task)
        done += STEPS
        evaluation = agent.evaluate(20, env=task, seed=77)
        reached = sum(evaluation.returns) / sum(evaluation.lengths)
    assert reached >= wanted, (
        f"after {done} steps the mean reward of a step is {reached:.2f}; expected at least {wanted:.2f}, half way from "
        f"random actions ({chance:.2f}) to the best ones (1){_unsuited(subject)}. Where the rows of values pass, look "
        "at the loss of the policy: its sign, its log-probabilities, what its gradient flows through"
    )


def _unsuited(subject: AgentUnderTest) -> str:
    """For a message: that options, not the algorithm, may be the reason."""
    name = subject.kind.algorithm_class.__name__
    if subject.declared_options.keys() - {"execution_spec"}:
        return f". It has the options of {name}.test_options"
    return (
        f". {name} declares no test_options: a network of 8 units and the optimizer of the suite may not suit it. "
        f"Declare options with which it learns small tasks, {name}.test_options = {{'network_spec': ..., ...}}, or try "
        "some with --options"
    )


def _practise(subject: AgentUnderTest, agent: Agent, task: Any) -> None:
    if not subject.is_taught:
        agent.learn(STEPS, env=task, num_envs=4)
        return
    with TemporaryDirectory() as folder:
        agent.learn(updates=STEPS // 4, data=right_answers(task(), Path(folder) / "right.npz"))


@row("learning", on_every_backend=True)
def categories(subject: AgentUnderTest) -> None:
    """It answers cues by a category, much better than at random, after at most 3200 steps."""
    _learns(subject, subject.first_taken([CATEGORY]))


@row("learning")
def floats(subject: AgentUnderTest) -> None:
    """It answers cues by bounded floats, much better than at random, after at most 3200 steps."""
    _learns(subject, subject.first_taken([FLOATS]))


@row("learning")
def containers(subject: AgentUnderTest) -> None:
    """It answers cues by an action of several parts, much better than at random, after at most 3200 steps."""
    _learns(subject, subject.first_taken(PARTS))


@row("learning", on_every_backend=True)
def same_seed(subject: AgentUnderTest) -> None:
    """Two runs of one seed end with the same weights, bit for bit; a run of another seed does not."""
    subject.need_learning()
    agents = [subject.make(seed=seed) for seed in (5, 5, 6)]
    for agent in agents:
        subject.train(agent, 48, subject.task())
    first, again, other = (agent.get_weights() for agent in agents)
    expect_same(first, again, "the weights of two runs of one seed")
    assert any(not np.array_equal(first[name], other[name]) for name in first), "the seed changes nothing"


@row("learning", on_every_backend=True)
def data_sets(subject: AgentUnderTest) -> None:
    """Updates from a data set alone teach it to answer cues; without a memory it refuses them with what takes them."""
    agent = _quick_agent(subject, subject.action_space, memory_spec={"capacity": 2000})
    task = subject.task()
    with TemporaryDirectory() as folder:
        file = right_answers(task(), Path(folder) / "data" / "right.npz")
        if agent.learner.graph.memory is None:
            try:
                agent.learn(updates=1, data=file)
            except SpecError as refusal:
                expect_helpful(refusal)
                return
            raise AssertionError("it has no memory, and takes a data set")
        if not subject.is_taught:
            teacher = RandomAgent(agent.state_space, agent.action_space, backend="numpy", seed=1)
            record_data_set(teacher, task, 200, file.with_name("random.npz"))
        agent.learn(updates=400, data=file.parent)
    assert (agent.timesteps, agent.updates) == (0, 400), "steps of others count, or not every update"
    _expect_right_answers(subject, agent, "")
    if agent.learner.graph.keeps_demonstrations:
        imitator = _quick_agent(subject, subject.action_space)
        with TemporaryDirectory() as folder:
            imitator.learn(updates=400, data=right_answers(task(), Path(folder) / "right.npz", reward=0.0))
        _expect_right_answers(
            subject,
            imitator,
            " after demonstrations without rewards, which are to be imitated all the same. Usual causes: the margin is "
            "that of the demonstrated action; the loss of demonstrations is left out",
        )


def _expect_right_answers(subject: AgentUnderTest, agent: Agent, why: str) -> None:
    evaluation = agent.evaluate(20, env=subject.task(), seed=77)
    wanted = (random_reward(agent.action_space) + 1.0) / 2
    reached = sum(evaluation.returns) / sum(evaluation.lengths)
    assert reached >= wanted, (
        f"the mean reward of a step is {reached:.2f}; expected at least {wanted:.2f}{why or _unsuited(subject)}"
    )


class _Disturbing(Callback):
    """Asks the agent for actions in every step of its training."""

    def on_step(self, worker: Any, step: Any) -> None:
        agent = worker.agent
        agent.get_actions(sample_states(3))
        agent.get_actions(sample_states(1)[0], use_exploration=False)
        agent.new_actor(2).act(sample_states(2))


def _undisturbed(subject: AgentUnderTest, options: dict[str, Any]) -> None:
    subject.need_own_steps()
    quiet, disturbed = subject.make(**options), subject.make(**options)
    quiet.learn(48, env=subject.task(), num_envs=2)
    disturbed.learn(
        48,
        env=subject.task(),
        num_envs=2,
        callbacks=_Disturbing(),
        evaluation_interval=10,
        evaluation_episodes=2,
    )
    expect_same(quiet.get_weights(), disturbed.get_weights(), "the weights of a quiet and a disturbed run")


@row("learning")
def is_not_disturbed(subject: AgentUnderTest) -> None:
    """Evaluations, get_actions and further actors between its steps do not change a bit of its training."""
    _undisturbed(subject, {})


@row("learning")
def is_not_disturbed_with_memory(subject: AgentUnderTest) -> None:
    """The same with a recurrent network, whose states are in the tables of the actors."""
    _undisturbed(subject, subject.recurrent_options)


@row("learning", on_every_backend=True)
def recurrent_networks(subject: AgentUnderTest) -> None:
    """A recurrent network learns, and acting remembers and forgets at resets; or it is refused at construction."""
    if "network_spec" not in subject.option_names:
        raise NotApplicable("the agent has no network_spec")
    options: dict[str, Any] = {"network_spec": RECURRENT}
    refusal = subject.refusal(subject.action_space, **options)
    if refusal is not None:
        expect_helpful(refusal)
        return
    subject.need_learning()
    agent = subject.make(**options)
    before = agent.get_weights()
    agent.learn(32, env=subject.task(), num_envs=2)
    assert agent.updates > 0, "no update in 32 steps"
    trained = agent.executor.get_weights(trainable_only=True)
    for name, value in trained.items():
        is_recurrent = "lstm" in name or "gru" in name
        assert not is_recurrent or not np.array_equal(value, before[name]), f"{name} does not learn"
    number, seen = 300, 10.0 * sample_states(300)
    agent.set_weights({name: 3.0 * value for name, value in trained.items()})

    def last_actions(history: list[np.ndarray]) -> Any:
        for states in history:
            agent.get_actions(states, use_exploration=False)
        return agent.get_actions(sample_states(number, 1), use_exploration=False)

    agent.get_actions(seen, use_exploration=False)
    agent.reset()
    fresh = last_actions([])
    agent.reset()
    remembered = last_actions([seen, -seen])
    assert not np.array_equal(fresh, remembered), "actions do not depend on the states before"
    agent.reset()
    expect_same(fresh, last_actions([]), "actions of two fresh episodes")
