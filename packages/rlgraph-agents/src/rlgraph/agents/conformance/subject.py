"""The agent under test."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rlgraph.agents import RandomAgent
from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.tasks import CueTask
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.core import CapabilityError, SpecError
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.experience.nested_arrays import flatten_arrays
from rlgraph.spaces import FloatBox, IntBox, Space
from rlgraph.workers.data_set_recording import record_data_set

#: Options that make an agent small and its updates frequent, for those that have them.
SMALL: dict[str, Any] = {
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "num_epochs": 2,
    "num_minibatches": 2,
    "memory_spec": {"capacity": 300},
    "update_spec": {"steps_before_update": 16, "update_interval": 8, "batch_size": 16},
}
RECURRENT: list[dict[str, Any]] = [{"type": "lstm", "units": 4}]
#: A memory for recurrent networks; several of its sequences are in an episode.
SEQUENCES = {"type": "sequence_replay", "capacity": 300, "sequence_length": 4, "burn_in": 1, "overlap": 2}
CATEGORY, FLOATS = IntBox(3), FloatBox(-1.0, 1.0, shape=(1,))


class NotApplicable(Exception):
    """The row does not concern the agent; says why."""


@dataclass(frozen=True)
class AgentUnderTest:
    """An agent of any algorithm, as rows of the suite make it.

    Attributes:
        agent: its registered name, or its class, or that of its algorithm.
        backend: name of a backend.
        options: of the agent, in place of `SMALL` and of the algorithm's ``test_options``; rows that are about an
            option set it all the same.
    """

    agent: str | type[Agent | Algorithm]
    backend: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def kind(self) -> type[Agent]:
        """Its class.

        Raises:
            SpecError: there is no such agent, or it is not an agent of an algorithm.
        """
        kind = Agent.of(self.agent)
        if not hasattr(kind, "algorithm_class"):
            raise SpecError(f"expected an agent with an algorithm_class, given {kind!r}", path="agent")
        return kind

    @cached_property
    def option_names(self) -> frozenset[str]:
        """The names of its options."""
        return frozenset(parameters_of(self.kind).named)

    @cached_property
    def declared_options(self) -> Mapping[str, Any]:
        """The options that the algorithm declares for tests, and those of this object."""
        return {**self.kind.algorithm_class.test_options, **self.options}

    @cached_property
    def usual_options(self) -> Mapping[str, Any]:
        """The options of its agents, unless a row gives others; some may not be options of the agent."""
        return {**SMALL, **self.declared_options}

    def given_options(
        self, *, dtype: str = "float64", compiled: bool = False, **options: Any
    ) -> dict[str, Any]:
        """The options of its agents: of `usual_options` and of a row those that the agent has."""
        wanted, known = {**self.usual_options, **options}, self.option_names | self.options.keys()
        taken = {name: value for name, value in wanted.items() if name in known}
        execution = {"dtype": dtype, "compile": compiled, **(taken.pop("execution_spec", None) or {})}
        return {**taken, "execution_spec": execution}

    def make(
        self,
        actions: Space | None = None,
        states: Space = CueTask.STATES,
        *,
        kind: type[Agent] | None = None,
        backend: str | None = None,
        seed: int = 5,
        dtype: str = "float64",
        compiled: bool = False,
        acting: str = "auto",
        **options: Any,
    ) -> Agent:
        """A small agent.

        Args:
            actions, states: default: `action_space`, and the states of `CueTask`.
            kind: another class.
            backend: another backend.
            seed, dtype, compiled, acting: of its execution.
            options: of this row; those that the agent has are given to it.

        Raises:
            SpecError: it refuses the Spaces or options.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return (kind or self.kind)(
                state_space=states,
                action_space=self.action_space if actions is None else actions,
                backend=backend or self.backend,
                seed=seed,
                acting=acting,
                **self.given_options(dtype=dtype, compiled=compiled, **options),
            )

    def refusal(self, actions: Space, **options: Any) -> SpecError | None:
        """Why it cannot be made for these actions; None if it can."""
        try:
            self.make(actions, **options)
        except SpecError as error:
            return error
        return None

    def first_taken(self, candidates: Sequence[Space]) -> Space:
        """The first of the action Spaces that it takes.

        Raises:
            NotApplicable: it refuses all of them.
        """
        refusal: SpecError | None = None
        for actions in candidates:
            refusal = self.refusal(actions)
            if refusal is None:
                return actions
        raise NotApplicable(f"the agent refuses such actions: {_first_line(refusal)}")

    @cached_property
    def action_spaces(self) -> list[Space]:
        """Actions that it takes: of a category, and a float, those that it does."""
        return [actions for actions in (CATEGORY, FLOATS) if self.refusal(actions) is None]

    @cached_property
    def action_space(self) -> Space:
        """Actions that it takes: a category if it can.

        Raises:
            SpecError: it takes neither a category nor floats, or an option is wrong.
        """
        refusal = self.refusal(CATEGORY)
        if refusal is None:
            return CATEGORY
        if self.refusal(FLOATS) is not None:
            raise refusal
        return FLOATS

    @cached_property
    def cannot_learn(self) -> str:
        """Why it does not learn, or why the backend cannot do its updates; empty if it can."""
        if not hasattr(self.kind.algorithm_class, "update"):
            return "the agent does not learn: its algorithm has no update"
        try:
            self.train(self.make(), 16, self.task())
        except CapabilityError as error:
            return _first_line(error)
        return ""

    def need_learning(self) -> None:
        """Go on only where it learns, and the backend can do its updates.

        Raises:
            NotApplicable: it does not, or the backend cannot.
        """
        if self.cannot_learn:
            raise NotApplicable(self.cannot_learn)

    @property
    def is_taught(self) -> bool:
        """Whether it learns from data sets only."""
        return self.kind.algorithm_class.experience.kind.is_recorded

    def need_own_steps(self) -> None:
        """As `need_learning`, where training makes steps in an environment.

        Raises:
            NotApplicable: it learns otherwise.
        """
        if self.is_taught:
            raise NotApplicable("the agent learns from data sets, and makes no steps of its own")
        self.need_learning()

    def train(self, agent: Agent, steps: int, env: Any, num_envs: int = 2) -> None:
        """Train an agent in an environment; what learns from data sets, on what random actions do there."""
        if not self.is_taught:
            agent.learn(steps, env=env, num_envs=num_envs)
            return
        teacher = RandomAgent(agent.state_space, agent.action_space, backend="numpy", seed=1)
        with TemporaryDirectory() as folder:
            file = record_data_set(teacher, env, 8, Path(folder) / "random.npz")
            agent.learn(updates=max(steps // 8, 1), data=file)

    @cached_property
    def recurrent_options(self) -> dict[str, Any]:
        """Options that make its network recurrent.

        Raises:
            NotApplicable: the agent refuses such networks.
        """
        options: dict[str, Any] = {"network_spec": RECURRENT, "memory_spec": SEQUENCES}
        if "network_spec" not in self.option_names:
            raise NotApplicable("the agent has no network_spec")
        refusal = self.refusal(self.action_space, **options)
        if refusal is not None:
            raise NotApplicable(f"the agent refuses recurrent networks: {_first_line(refusal)}")
        return options

    def task(self, actions: Space | None = None, states: Space | None = None) -> Any:
        """An environment spec: the task with these actions."""
        return partial(CueTask, self.action_space if actions is None else actions, states)


def _first_line(error: Exception | None) -> str:
    return (str(error).splitlines() or [""])[0]


def differing(one: Any, other: Any, tolerance: float = 0.0) -> list[str]:
    """Paths of the arrays that differ, or that only one of two nested values has.

    Args:
        one, other: nested arrays.
        tolerance: numbers may differ by this much.
    """
    first, second = flatten_arrays(one), flatten_arrays(other)
    names = sorted(first.keys() ^ second.keys())
    for name in sorted(first.keys() & second.keys()):
        a, b = np.asarray(first[name]), np.asarray(second[name])
        same = a.shape == b.shape and (
            np.array_equal(a, b)
            if not tolerance or a.dtype.kind != "f"
            else np.allclose(a, b, rtol=0.0, atol=tolerance)
        )
        names += [] if same else [name]
    return names


def acted(agent: Any, states: Any) -> tuple[Any, dict[str, Any]]:
    """Actions for ``states [N, ...]``, and what `observe` is to be given of them besides."""
    algorithm, wanted = agent.learner.graph.algorithm, {}
    if algorithm.internal_states_space is not None:
        wanted["internals"] = "internal_states"
    if algorithm.behaviour_outputs:
        wanted["remembered"] = "remembered"
    actions, extras = agent.get_actions(states, extra_returns=list(wanted.values()))
    return actions, {argument: extras[name] for argument, name in wanted.items()}


def expect_same(one: Any, other: Any, what: str, tolerance: float = 0.0) -> None:
    """Raise an `AssertionError` that names the first difference of two nested values."""
    found = differing(one, other, tolerance)
    where = f" in {found[0]}" if found and found[0] else ""
    assert not found, f"{what} differ{where} ({len(found)} of {len(flatten_arrays(one))} arrays)"


def sample_states(number: int, seed: int = 0) -> np.ndarray:
    """States of `CueTask`, and others of its Space."""
    return np.random.default_rng(seed).normal(size=(number, 4)).astype(np.float32)


def perturbed(agent: Agent, seed: int = 3) -> dict[str, np.ndarray]:
    """The agent's trainable weights with noise, by name: every one has a value of its own."""
    rng = np.random.default_rng(seed)
    weights = agent.executor.get_weights(trainable_only=True)
    return {name: (x + 0.3 * rng.normal(size=x.shape)).astype(x.dtype) for name, x in weights.items()}


def expect_helpful(refusal: Exception) -> None:
    """Raise an `AssertionError` unless a refusal names the place and says what would fit."""
    faults = getattr(refusal, "faults", ())
    assert faults and all(fault.path for fault in faults), f"a refusal without the place: {refusal}"
    words = ("expected", "needs ", "give ", "take", "use ", "Did you mean", "Known: ")
    assert any(word in str(refusal) for word in words), (
        f"a refusal that does not say what would fit: {refusal}"
    )
