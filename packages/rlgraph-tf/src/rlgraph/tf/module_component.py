"""Keras layers and models as components."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from rlgraph.components.common.native_module import NativeModule, State, Trial, map_tensors
from rlgraph.core import BuildError, SpecError, graph_fn
from rlgraph.core.errors import type_and_text
from rlgraph.spaces import BoxSpace, Space
from rlgraph.tf.module_trial import attempt, called, named_variables, seeds


class ModuleComponent(NativeModule):
    """A Keras layer or model as a component: its variables are variables like any others.

    They start from the layer's values at the build and are named by their paths in it. A variable is trainable if it is
    so in Keras, unless the component has ``trainable=False``. An unbuilt layer is built for the input Space.

    Args:
        module: the layer or model. Its values are never changed; copies of the component start from them too.
        output_space: Space of its output; default: found by calling it on symbols.
        kwargs: as of `Component`.

    Raises:
        SpecError: not a Keras layer, or Keras does not run on TensorFlow.
    """

    module: keras.layers.Layer

    def __init__(
        self, module: keras.layers.Layer, output_space: Any = None, scope: str = "module", **kwargs: Any
    ):
        super().__init__(_checked(module, scope), output_space, scope, **kwargs)

    @graph_fn(
        spaces=lambda self, inputs: self.spaces(False, inputs),
        writes=lambda self, inputs: self.writes(False, inputs),
        draws=lambda self, inputs: self.draws(False, inputs),
        shares=(),
    )
    def _evaluate(self, ops: Any, inputs: Any) -> Any:
        """a Keras layer, which runs on TensorFlow only"""

    @_evaluate.kernel("tf")
    def _evaluate_on_tf(self, ops: Any, inputs: Any) -> Any:
        return self._run(ops, inputs, training=False)

    @graph_fn(
        spaces=lambda self, inputs: self.spaces(True, inputs),
        writes=lambda self, inputs: self.writes(True, inputs),
        draws=lambda self, inputs: self.draws(True, inputs),
        shares=(),
    )
    def _train(self, ops: Any, inputs: Any) -> Any:
        """a Keras layer, which runs on TensorFlow only"""

    @_train.kernel("tf")
    def _train_on_tf(self, ops: Any, inputs: Any) -> Any:
        return self._run(ops, inputs, training=True)

    def _run(self, ops: Any, inputs: Any, training: bool) -> Any:
        named = named_variables(self.module)
        state = [(variable, tf.convert_to_tensor(self.tensors[name])) for name, variable in named.items()]
        if hasattr(ops, "stream"):
            for seed in seeds(self.module):
                words = ops.random_integers(tuple(seed.shape), 0, 2**31 - 1)
                state.append((seed, tf.cast(words, seed.dtype)))
        outputs, now = called(self.module, inputs, training and self.module.trainable, state)
        for (name, variable), (_, before) in zip(named.items(), state, strict=False):
            if now(variable) is not before:
                ops.assign(self.tensors[name], now(variable))
        return map_tensors(
            lambda x: tf.cast(x, self._float_dtype) if x.dtype.is_floating else x, outputs, tf.Tensor
        )

    # Variables and behaviour of the layer.

    def prepare(self, inputs: Space) -> None:
        if not all(part.built for part in self.module._flatten_layers()):
            try:
                self.module(inputs.map_leaves(lambda _, box: self._symbol(box)))
            except Exception as error:  # any error of Keras or the user's code
                raise BuildError(
                    f"{self.scope_path}: the wrapped {type(self.module).__name__} cannot be built for {inputs!r}: "
                    f"{type_and_text(error)}"
                ) from error
        for name, variable in named_variables(self.module).items():
            if variable.dtype.startswith("float") and variable.dtype != self._float_dtype:
                raise BuildError(
                    f"{self.scope_path}: {name} of the wrapped {type(self.module).__name__} is {variable.dtype}, and "
                    f"the execution is in {self._float_dtype}: make the layer with dtype={self._float_dtype!r}"
                )

    def _symbol(self, box: BoxSpace) -> Any:
        ranks = [None] * (box.has_batch_rank + box.has_time_rank)
        dtype = self._float_dtype if box.dtype.startswith("float") else box.dtype
        return keras.KerasTensor((*ranks, *box.shape), dtype)

    def states(self, module: keras.layers.Layer) -> Iterator[tuple[str, State]]:
        training = {id(variable) for variable in module.trainable_variables}
        for name, variable in named_variables(module).items():
            yield (
                name,
                State(tuple(variable.shape), variable.dtype, id(variable) in training, _reader(variable)),
            )

    def targets(self, module: keras.layers.Layer) -> dict[str, keras.Variable]:
        return named_variables(module)

    def assign_to(self, target: keras.Variable, value: np.ndarray) -> None:
        target.assign(value)

    def attempt(self, inputs: Any, training: bool) -> Trial:
        return attempt(self.module, inputs, training and self.module.trainable, self._float_dtype)


def _reader(variable: keras.Variable) -> Callable[[], np.ndarray]:
    return lambda: np.asarray(keras.ops.convert_to_numpy(variable.value))


def _checked(module: Any, scope: str) -> keras.layers.Layer:
    if not isinstance(module, keras.layers.Layer):
        raise SpecError(f"expected a Keras layer or model, given {_shown(module)}", path=f"{scope}.module")
    if keras.backend.backend() != "tensorflow":
        raise SpecError(
            f"Keras runs on {keras.backend.backend()!r} in this process: set KERAS_BACKEND=tensorflow "
            "before it is imported",
            path=f"{scope}.module",
        )
    return module


def _shown(module: Any) -> str:
    if isinstance(module, type):
        hint = f": make one, {module.__name__}(...)" if issubclass(module, keras.layers.Layer) else ""
        return f"the class {module.__name__}{hint}"
    if any(kind.__module__.startswith("torch.nn") for kind in type(module).__mro__):
        return f"the torch module {type(module).__name__}: use ModuleComponent of rlgraph.torch"
    return f"{type(module).__name__} {module!r}"
