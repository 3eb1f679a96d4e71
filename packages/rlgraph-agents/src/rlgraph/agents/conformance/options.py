"""Rows: what options change."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np

from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.probes import values_of_parts
from rlgraph.agents.conformance.subject import (
    CATEGORY,
    FLOATS,
    SMALL,
    AgentUnderTest,
    NotApplicable,
    differing,
)
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask, right_answers
from rlgraph.core import SpecError
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.experience.nested_arrays import map_arrays
from rlgraph.learning.agent_options import option_groups
from rlgraph.spaces import Dict, FloatBox, Space

#: Steps of training.
STEPS = 40
#: What all trainings have in common: one reward in a transition, and a policy that moves away from targets.
COMMON: dict[str, Any] = {
    **{name: SMALL[name] for name in ("network_spec", "update_spec")},
    "n_step": 1,
    "optimizer_spec": {"learning_rate": 0.03},
}
#: Options that end the moves of the policy, or of values, with a value that does so at once, and the usual cause.
LIMITS: dict[str, tuple[dict[str, Any], str]] = {
    "clip_ratio": ({"clip_ratio": 1e-6}, "the ratio is limited on one side only"),
    "kl_limit": ({"kl_limit": 1e-12, "clip_ratio": 10.0}, "the estimate is below 0"),
    "value_clipping": ({"value_clipping": 1e-6}, "the smaller of two losses counts instead of the larger"),
}
#: Options with a small and a large value, which raises the temperature, or the values of states.
RISES = {"target_entropy": (-50.0, 50.0), "expectile": (0.1, 0.9)}
STANDARDIZED = "standardize_advantages"
#: Options that limit something, unless they are None.
NO_LIMIT = frozenset({"value_clipping", "kl_limit"})
#: Intervals of what is scheduled, by what they count: once in two updates.
INTERVALS = {"steps": 16, "updates": 2}
#: Second values of options that many algorithms have, and of those of the kinds of experience.
ALTERNATIVES: dict[str, Sequence[Any]] = {
    "network_spec": [[{"type": "dense", "units": 5, "activation": "tanh"}]],
    "value_network_spec": [[{"type": "dense", "units": 5, "activation": "tanh"}]],
    "optimizer_spec": [{"learning_rate": 0.02}],
    "exploration_spec": [{"noise_spec": {"stddev": 0.7}}, {"epsilon_spec": 0.5}],
    "distributions_spec": [{"bounded_distribution_type": "squashed_normal"}],
    "intrinsic_reward": ["rnd"],
    "policy_spec": [{"noisy": True}, {"noisy": False}],
    "n_step": [3],
    "memory_spec": [{"capacity": 30}],
    "update_spec": [{"batch_size": 5, "steps_before_update": 16, "update_interval": 8}],
    "hindsight_spec": [],  # needs an environment with goals
    "max_age": [],  # needs actors elsewhere
}
OTHER_BOUNDS = FloatBox(-2.0, 1.0, shape=(1,))
CONTAINERS = (Dict({"one": CATEGORY, "other": CATEGORY}), Dict({"one": FLOATS, "other": FLOATS}))


class Situation(NamedTuple):
    """Where training may show what an option does."""

    name: str
    actions: Space
    options: dict[str, Any]
    rewards: float = 1.0


@row("options")
def each_has_an_effect(subject: AgentUnderTest) -> None:
    """Training with another value of any option ends with other weights; limits of the policy's steps hold."""
    subject.need_learning()
    trainings = _Trainings(subject)
    groups = list(option_groups(subject.kind).values())
    without = []
    for name in (*groups[0], *groups[1]):
        values = alternatives(subject, name)
        if values and not trainings.differ(name, values, may_be_refused=name in groups[1]):
            without.append(f"{name} ({', '.join(map(repr, values))})")
    assert not without, (
        f"training ends with the same weights, whatever the value of {'; of '.join(without)}; the values tried are in "
        "brackets. Usual causes: the option is not passed on to the part that should read it; a constant is in its "
        f"place. If the option cannot have an effect in a small task, say so: {_algorithm(subject)}.test_alternatives "
        "= {'option': []}, or name values that have one"
    )
    if "num_epochs" in subject.option_names:
        for name in sorted(LIMITS.keys() & subject.option_names):
            _expect_the_limit(subject, name)
    for name in sorted(RISES.keys() & subject.option_names):
        _expect_rise(subject, name)
    if {"target_noise", "target_noise_clip"} <= subject.option_names:
        _expect_targets_within_bounds(subject)
    for name in sorted(NO_LIMIT & subject.option_names):
        _expect_no_limit(subject, name)
    if STANDARDIZED in subject.option_names:
        for kind in filter(None, _of_type(parameters_of(subject.kind).named[STANDARDIZED].annotation, None)):
            _expect_standardized(subject, kind)


