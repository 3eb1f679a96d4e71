"""The gated recurrent unit (GRU) layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.layers.recurrent import RecurrentLayer
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.recurrent import gru_step
from rlgraph.core.specs.spec_types import InitializerSpec
from rlgraph.spaces import FloatBox, Space


class GRU(RecurrentLayer):
    """Gated recurrent units: sequences ``[T, B, N]`` or ``[B, T, N] -> [T, B, units]`` or ``[B, T, units]``.

    The formulas and papers are those of `rlgraph.core.functional.recurrent.gru_step`: the variant with
    the reset gate after the matrix product, as in `torch.nn.GRU` and Keras. Inputs without time rank,
    ``[B, N] -> [B, units]``, are one step.

    Args:
        units: size of the output, which is also the state ``h``.
        return_sequences: the output of every step; False: that of the last one, ``[B, units]``.
        time_major: True: inputs are [T, B, N]; False: [B, T, N]; None: as their Space says.
        weights_spec: initializer of the weights [N, 3 units], the parts in the order r, z, n.
        recurrent_weights_spec: initializer of the recurrent weights [units, 3 units].
        biases_spec: initializer of the biases [3 units].
        recurrent_biases_spec: initializer of the recurrent biases [3 units].

    Raises:
        SpecError: units below 1.
        SpaceError: the inputs are not floats of rank 1; states or lengths do not fit.
    """

    states_argument = "initial_h_states"
    state_names = ("h",)

    def __init__(
        self,
        units: int,
        return_sequences: bool = True,
        time_major: bool | None = None,
        weights_spec: InitializerSpec = "glorot_uniform",
        recurrent_weights_spec: InitializerSpec = "orthogonal",
        biases_spec: InitializerSpec = 0.0,
        recurrent_biases_spec: InitializerSpec = 0.0,
        scope: str = "gru",
        **kwargs: Any,
    ):
        super().__init__(units, return_sequences, time_major, scope, **kwargs)
        self.weights_spec = weights_spec
        self.recurrent_weights_spec = recurrent_weights_spec
        self.biases_spec = biases_spec
        self.recurrent_biases_spec = recurrent_biases_spec

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        size, units = input_spaces["inputs"].shape[0], self.units
        self.weights = self.get_variable(
            "weights", FloatBox(shape=(size, 3 * units)), initializer=self.weights_spec
        )
        self.recurrent_weights = self.get_variable(
            "recurrent_weights", FloatBox(shape=(units, 3 * units)), initializer=self.recurrent_weights_spec
        )
        self.biases = self.get_variable("biases", FloatBox(shape=(3 * units,)), initializer=self.biases_spec)
        self.recurrent_biases = self.get_variable(
            "recurrent_biases", FloatBox(shape=(3 * units,)), initializer=self.recurrent_biases_spec
        )

    @rlgraph_api(returns=2)
    def call(
        self,
        inputs: Any,
        initial_h_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
        every_step: Any = None,
    ) -> Any:
        """The outputs, and the state ``h [B, units]`` after the last step.

        Args:
            inputs: [T, B, N], [B, T, N], or [B, N] for one step.
            initial_h_states: ``h [B, units]`` before the first step; None: zeros. With time rank, [C, B, units]: before
                each of C parts of equal length.
            sequence_length: int [B], number of valid steps of each sequence; None: all. Outputs after them are zero,
                and the state returned is that after the last valid step.
            resets: bool [T, B], [B, T] or [B], where an episode begins: the state is zeroed before these steps;
                None: nowhere.
            every_step: True: the states after every step, with the ranks of `inputs`, instead of those after the last.
        """
        outputs, h = self._call(inputs, initial_h_states, sequence_length, resets, every_step)
        return outputs, h

    @graph_fn(returns=2, space_of="inputs")
    def _call(
        self,
        ops: Any,
        space: Space,
        inputs: Any,
        h: Any,
        sequence_length: Any,
        resets: Any,
        every_step: bool | None,
    ) -> Any:
        def step(projected: Any, states: Any) -> tuple[Any, ...]:
            return (gru_step(ops, projected, states[0], self.recurrent_weights, self.recurrent_biases),)

        states = None if h is None else (h,)
        return self.run_steps(ops, space, step, inputs, states, sequence_length, resets, every_step)
