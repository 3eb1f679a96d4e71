"""The long short-term memory (LSTM) layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_limit, check_number
from rlgraph.components.layers.recurrent import RecurrentLayer
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.component.initializers import resolve_initializer
from rlgraph.core.functional.recurrent import lstm_step
from rlgraph.core.specs.spec_types import InitializerSpec
from rlgraph.spaces import FloatBox, Space


class LSTM(RecurrentLayer):
    """Long short-term memory: sequences ``[T, B, N]`` or ``[B, T, N] -> [T, B, units]`` or ``[B, T, units]``.

    The formulas and papers are those of `rlgraph.core.functional.recurrent.lstm_step`. Inputs without time rank,
    ``[B, N] -> [B, units]``, are one step.

    Args:
        units: size of the output, of the cell's state ``c`` and of the hidden state ``h``, which is the output.
        use_peepholes: each unit's gates also depend on its cell state (Gers et al., 2002).
        cell_clip: the cell's state is clipped to ``[-cell_clip, cell_clip]``; None: no limit.
        forget_bias: added to the starting values of the forget gate's biases, so that an untrained cell remembers
            (Jozefowicz et al., 2015, https://proceedings.mlr.press/v37/jozefowicz15.html).
        return_sequences: the output of every step; False: that of the last one, ``[B, units]``.
        time_major: True: inputs are [T, B, N]; False: [B, T, N]; None: as their Space says.
        weights_spec: initializer of the weights [N, 4 units], the parts in the order i, f, g, o.
        recurrent_weights_spec: initializer of the recurrent weights [units, 4 units].
        biases_spec: initializer of the biases [4 units].
        peepholes_spec: initializer of the peepholes [3, units]: i, f, o.

    Raises:
        SpecError: units below 1, a cell_clip that is not above 0, or a forget_bias that is not a number.
        SpaceError: the inputs are not floats of rank 1; states or lengths do not fit.
    """

    states_argument = "initial_c_and_h_states"
    state_names = ("c", "h")

    def __init__(
        self,
        units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        forget_bias: float = 1.0,
        return_sequences: bool = True,
        time_major: bool | None = None,
        weights_spec: InitializerSpec = "glorot_uniform",
        recurrent_weights_spec: InitializerSpec = "orthogonal",
        biases_spec: InitializerSpec = 0.0,
        peepholes_spec: InitializerSpec = 0.0,
        scope: str = "lstm",
        **kwargs: Any,
    ):
        super().__init__(units, return_sequences, time_major, scope, **kwargs)
        self.use_peepholes = use_peepholes
        self.cell_clip = check_limit(cell_clip, f"{scope}.cell_clip")
        self.forget_bias = check_number(forget_bias, f"{scope}.forget_bias")
        self.weights_spec = weights_spec
        self.recurrent_weights_spec = recurrent_weights_spec
        self.biases_spec = biases_spec
        self.peepholes_spec = peepholes_spec

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        size, units = input_spaces["inputs"].shape[0], self.units
        self.weights = self.get_variable(
            "weights", FloatBox(shape=(size, 4 * units)), initializer=self.weights_spec
        )
        self.recurrent_weights = self.get_variable(
            "recurrent_weights", FloatBox(shape=(units, 4 * units)), initializer=self.recurrent_weights_spec
        )
        self.biases = self.get_variable(
            "biases", FloatBox(shape=(4 * units,)), initializer=self._starting_biases
        )
        self.peepholes = None
        if self.use_peepholes:
            self.peepholes = self.get_variable(
                "peepholes", FloatBox(shape=(3, units)), initializer=self.peepholes_spec
            )

    def _starting_biases(self, shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        biases = resolve_initializer(self.biases_spec, f"{self.scope_path}/biases")(shape, dtype, rng)
        biases[self.units : 2 * self.units] += self.forget_bias
        return biases

    @rlgraph_api(returns=2)
    def call(
        self,
        inputs: Any,
        initial_c_and_h_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
        every_step: Any = None,
    ) -> Any:
        """The outputs, and the states ``(c [B, units], h [B, units])`` after the last step.

        Args:
            inputs: [T, B, N], [B, T, N], or [B, N] for one step.
            initial_c_and_h_states: ``(c, h)`` before the first step, each [B, units]; None: zeros. With time rank,
                [C, B, units]: before each of C parts of equal length.
            sequence_length: int [B], number of valid steps of each sequence; None: all. Outputs after them are zero,
                and the states returned are those after the last valid step.
            resets: bool [T, B], [B, T] or [B], where an episode begins: the states are zeroed before these steps;
                None: nowhere.
            every_step: True: the states after every step, with the ranks of `inputs`, instead of those after the last.
        """
        outputs, c, h = self._call(inputs, initial_c_and_h_states, sequence_length, resets, every_step)
        return outputs, (c, h)

    @graph_fn(returns=3, space_of="inputs")
    def _call(
        self,
        ops: Any,
        space: Space,
        inputs: Any,
        states: Any,
        sequence_length: Any,
        resets: Any,
        every_step: bool | None,
    ) -> Any:
        def step(projected: Any, states: Any) -> tuple[Any, ...]:
            return lstm_step(
                ops, projected, states[0], states[1], self.recurrent_weights, self.peepholes, self.cell_clip
            )

        return self.run_steps(ops, space, step, inputs, states, sequence_length, resets, every_step)