def _expect_no_limit(subject: AgentUnderTest, name: str) -> None:
    """None, which means no limit, is the same as a limit that is never reached."""

    def learned(limit: float | None) -> Any:
        agent = subject.make(**{**COMMON, name: limit})
        for seed in range(2):
            agent.update(as_batch(agent, sample_steps(agent, seed)))
        return agent.get_weights()

    moved = differing(learned(None), learned(1e9), 1e-9)
    assert not moved, (
        f"with {name} None updates end with other weights than with 1e9, such as {moved[0]}; expected the same: None "
        "means no limit. Usual cause: another limit takes its place"
    )


def _expect_the_limit(subject: AgentUnderTest, name: str) -> None:
    """After one step that reaches the limit, further epochs on the same step leave what it limits as it is."""
    plain = {"num_minibatches": 1, "optimizer_spec": {"type": "sgd", "learning_rate": 0.1}, "kl_limit": None}
    plain |= {"weight_entropy": 0.0, "standardize_advantages": False, "normalize_states": False}
    limit, cause = LIMITS[name]

    agents = {epochs: subject.make(**{**plain, **limit, "num_epochs": epochs}) for epochs in (1, 2, 6)}
    start = agents[1].get_weights()

    def learned(epochs: int, *rewards: float) -> Any:
        """The weights after epochs on steps in one state, with one action and these rewards."""
        agent = agents[epochs]
        agent.set_weights(start)
        columns = map_arrays(lambda x: x.repeat(len(rewards), 1), sample_steps(agents[1], length=1, width=1))
        columns["actions"][:] = 0
        columns["rewards"][:], columns["terminals"][:] = rewards, True
        agent.update(as_batch(agent, columns))
        weights, scope = agent.get_weights(), agent.learner.graph.algorithm.policy.scope_path
        is_of_policy = name != "value_clipping"
        return {n: x for n, x in weights.items() if n.startswith(f"{scope}/") == is_of_policy}

    for reward in (5.0, -5.0):
        moved = differing(learned(2, reward), learned(6, reward), 1e-9)
        assert not moved, (
            f"with a {name} of {limit[name]:g} weights still move in epochs 3 to 6 on a step with the reward "
            f"{reward:g}, such as {moved[0]}; expected that they stay where the limit is. Usual cause: {cause}"
        )
    assert name != "clip_ratio" or differing(learned(1, 5.0, -1.0), learned(2, 5.0, -1.0)), (
        f"with a clip_ratio of {limit[name]:g} an action that became too probable, which is the better and the worse "
        "one of two steps, stays so in the next epoch; expected that the worse step moves it back. Usual cause: the "
        "objective is the clipped ratio alone, instead of the minimum of both"
    )


def _expect_targets_within_bounds(subject: AgentUnderTest) -> None:
    """However large the noise of target actions, they stay in their Space: values of them do not grow with it."""
    losses = []
    linear = {"network_spec": [{"type": "dense", "units": 8}]}  # others may be flat far away
    for noise in (1e2, 1e4):
        agent = subject.make(**{**COMMON, **linear, "target_noise": noise, "target_noise_clip": noise})
        numbers = agent.update(as_batch(agent, sample_steps(agent)))
        losses.append(max(abs(x) for name, x in numbers.items() if name.endswith("loss")))
    assert losses[1] <= 10.0 * losses[0], (
        f"the loss is {losses[0]:.2g} with target_noise 100, and {losses[1]:.2g} with 10000; expected about the same: "
        "target actions stay within the bounds of their Space. Usual cause: they are clipped before the noise is added"
    )


