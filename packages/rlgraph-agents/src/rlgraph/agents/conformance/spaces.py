"""Rows: which states and actions it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.agents.conformance.batches import as_batch, sample_steps
from rlgraph.agents.conformance.subject import (
    SMALL,
    AgentUnderTest,
    NotApplicable,
    differing,
    expect_helpful,
    perturbed,
    sample_states,
)
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple

ACTIONS: dict[str, Space] = {
    "a category": IntBox(3),
    "several categories": IntBox(3, shape=(2,)),
    "bools": BoolBox(shape=(2,)),
    "bounded floats": FloatBox(-1.0, 1.0, shape=(2,)),
    "a float without bounds": FloatBox(),
    "floats with a lower bound": FloatBox(0.0, None, shape=(2,)),
    "a Dict": Dict({"a": IntBox(2), "b": FloatBox(-1.0, 1.0)}),
    "a Tuple of floats": Tuple(FloatBox(-1.0, 1.0, shape=(2,)), FloatBox(0.0, 2.0)),
    "a Tuple of categories": Tuple(IntBox(2), Dict({"c": IntBox(3)})),
}
#: Bounds that are not symmetric.
BOUNDED = FloatBox([3.0, -2.0], [5.0, 1.0])
#: Of each kind of distribution one, for states that are no vectors: heads do not know what is before them.
FEW_ACTIONS = {name: ACTIONS[name] for name in ("a category", "bools", "bounded floats", "a Dict")}
DENSE = SMALL["network_spec"]
#: States, and layers for them; None: the agent's own default.
STATES: dict[str, tuple[Space, Any]] = {
    "vectors": (CueTask.STATES, DENSE),
    "pictures": (
        IntBox(0, 256, shape=(6, 6, 1), dtype="uint8"),
        [
            {"type": "divide", "divisor": 255.0},
            {"type": "conv2d", "filters": 2, "kernel_size": 3, "strides": 2, "activation": "relu"},
            {"type": "reshape", "flatten": True},
            *DENSE,
        ],
    ),
    "a Dict": (Dict({"x": FloatBox(shape=(2,)), "y": Dict({"z": IntBox(3)})}), None),
}


#: Of each kind one; for the agent's own default.
NESTED = Dict(
    {
        "picture": IntBox(0, 256, shape=(5, 5, 1), dtype="uint8"),
        "category": IntBox(3),
        "body": Tuple(FloatBox(shape=(2,)), BoolBox()),
    }
)


def _trains_or_is_refused(subject: AgentUnderTest, states: Space, layers: Any, actions: Space) -> str:
    """``"trains"`` or ``"refused"``."""
    options = {"network_spec": layers}
    try:
        agent = subject.make(actions, states, dtype="float32", **options)
    except SpecError as refusal:
        expect_helpful(refusal)
        return "refused"
    before = agent.executor.get_weights(trainable_only=True)
    subject.train(agent, 16, subject.task(actions, states))
    assert agent.updates > 0, "no update in 16 steps"
    after = agent.get_weights()
    assert all(np.isfinite(value).all() for value in after.values() if value.dtype.kind == "f"), "not finite"
    assert any(not np.array_equal(value, after[name]) for name, value in before.items()), "nothing is learned"
    return "trains"


@row("spaces", on_every_backend=True)
def actions(subject: AgentUnderTest) -> None:
    """Every action Space trains, and actions are all over it, not outside; or a SpecError says what would fit."""
    subject.need_learning()
    _check(subject, {"vectors": STATES["vectors"]}, ACTIONS)
    if subject.refusal(BOUNDED) is None:
        _expect_all_within_bounds(subject)
        _expect_scaled_bounds(subject)


def _expect_all_within_bounds(subject: AgentUnderTest) -> None:
    """Actions of policies with large weights are within their bounds, greedy ones all over them."""
    agent = subject.make(BOUNDED)
    start = [perturbed(agent, seed) for seed in range(4)]
    low, high = np.asarray(BOUNDED.low), np.asarray(BOUNDED.high)
    for explore, factor in ((False, 100.0), (True, 10.0)):
        parts = []
        for weights in start:
            agent.set_weights({name: factor * x for name, x in weights.items()})
            parts.append(agent.get_actions(sample_states(200), explore))
        taken = np.concatenate(parts)
        outside = taken[((taken < low) | (taken > high)).any(axis=1)]
        assert not len(outside), (
            f"{'drawn' if explore else 'greedy'} actions such as {outside[0].tolist()} are outside of {BOUNDED}. "
            "Usual causes: the bounds are taken as symmetric; noise is added after the actions were clipped"
        )
        rest = 0.05 * (high - low)
        reached = (taken.min(axis=0) <= low + rest) & (taken.max(axis=0) >= high - rest)
        assert explore or reached.all(), (
            f"greedy actions of policies with large weights are from {taken.min(axis=0).tolist()} to "
            f"{taken.max(axis=0).tolist()}; expected nearly all of {BOUNDED}. Usual cause: they are squashed twice"
        )


def _expect_scaled_bounds(subject: AgentUnderTest) -> None:
    """Bounds that are 100 times as wide, with actions to match, change nothing in an update."""
    learned = []
    for size in (1.0, 100.0):
        agent = subject.make(
            FloatBox(-size, size, shape=(1,)), n_step=1, policy_delay=1, normalize_states=False
        )
        columns = sample_steps(agent)
        agent.update(as_batch(agent, columns))
        learned.append((columns["actions"] / size, agent.executor.get_weights(trainable_only=True)))
    (taken, weights), (as_taken, others) = learned
    if differing(taken, as_taken, 1e-6):
        return  # its distribution depends on the bounds: no actions that match
    moved = differing(weights, others, 1e-6)
    assert not moved, (
        f"an update on actions from -100 to 100 ends with other weights than on the same from -1 to 1, such as "
        f"{moved[0]}; expected the same: all is relative to the bounds. Usual causes: noise on actions of targets "
        "is not scaled to their bounds; values are of actions as they are, and not of scaled ones"
    )


@row("spaces")
def states(subject: AgentUnderTest) -> None:
    """Pictures and Dicts as states train with every kind of action, or are refused at construction."""
    subject.need_learning()
    others = {name: found for name, found in STATES.items() if name != "vectors"}
    _check(subject, others, FEW_ACTIONS)


@row("spaces")
def parts_of_states(subject: AgentUnderTest) -> None:
    """Without network_spec, nested states with a picture train, and every part of them has an effect on actions."""
    subject.need_learning()
    if _trains_or_is_refused(subject, NESTED, None, subject.action_space) == "refused":
        raise NotApplicable("it refuses nested states")
    agent = subject.make(states=NESTED, dtype="float32", network_spec=None)
    space, rng = NESTED.with_batch_rank(), np.random.default_rng(0)
    states = space.sample(1000, rng=rng)
    before = _flat_actions(agent, states)
    for path, other in space.flatten_sample(space.sample(1000, rng=rng)).items():
        after = _flat_actions(agent, space.unflatten_sample({**space.flatten_sample(states), path: other}))
        assert any(not np.array_equal(part, after[name]) for name, part in before.items()), (
            f"greedy actions in 1000 states do not depend on the part {path!r} of the states"
        )


def _flat_actions(agent: Any, states: Any) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = agent.action_space.flatten_sample(agent.get_actions(states, False))
    return found


def _check(subject: AgentUnderTest, states: Any, actions: Any) -> None:
    found = []
    for state_name, (state_space, layers) in states.items():
        for name, action_space in actions.items():
            try:
                found.append(_trains_or_is_refused(subject, state_space, layers, action_space))
            except Exception as error:
                error.add_note(f"states: {state_name}, actions: {name}")
                raise
    assert "trains" in found, "everything is refused"
