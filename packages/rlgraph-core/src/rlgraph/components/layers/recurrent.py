"""The base class of recurrent layers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.core import Component
from rlgraph.core.functional.recurrent import Step, Unroll, project, reset, unroll, unroll_parts
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space, Tuple
from rlgraph.spaces.errors import mismatch

Tensor = Any


class RecurrentLayer(Component):
    """A layer with states, over sequences or single steps.

    Subclasses compute a step, and declare the API method `call` with the argument `states_argument`.

    Args:
        units: size of the output and of each state.
        return_sequences: the output of every step, or of the last one only.
        time_major: required order of inputs, True: [T, B, N], False: [B, T, N]; None: either.

    Raises:
        SpecError: units below 1.
        SpaceError: the inputs are not floats of rank 1; states do not fit.
    """

    #: The argument of the API methods that holds the states.
    states_argument: str
    #: Names of the states; one is a tensor, several are a Tuple in this order.
    state_names: tuple[str, ...]
    weights: Any
    biases: Any

    def __init__(
        self, units: int, return_sequences: bool, time_major: bool | None, scope: str, **kwargs: Any
    ):
        self.units = check_whole(units, f"{scope}.units", least=1)
        self.return_sequences = return_sequences
        self.time_major = time_major
        super().__init__(scope=scope, **kwargs)

    @property
    def internal_states_space(self) -> FloatBox | Tuple:
        """The Space of the states, as `call` accepts and returns them."""
        states = [FloatBox(shape=(self.units,), add_batch_rank=True) for _ in self.state_names]
        return Tuple(*states) if len(states) > 1 else states[0]

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for argument, space in input_spaces.items():
            name = argument.rpartition(".")[2]
            if name == "inputs":
                self._check_inputs(argument, space)
            elif name == self.states_argument and space is not None:
                self._check_states(argument, space, input_spaces)
            elif name == "sequence_length" and space is not None:
                _check_lengths(argument, space, input_spaces["inputs"])
            elif name == "resets" and space is not None:
                _check_resets(argument, space, input_spaces["inputs"])

    def _check_inputs(self, argument: str, space: Any) -> None:
        check_inputs(space, rank=1, name=argument)
        if space.has_time_rank and self.time_major is not None and space.time_major != self.time_major:
            hint = "without the argument time_major the layer takes either order"
            raise mismatch(argument, f"time_major={self.time_major}", repr(space), hint)

    def _check_states(self, argument: str, space: Any, input_spaces: Mapping[str, Any]) -> None:
        expected = f"FloatBox(shape=({self.units},), add_batch_rank=True)"
        parts = [space]
        if len(self.state_names) > 1:
            parts = list(space) if isinstance(space, Tuple) else []
            expected = f"a Tuple of {' and '.join(self.state_names)}, each {expected}"
        if len(parts) != len(self.state_names) or not all(map(self._is_state, parts)):
            raise mismatch(argument, expected, repr(space))
        inputs, lengths = input_spaces["inputs"], input_spaces.get("sequence_length")
        if parts[0].has_time_rank and (not inputs.time_major or lengths is not None):
            raise mismatch(argument, "time-major inputs without lengths beside states of parts", repr(inputs))

    def _is_state(self, space: Any) -> bool:
        return (
            isinstance(space, FloatBox)
            and space.shape == (self.units,)
            and space.has_batch_rank
            and (not space.has_time_rank or space.time_major)
        )

    def run_steps(
        self,
        ops: Any,
        space: Space,
        step: Step,
        inputs: Tensor,
        states: tuple[Tensor, ...] | None,
        sequence_length: Tensor | None,
        resets: Tensor | None,
        every_step: bool | None,
        over_time: Unroll = unroll,
    ) -> tuple[Tensor, ...]:
        """Run `step` from `states` (None: zeros) over ``inputs @ weights + biases``: (outputs, each last state).

        `inputs` are [T, B, N], [B, T, N] or, for one step, [B, N], as their `space` says. With `every_step` the states
        are those after every step, with the ranks of `inputs`. `states` [C, B, units] are those before each of C
        parts of equal length, see `unroll_parts`. `over_time` is what runs `step` over sequences.
        """
        is_batch_major = space.has_time_rank and not space.time_major
        if is_batch_major:
            inputs = ops.moveaxis(inputs, 0, 1)
            resets = None if resets is None else ops.moveaxis(resets, 0, 1)
        if states is None:
            states = (ops.zeros((ops.shape(inputs)[-2], self.units)),) * len(self.state_names)
        projected = project(ops, inputs, self.weights, self.biases)
        if not space.has_time_rank:
            states = step(projected, states if resets is None else reset(ops, states, resets))
            return states[-1], *states
        if len(states[0].shape) == 3:
            over_time = partial(unroll_parts, unroll=over_time)
        outputs, states = over_time(ops, step, projected, states, sequence_length, resets, bool(every_step))
        if not self.return_sequences:
            outputs = states[-1][-1] if every_step else states[-1]
        elif is_batch_major:
            outputs = ops.moveaxis(outputs, 0, 1)
        if every_step and is_batch_major:
            states = tuple(ops.moveaxis(state, 0, 1) for state in states)
        return outputs, *states


def _check_lengths(argument: str, space: Any, inputs: Space) -> None:
    if not isinstance(space, IntBox) or space.shape != () or not space.has_batch_rank or space.has_time_rank:
        raise mismatch(argument, "IntBox(add_batch_rank=True), one length per sequence", repr(space))
    if not inputs.has_time_rank:
        raise mismatch(argument, "inputs with time rank beside it", repr(inputs))


def _check_resets(argument: str, space: Any, inputs: Space) -> None:
    ranks = (inputs.has_batch_rank, inputs.has_time_rank, inputs.time_major)
    fits = isinstance(space, BoolBox) and space.shape == ()
    if not fits or (space.has_batch_rank, space.has_time_rank, space.time_major) != ranks:
        raise mismatch(argument, "a BoolBox with the ranks of inputs, one per step", repr(space))
