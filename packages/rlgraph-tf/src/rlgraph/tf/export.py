"""Export of API methods as a SavedModel, which TensorFlow can load, run and train without RLgraph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from rlgraph.core.export import ExportedMethod
from rlgraph.core.graph.variables import Layout
from rlgraph.tf.regions import open_shape
from rlgraph.tf.storage import TfStorage

#: The signature that returns the values of all variables by scoped name.
VARIABLES = "variables"


class ExportedGraph(tf.Module):
    """The saved state: flat buffers of the variables and states of random streams, by name."""

    def __init__(self, groups: Mapping[str, tf.Variable], streams: Mapping[str, tf.Variable]):
        super().__init__()
        self.groups, self.streams = dict(groups), dict(streams)
        self.others: list[tf.Variable] = []


def save(
    methods: Sequence[ExportedMethod], concretes: Mapping[str, Any], storage: TfStorage, directory: Path
) -> None:
    """Write a SavedModel with one signature per method, and one that returns the variables by scoped name.

    Args:
        methods: the methods.
        concretes: their ConcreteFunctions by name.
        storage: holds the variables.
        directory: the directory to write.
    """
    captured = [tensor for concrete in concretes.values() for tensor in concrete.captured_inputs]
    groups = _captured(storage.groups, captured)
    streams = _captured({name: stream.state for name, stream in storage.streams_by_name.items()}, captured)
    module = ExportedGraph(groups, streams)
    # Variables inside components, such as those of a wrapped layer.
    known = {id(variable) for variable in (*groups.values(), *streams.values())}
    used = {id(v): v for concrete in concretes.values() for v in concrete.graph.variables}
    module.others = [variable for key, variable in used.items() if key not in known]
    signatures = {method.name: _signature(method, concretes[method.name]) for method in methods}
    if groups and VARIABLES not in signatures:
        signatures[VARIABLES] = _variables(storage.layout, groups)
    tf.saved_model.save(module, str(directory), signatures=signatures)


def _captured(variables: Mapping[str, tf.Variable], captured: Iterable[Any]) -> dict[str, tf.Variable]:
    handles = {id(tensor) for tensor in captured}
    return {name: variable for name, variable in variables.items() if id(variable.handle) in handles}


def _signature(method: ExportedMethod, concrete: Any) -> Any:
    """The signature: inputs are keywords, so a part of a container is ``states__camera``; outputs keep their names."""
    specs = [
        tf.TensorSpec(open_shape(tensor.spec), tensor.spec.dtype, name=tensor.name.replace("/", "__"))
        for tensor in method.inputs
    ]
    names = [tensor.name for tensor in method.outputs]

    def run(*tensors: tf.Tensor) -> dict[str, tf.Tensor]:
        return dict(zip(names, concrete(*tensors) or (), strict=True))

    return _named(run, method.name).get_concrete_function(*specs)


def _variables(layout: Layout, groups: Mapping[str, tf.Variable]) -> Any:
    def run() -> dict[str, tf.Tensor]:
        values = {}
        for name, buffer in groups.items():
            for variable in layout.groups[name].variables:
                _, start, stop = layout.place(variable)
                values[variable.name] = tf.reshape(buffer[start:stop], variable.shape)
        return values

    return _named(run, VARIABLES).get_concrete_function()


def _named(function: Callable[..., Any], name: str) -> Any:
    function.__name__ = re.sub(r"\W", "_", name)
    return tf.function(function, autograph=False)