def _expect_rise(subject: AgentUnderTest, name: str) -> None:
    """What an option raises is larger with a large value than with a small one."""
    found = []
    for value in RISES[name]:
        agent = subject.make(**{**COMMON, "tau": 1.0, name: value})
        columns = sample_steps(agent)
        columns["states"][:], columns["terminals"][:] = columns["states"][0, 0], True
        for _ in range(50):
            numbers = agent.update(as_batch(agent, columns))
        if name == "target_entropy":
            found.append(float(numbers["alpha"]))
            continue
        states, actions = columns["states"][0], columns["actions"][0]
        found += [
            float(f(states, actions).mean()) for part, f in values_of_parts(agent).items() if "value" in part
        ]
    low, high = RISES[name]
    what = "alpha" if name == "target_entropy" else "the value of a state with several rewards"
    assert found[0] < found[1], (
        f"after 50 updates {what} is {found[0]:.3g} with {name} {low:g}, and {found[1]:.3g} with {high:g}; expected a "
        "rise. Usual causes: the sign; x and 1 - x are exchanged"
    )


def _expect_standardized(subject: AgentUnderTest, kind: Any) -> None:
    """Standardized advantages do not depend on the unit of rewards; those of a single environment differ."""
    options: dict[str, Any] = {"optimizer_spec": {"type": "sgd", "learning_rate": 1e-3}, STANDARDIZED: kind}
    options |= {"num_epochs": 1, "num_minibatches": 1, "weight_entropy": 0.0, "normalize_states": False}
    agent = subject.make(**options)
    columns, scope = sample_steps(agent, width=1), f"{agent.learner.graph.algorithm.policy.scope_path}/"
    columns["terminals"][:] = True
    # Values are 0: rewards are advantages.
    start = {
        name: x if name.startswith(scope) else np.zeros_like(x)
        for name, x in agent.executor.get_weights(trainable_only=True).items()
    }

    def step(factor: float) -> float:
        agent.set_weights(start)
        agent.update(as_batch(agent, {**columns, "rewards": factor * columns["rewards"]}))
        after = agent.get_weights()
        return float(
            np.sqrt(
                sum(np.square(after[name] - x).sum() for name, x in start.items() if name.startswith(scope))
            )
        )

    one, ten = step(1.0), step(10.0)
    assert one > 0.0, (
        f"with {STANDARDIZED} {kind!r} an update on steps of one environment does not change the policy; expected "
        "that it learns which of them were better. Usual cause: the mean and deviation are those of each time step"
    )
    assert abs(ten / one - 1.0) <= 1e-3, (
        f"with {STANDARDIZED} {kind!r} and rewards that are 10 times as large a step of the policy is {ten / one:.3g} "
        "times as long; expected 1: advantages have the deviation 1. Usual causes: they are divided by the variance, "
        "or not at all"
    )


class _Trainings:
    """Trainings of one agent, which differ in options."""

    def __init__(self, subject: AgentUnderTest):
        self._subject = subject
        self._coming, self._situations = _situations(subject), list[tuple[Situation, Any]]()
        schedule = subject.kind.algorithm_class.schedule.values()
        self._common = COMMON | {option: INTERVALS[counted] for option, counted in schedule}

    def differ(self, name: str, values: Sequence[Any], may_be_refused: bool) -> bool:
        """Whether one of the values of an option makes a difference in one of the situations, or all are refused."""
        refusals: list[SpecError] = []
        tried = 0
        for situation, usual in self._all():
            if name == "discount" and situation.options.get("n_step"):
                continue  # the experience sums rewards with it, whatever the algorithm does
            for value in values:
                try:
                    found = self._trained(situation, {name: value})
                except SpecError as refusal:
                    refusals.append(refusal)
                    continue
                tried += 1
                if found is not None and differing(usual, found):
                    return True
        if may_be_refused and not tried:
            return True  # the algorithm takes no recurrent networks
        assert tried, (
            f"every value tried of the option {name} is refused, {', '.join(map(repr, values))}: {refusals[0]}; name "
            f"others in {_algorithm(self._subject)}.test_alternatives, or an empty list if none can be taken"
        )
        return False

    def _all(self) -> Iterator[tuple[Situation, Any]]:
        """All situations, with the weights after training with the usual options."""
        yield from self._situations
        for situation in self._coming:
            self._situations.append((situation, self._trained(situation, {})))
            yield self._situations[-1]

    def _trained(self, situation: Situation, options: Mapping[str, Any]) -> Any:
        """The weights after training; None if there was no update."""
        subject, actions = self._subject, situation.actions
        agent = subject.make(actions, **{**self._common, **situation.options, **options})
        task = partial(CueTask, actions, None, situation.rewards)
        if agent.learner.graph.keeps_demonstrations:
            with TemporaryDirectory() as folder:
                agent.import_observations(right_answers(task(), Path(folder) / "right.npz", 4))
        subject.train(agent, STEPS, task)
        return agent.get_weights() if agent.updates else None


