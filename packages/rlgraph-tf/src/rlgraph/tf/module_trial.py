"""Names of the variables of a Keras layer, and its calls on symbolic tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from rlgraph.components.common.native_module import Shaped, Trial, map_tensors
from rlgraph.core import BuildError

#: The states of a layer's random generators, which use the component's stream instead.
SEED = "seed_generator_state"


def named_variables(layer: keras.layers.Layer) -> dict[str, keras.Variable]:
    """The variables of a layer by their paths below it, without the states of its random generators.

    Keras numbers its automatic names through the whole process (``dense_7``); here they are numbered within the layer,
    so that they are the same in every process.
    """
    automatic = {part.name for part in layer._flatten_layers() if _is_automatic(part)}
    numbers: dict[str, dict[str, int]] = {}
    named: dict[str, keras.Variable] = {}
    for variable in layer.variables:
        if variable.name == SEED:
            continue
        *owners, name = variable.path.split("/")
        path = ""
        for owner in owners[1:] if owners[:1] == [layer.name] else owners:
            if owner in automatic:
                base = f"{path}{_without_number(owner)}"
                found = numbers.setdefault(base, {})
                number = found.setdefault(owner, len(found))
                path = f"{base}_{number}/" if number else f"{base}/"
            else:
                path = f"{path}{owner}/"
        named[_free(f"{path}{name}", named)] = variable
    return named


def seeds(layer: keras.layers.Layer) -> list[keras.Variable]:
    """The states of a layer's random generators."""
    return [variable for variable in layer.variables if variable.name == SEED]


def _without_number(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


def _is_automatic(layer: keras.layers.Layer) -> bool:
    return _without_number(layer.name).replace("_", "") == type(layer).__name__.lower()


def _free(name: str, taken: Mapping[str, Any]) -> str:
    wanted, number = name, 1
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def called(
    layer: keras.layers.Layer, inputs: Any, training: bool, state: Sequence[tuple[keras.Variable, Any]]
) -> tuple[Any, Callable[[keras.Variable], Any]]:
    """The output of a layer with the variable values `state`, and ``f(variable)``, the value after the call.

    Raises:
        BuildError: it changes a variable outside the layer.
    """
    with keras.StatelessScope(state_mapping=state, initialize_variables=False) as scope:
        outputs = layer(inputs, training=training)
    if set(scope.state_mapping) - {id(variable) for variable, _ in state}:
        raise BuildError(
            f"the wrapped {type(layer).__name__} changes a variable that is not its own: to draw, give its layers "
            "and keras.random functions seed=keras.random.SeedGenerator()"
        )
    return outputs, scope.get_current_value


def attempt(layer: keras.layers.Layer, inputs: Any, training: bool, float_dtype: str) -> Trial:
    """Call `layer` in a temporary graph, with `inputs`, `Shaped` or containers of such.

    Raises:
        Exception: what the layer raises.
    """
    graph = tf.__internal__.FuncGraph("trial")  # as in Keras: it accepts constants from outside
    with graph.as_default():
        given = map_tensors(lambda x: tf.compat.v1.placeholder(x.dtype, x.shape), inputs, tf.Tensor)
        state = [(v, tf.compat.v1.placeholder(v.dtype, v.shape)) for v in layer.variables]
        outputs, now = called(layer, given, training, state)
        changed = [variable for variable, value in state if now(variable) is not value]
        draws = any("Random" in o.type and o.op_def.is_stateful for o in graph.get_operations())
    written = {id(variable) for variable in changed}
    return Trial(
        map_tensors(lambda x: _shaped(x, float_dtype), outputs, tf.Tensor),
        writes=frozenset(name for name, v in named_variables(layer).items() if id(v) in written),
        draws=draws or any(id(variable) in written for variable in seeds(layer)),
    )


def _shaped(x: tf.Tensor, float_dtype: str) -> Shaped:
    # Floats are cast: a layer may compute in another dtype than its variables have.
    return Shaped(tuple(x.shape), float_dtype if x.dtype.is_floating else x.dtype.name)
