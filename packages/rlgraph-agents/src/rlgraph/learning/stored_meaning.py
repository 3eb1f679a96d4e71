"""What stored agents mean where options or layers have got another meaning since they were stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlgraph.algorithms.default_network import scales_otherwise
from rlgraph.components import Dropout
from rlgraph.components.common.action_scaling import ActionScaling
from rlgraph.components.layers.noisy_dense import NoisyDense
from rlgraph.components.layers.training_layers import knows_training
from rlgraph.core import CheckpointError, Component, SpecError, Specifiable
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.learning.learner import Learner

#: The key of the number in ``config.json`` and in a checkpoint's facts.
MEANING_KEY = "meaning"
#: What is stored now has this meaning; versions up to 0.2 stored no number, and had meaning 1.
MEANING = 2


def meaning_of(stored: Mapping[str, Any]) -> int:
    """The meaning of an agent in what is stored beside it: a ``config.json`` or the facts of a checkpoint."""
    return int(stored.get(MEANING_KEY, 1))


def check_scales(
    learner: Learner, facts: Mapping[str, Any], source: object, names: Sequence[str] | None = None
) -> None:
    """Check that networks that see scaled states or actions do not get variables of some that saw them otherwise.

    Args:
        learner: that takes over variables.
        facts: of a checkpoint.
        source: where it is.
        names: of the variables; None: all.

    Raises:
        CheckpointError: they would.
    """
    if meaning_of(facts) >= MEANING:
        return
    known, options = parameters_of(learner.spec.algorithm).named, learner.spec.options
    given = [options.get("network_spec")] if "network_spec" in known else []
    given += [spec for spec in [options.get("value_network_spec")] if spec is not None]
    if any(scales_otherwise(learner.state_space, spec) for spec in given):
        raise CheckpointError(
            f"{source} is of version 0.2 or older, whose default networks divided all uint8 states by 255 and scaled "
            "no others; here they are scaled by the bounds of their Space. Give the agent the layers of that time, for "
            'uint8 network_spec=[{"type": "divide", "divisor": 255.0}, ...], and call its load_model'
        )
    parts = learner.executor.built.graph.components.items()
    scaling = [path for path, part in parts if isinstance(part, ActionScaling) and part.changes_actions]
    networks = tuple(f"{path.rsplit('/', 2)[0]}/" for path in scaling)
    if networks and (names is None or any(name.startswith(networks) for name in names)):
        raise CheckpointError(
            f"{source} is of version 0.2 or older: there {networks[0]}... saw actions as the environment takes them, "
            "here it sees them scaled to -1..1. To train on as before, use Agent.load or give the agent "
            "scale_actions=False (curiosity has an option of its own of this name, and a class of yours sets it before "
            "make_critics). Or take over the policy alone: load_weights(only=...)"
        )


def as_it_meant(base: type[Specifiable], spec: Any, meaning: int) -> Any:
    """A stored spec of an agent, with options that give it the meaning it had; see `Algorithm.as_it_meant`."""
    if meaning >= MEANING or not isinstance(spec, Mapping):
        return spec
    kind: Any = base._lookup(spec.get("type"), "agent")
    return _without_dropout(dict(kind.algorithm_class.as_it_meant(spec, meaning)))


def changed_layers(spec: Any, meaning: int) -> str:
    """What is to be said of layers in a stored spec that mean another thing now, which no option undoes; else empty.

    Up to 0.2 no update said that it trains.
    """
    names = [] if meaning >= MEANING else [each.__name__ for each in _layers(spec) if each is not Dropout]
    if not names:
        return ""
    return (
        f"{', '.join(dict.fromkeys(names))}: this agent was stored by a version whose updates told no layer that it "
        "trains, and now they do: such layers change what is learned. Start a new run from its weights, "
        "agent.load_weights(FOLDER), or use the version that stored it"
    )


def _without_dropout(spec: Any) -> Any:
    """`spec`, whose dropout drops nothing, as when no update said that it trains."""
    if isinstance(spec, Mapping):
        changed = {key: _without_dropout(item) for key, item in spec.items()}
        return {**changed, "rate": 0.0} if _kind(spec) is Dropout else changed
    return [_without_dropout(item) for item in spec] if isinstance(spec, list) else spec


def _layers(spec: Any) -> Iterator[Any]:
    """The classes of layers in a spec that know training, noise left out, which was in updates always."""
    if isinstance(spec, Mapping):
        kind = _kind(spec)
        if kind is not None and knows_training(kind) and not issubclass(kind, NoisyDense):
            yield kind
    for item in spec.values() if isinstance(spec, Mapping) else spec if isinstance(spec, list) else ():
        yield from _layers(item)


def _kind(spec: Mapping[str, Any]) -> Any:
    """The class of the component that a spec describes; None: it is none."""
    try:
        kind = Component._lookup(spec["type"], "") if "type" in spec else None
    except SpecError:  # the type of an agent, a memory ...
        return None
    return kind if isinstance(kind, type) else None
