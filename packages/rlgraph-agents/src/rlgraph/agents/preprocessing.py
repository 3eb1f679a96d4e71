"""The front of an agent's preprocessor: which states are raw, and one slot per environment where it keeps state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import numpy as np

from rlgraph.agents.nested_arrays import map_arrays, row
from rlgraph.components import MovingStandardize
from rlgraph.components.preprocessing.preprocess_layer import StatefulLayer
from rlgraph.core import Component, GraphExecutor, InputError
from rlgraph.spaces import Space

#: Environments stepped in turn during an evaluation; acting in batches is cheaper than one by one.
EVALUATION_ENVIRONMENTS = 10


def make_room_for_evaluation(preprocessor: Component) -> None:
    """Layers that remember environments get room for those of an evaluation, besides the ones they were made for."""
    if isinstance(preprocessor, StatefulLayer):
        preprocessor.num_environments += EVALUATION_ENVIRONMENTS
    for part in preprocessor.sub_components.values():
        make_room_for_evaluation(part)


class Preprocessing:
    """Runs the preprocessor of a root component.

    The root has an API method ``preprocess_states(states)``; with a preprocessor that keeps state
    ``preprocess_states(states, env_indices)``, and ``reset_preprocessor(env_indices)``: row i of the states belongs to
    slot ``env_indices[i]`` [B].

    Args:
        executor: of the root.
        preprocessor: has ``has_state`` and ``get_preprocessed_space(space)``.
        raw: Space of one state before it.
    """

    def __init__(self, executor: GraphExecutor, preprocessor: Component, raw: Space):
        self.has_state: bool = preprocessor.has_state  # type: ignore[attr-defined]
        self.raw = raw
        self.space: Space = preprocessor.get_preprocessed_space(raw)  # type: ignore[attr-defined]
        self._preprocess = executor.program("preprocess_states")
        self._reset = executor.program("reset_preprocessor") if self.has_state else None
        #: Environment -> its slot, in the order in which they were first seen.
        self.slots: dict[str, int] = {}
        self._stateful = [part for part in preprocessor.walk() if isinstance(part, StatefulLayer)]
        self._room = min((layer.num_environments for layer in self._stateful), default=0)
        self._learning = [part for part in preprocessor.walk() if isinstance(part, MovingStandardize)]

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Inside of it no layer learns of the states that it is shown."""
        with ExitStack() as stack:
            for layer in self._learning:
                stack.enter_context(layer.frozen())
            yield

    def __call__(self, states: Any, env_ids: Sequence[str]) -> Any:
        """Preprocessed states of a batch; row i is the newest state of environment ``env_ids[i]``.

        Raises:
            InputError: there are more environments than a layer has room for.
        """
        if not self.has_state:
            return self._preprocess(states)
        if len(set(env_ids)) == len(env_ids):
            return self._preprocess(states, self._indices(env_ids))
        # Consecutive states of one environment: each has to see the one before.
        parts = [
            self._preprocess(row(states, slice(i, i + 1)), self._indices([env_id]))
            for i, env_id in enumerate(env_ids)
        ]
        return map_arrays(lambda *arrays: np.concatenate(arrays), *parts)

    def reset(self, env_ids: Iterable[str] | None = None) -> None:
        """Forget the states of these environments, or of all."""
        if self._reset is None:
            return
        known = [env_id for env_id in (self.slots if env_ids is None else env_ids) if env_id in self.slots]
        if known:
            self._reset(self._indices(known))

    def is_raw(self, states: Any) -> bool:
        """Whether a batch fits the raw Space and not the preprocessed one."""
        return _fits(self.raw, states) and not _fits(self.space, states)

    def fits_raw(self, states: Any) -> bool:
        """Whether a batch fits the raw Space."""
        return _fits(self.raw, states)

    def _indices(self, env_ids: Sequence[str]) -> np.ndarray:
        slots = self.slots
        indices = [slots.setdefault(env_id, len(slots)) for env_id in env_ids]
        if len(slots) > self._room:
            self._refuse(list(slots)[self._room])
        return np.array(indices)

    def _refuse(self, env_id: str) -> NoReturn:
        """Forget the environments that there is no room for, and say what makes room."""
        self.slots = dict(list(self.slots.items())[: self._room])
        layers = [layer.scope_path for layer in self._stateful if layer.num_environments == self._room]
        raise InputError(
            f"there is no room for environment {env_id!r}: {', '.join(layers)} remembers what it was shown by "
            f"{self._room - EVALUATION_ENVIRONMENTS} environments, and {EVALUATION_ENVIRONMENTS} of evaluations; "
            "num_environments= in the layer's spec makes it more"
        )


def _fits(space: Space, states: Any) -> bool:
    """Whether a batch has the structure, the shapes and the kinds of numbers of `space`; values are not looked at."""
    try:
        leaves = space.flatten_sample(states)
    except (LookupError, TypeError, ValueError):
        return False
    return all(
        np.shape(leaves[path])[1:] == box.shape and np.asarray(leaves[path]).dtype.kind in box.kinds
        for path, box in space.flatten().items()
    )
