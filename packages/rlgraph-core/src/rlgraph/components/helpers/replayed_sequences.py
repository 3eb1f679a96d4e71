"""The steps of replayed sequences as items of a batch."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.sequences import n_step_rewards, sequence_priorities


class ReplayedSequences(Component):
    """Turns sequences of B records into T * B items, step by step, so that losses need not know of sequences.

    Records are dicts of fields ``[B, ...]`` with K steps of burn-in and T steps to learn from: ``states [K + T + 1]``,
    of which the last is what the last step led to; ``begins [K + T]``, where an episode begins; ``actions``,
    ``rewards``, ``terminals`` and ``weights [T]``, 0 in padding, which comes last; ``beginnings``, the internal states
    before the first step. No sequence crosses the end of an episode.

    Args:
        burn_in: K.
        n_step: number of rewards of an item; fewer at the end of a sequence.
        discount: discount factor of one step.
        eta: share of the largest error in the priority of a sequence (Kapturowski et al., 2019).

    Raises:
        SpecError: a number outside its range.
    """

    def __init__(
        self,
        burn_in: int = 0,
        n_step: int = 1,
        discount: float = 0.99,
        eta: float = 0.9,
        scope: str = "replayed-sequences",
        **kwargs: Any,
    ):
        self.burn_in = check_whole(burn_in, f"{scope}.burn_in", least=0)
        self.n_step = check_whole(n_step, f"{scope}.n_step", least=1)
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        self.eta = check_number(eta, f"{scope}.eta", least=0, most=1)
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def get_items(self, records: Any, importance_weights: Any = None) -> Any:
        """``states, next_states, actions, rewards, terminals, discounts, weights, after [T * B]``, and ``sequences``.

        The sequences are those of `rlgraph.components.common.observations`, with the states of the burn-in alone;
        ``after`` says which steps the next states follow. Weights are 0 in padding, else the `importance_weights [B]`
        or 1.
        """
        burn_in, states, begins = self.burn_in, records["states"], records["begins"]
        sequences = {"resets": self._steps(begins, burn_in, None), "internal_states": records["beginnings"]}
        if burn_in:
            sequences["burn_in"] = {
                "states": self._items(states, 0, burn_in),
                "resets": self._steps(begins, 0, burn_in),
            }
        rewards, discounts, terminals, after = self._n_step(
            records["rewards"], records["terminals"], records["weights"]
        )
        return {
            "states": self._items(states, burn_in, -1),
            "next_states": self._at(self._items(states, burn_in + 1, None), after),
            "actions": self._items(records["actions"], 0, None),
            "rewards": rewards,
            "terminals": terminals,
            "discounts": discounts,
            "weights": self._weights(records["weights"], importance_weights),
            "after": after,
            "sequences": sequences,
        }

    @rlgraph_api
    def get_priorities(self, errors: Any, weights: Any) -> Any:
        """The priorities ``[B]`` of sequences with ``weights [B, T]`` whose items have ``errors [T * B]``."""
        return self._priorities(errors, weights)

    @graph_fn
    def _steps(self, ops: Any, values: Any, start: int, stop: int | None) -> Any:
        """``[B, L] -> [B, stop - start]``."""
        return values[:, start:stop]

    @graph_fn(flatten_ops={"values"}, split_ops=True)
    def _items(self, ops: Any, values: Any, start: int, stop: int | None) -> Any:
        """Some steps as items: ``[B, L, ...] -> [(stop - start) * B, ...]``."""
        steps = ops.moveaxis(values[:, start:stop], 0, 1)
        return ops.reshape(steps, (-1, *steps.shape[2:]))

    @graph_fn(flatten_ops={"values"}, split_ops=True)
    def _at(self, ops: Any, values: Any, places: Any) -> Any:
        return ops.take(values, places, axis=0)

    @graph_fn(returns=4)
    def _n_step(self, ops: Any, rewards: Any, terminals: Any, weights: Any) -> Any:
        """Sums of rewards, discounts, terminals after them, and the item that is the last of each sum."""
        valid = ops.moveaxis(ops.astype(weights, "bool"), 0, 1)
        sums, discounts, lasts = n_step_rewards(
            ops, ops.moveaxis(rewards, 0, 1), valid, self.n_step, self.discount
        )
        items = ops.arange(ops.shape(ops.reshape(rewards, (-1,)))[0])
        after = ops.take_along_axis(ops.reshape(items, ops.shape(lasts)), lasts, axis=0)
        ended = ops.take_along_axis(ops.moveaxis(terminals, 0, 1), lasts, axis=0)
        return tuple(ops.reshape(x, (-1,)) for x in (sums, discounts, ended, after))

    @graph_fn
    def _weights(self, ops: Any, weights: Any, importance_weights: Any) -> Any:
        if importance_weights is not None:
            weights = weights * ops.expand_dims(importance_weights, 1)
        return ops.reshape(ops.moveaxis(weights, 0, 1), (-1,))

    @graph_fn
    def _priorities(self, ops: Any, errors: Any, weights: Any) -> Any:
        valid = ops.moveaxis(ops.astype(weights, "bool"), 0, 1)
        return sequence_priorities(ops, ops.reshape(errors, ops.shape(valid)), valid, self.eta)