def _situations(subject: AgentUnderTest) -> Iterator[Situation]:
    actions = subject.action_space
    yield Situation("small rewards", actions, {})
    yield Situation("large rewards", actions, {}, 30.0)
    if "n_step" in subject.option_names:
        yield Situation("several rewards", actions, {"n_step": 3})
    for name, candidates in {"floats": [OTHER_BOUNDS], "containers": CONTAINERS}.items():
        try:
            yield Situation(name, subject.first_taken(candidates), {})
        except NotApplicable:
            continue
    try:
        yield Situation("memory", actions, subject.recurrent_options)
    except NotApplicable:
        return


def alternatives(subject: AgentUnderTest, name: str) -> Sequence[Any]:
    """Second values of an option: those that the algorithm declares, else of its search space, else by type.

    Raises:
        AssertionError: none is known.
    """
    algorithm = subject.kind.algorithm_class
    if name in algorithm.test_alternatives:
        return list(algorithm.test_alternatives[name])
    parameter, usual = parameters_of(subject.kind).named[name], subject.usual_options.get(name)
    if usual is None:
        usual = parameter.default
    found = [value for value in _of_type(parameter.annotation, usual) if value != usual]
    found = [*_of_search_space(algorithm.search_space, name, usual), *ALTERNATIVES.get(name, found)]
    found = found if len(found) < 3 else [found[0], found[-1]]
    has_no_other = get_args(parameter.annotation) == (usual,)  # Literal[False]
    assert found or has_no_other or name in ALTERNATIVES, (
        f"no second value is known of the option {name}: name some in {algorithm.__name__}.test_alternatives, as "
        f"{{{name!r}: [value, ...]}}; an empty list if none has an effect in small tasks"
    )
    return found


def _of_search_space(space: Mapping[str, Any], name: str, usual: Any) -> list[Any]:
    found = []
    for path, choices in space.items():
        option, _, rest = path.partition(".")
        if option != name:
            continue
        values = [choices["low"], choices["high"]] if isinstance(choices, Mapping) else list(choices)
        if rest:
            given = dict(usual) if isinstance(usual, Mapping) else {}
            found += [
                {**given, rest: value} for value in values if value != given.get(rest) and "." not in rest
            ]
        else:
            values = [value for value in values if value != usual]
            is_number = all(isinstance(value, int | float) for value in (usual, *values))
            found += sorted(values, key=lambda value: abs(value - usual)) if is_number else values
    return found


def _of_type(annotation: Any, usual: Any) -> list[Any]:
    """Values by the annotation of an option, some of which are small and some large."""
    if get_origin(annotation) is Annotated and annotation != ScheduleSpec:
        return _of_type(annotation.__origin__, usual)
    if annotation is bool:
        return [not usual]
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        return [value for part in get_args(annotation) for value in _of_type(part, usual)]
    if annotation is int:
        return [usual + 1, max(usual // 2, 1)] if isinstance(usual, int) else [2, 1]
    if annotation is float or annotation == ScheduleSpec:
        if isinstance(usual, int | float) and usual:
            return [0.5 * usual, 0.01 * usual]
        return [0.1, 1e-8]
    return []


def _algorithm(subject: AgentUnderTest) -> str:
    return subject.kind.algorithm_class.__name__
