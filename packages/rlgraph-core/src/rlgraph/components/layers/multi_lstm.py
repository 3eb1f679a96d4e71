"""Stacked LSTM layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.components.layers.lstm import LSTM
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import Space, Tuple
from rlgraph.spaces.errors import mismatch


class MultiLSTM(Component):
    """Stacked `LSTM` layers: ``[T, B, N]`` or ``[B, T, N] -> [T, B, units]`` or ...

    Args:
        num_lstms: number of layers, 2 or more.
        units: size of each layer's output and states; one number for all, or one for each.
        use_peepholes: as in `LSTM`; for all, or for each.
        cell_clip: as in `LSTM`; for all, or for each.
        forget_bias: as in `LSTM`; for all, or for each.
        return_sequences: the output of every step; False: that of the last one, ``[B, units]``.
        time_major: True: inputs are [T, B, N]; False: [B, T, N]; None: as their Space says.
        skip_connections: inputs of the layers from the second on, one entry for each: a list of bools for the inputs,
            the outputs of the first layer, of the second ..., which are concatenated, or True for all of them. Layers
            without an entry receive the outputs of the layer below.

    Raises:
        SpecError: fewer than 2 layers, another number of values than layers, or a layer without inputs.
        SpaceError: the inputs are not floats of rank 1; states or lengths do not fit.
    """

    def __init__(
        self,
        num_lstms: int,
        units: int | Sequence[int],
        use_peepholes: bool | Sequence[bool] = False,
        cell_clip: float | Sequence[float | None] | None = None,
        forget_bias: float | Sequence[float] = 1.0,
        return_sequences: bool = True,
        time_major: bool | None = None,
        skip_connections: Sequence[Sequence[bool] | bool] | None = None,
        scope: str = "multi-lstm",
        **kwargs: Any,
    ):
        self.num_lstms = check_whole(num_lstms, f"{scope}.num_lstms", least=2, most=MAX_PARTS)
        options: dict[str, Any] = {
            "units": units,
            "use_peepholes": use_peepholes,
            "cell_clip": cell_clip,
            "forget_bias": forget_bias,
        }
        for name, value in options.items():
            if isinstance(value, list | tuple) and len(value) != num_lstms:
                raise SpecError(
                    f"expected one value, or {num_lstms}, one per layer, given {value!r}",
                    path=f"{scope}.{name}",
                )
        self.sources = _sources(skip_connections or (), num_lstms, f"{scope}.skip_connections")
        self.lstms = [
            LSTM(
                **{
                    key: value[i] if isinstance(value, list | tuple) else value
                    for key, value in options.items()
                },
                return_sequences=return_sequences or i < num_lstms - 1,
                time_major=time_major,
                scope=f"lstm-{i}",
            )
            for i in range(num_lstms)
        ]
        super().__init__(*self.lstms, scope=scope, **kwargs)

    @property
    def internal_states_space(self) -> Tuple:
        """The Space of the states, as `call` accepts and returns them."""
        return Tuple(*(lstm.internal_states_space for lstm in self.lstms))

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for argument, space in input_spaces.items():
            is_states = argument.endswith("initial_c_and_h_states") and space is not None
            if is_states and not (isinstance(space, Tuple) and len(space) == self.num_lstms):
                expected = f"a Tuple of {self.num_lstms} Tuples of c and h, one per layer"
                raise mismatch(argument, expected, repr(space))

    @rlgraph_api(returns=2)
    def call(
        self,
        inputs: Any,
        initial_c_and_h_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
        every_step: Any = None,
    ) -> Any:
        """The outputs of the last layer, and the states after the last step, ``((c, h), ...)``, a pair per layer.

        The arguments are those of `LSTM.call`, the states a Tuple of a pair per layer.
        """

        outputs, last_states = [inputs], []
        for i, layer in enumerate(self.lstms):
            sources = [outputs[source] for source in self.sources[i]]
            given = self._concat(tuple(sources)) if len(sources) > 1 else sources[0]
            states = None if initial_c_and_h_states is None else initial_c_and_h_states[i]
            output, last = layer.call(given, states, sequence_length, resets, every_step)
            outputs.append(output)
            last_states.append(last)
        return outputs[-1], tuple(last_states)

    @graph_fn
    def _concat(self, ops: Any, parts: Any) -> Any:
        return ops.concat(parts, axis=-1)


def _sources(connections: Sequence[Any], num_lstms: int, where: str) -> list[list[int]]:
    """The sources of each layer's inputs: 0 the inputs, ``i + 1`` the outputs of layer ``i``."""
    is_list = isinstance(connections, list | tuple) and all(
        isinstance(entry, list | tuple | bool) for entry in connections
    )
    if not is_list or len(connections) > num_lstms - 1:
        raise SpecError(
            f"expected a list of at most {num_lstms - 1} entries, for the layers from the second on, each "
            f"True or a list of bools, given {connections!r}",
            path=where,
        )
    sources = [[i] for i in range(num_lstms)]
    for i, entry in enumerate(connections, start=1):
        available = range(i + 1)
        sources[i] = [
            j for j in available if entry is True or (entry is not False and j < len(entry) and entry[j])
        ]
        if not sources[i] or (entry is not True and any(entry[i + 1 :])):
            raise SpecError(
                f"expected True, or bools of which at least one of the first {i + 1} is True and no "
                f"other (the inputs and the outputs of {i} layers), given {entry!r}",
                path=f"{where}[{i - 1}]",
            )
    return sources
