"""PyTorch modules as components."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rlgraph.components.common.native_module import NativeModule, State, Trial, map_tensors
from rlgraph.core import SpecError, graph_fn
from rlgraph.torch.module_trial import (
    TorchTrial,
    attempt,
    buffer_places,
    called,
    in_mode,
    named_tensors,
    with_tensors,
)


class ModuleComponent(NativeModule):
    """A `torch.nn.Module` as a component: its parameters and buffers are variables like any others.

    They start from the module's values at the build, in the floating dtype of the execution, and are named like the
    module's, with ``/`` for ``.``. A parameter is trainable unless it has ``requires_grad=False`` or the component has
    ``trainable=False``; buffers are never trainable.

    Args:
        module: the module. It is never changed; copies of the component start from its values too.
        output_space: Space of its output; default: found by running it on the meta device.
        kwargs: as of `Component`.

    Raises:
        SpecError: not a module, or one with uninitialized lazy parameters.
    """

    module: nn.Module

    def __init__(self, module: nn.Module, output_space: Any = None, scope: str = "module", **kwargs: Any):
        super().__init__(_checked(module, scope), output_space, scope, **kwargs)

    @graph_fn(
        spaces=lambda self, inputs: self.spaces(False, inputs),
        writes=lambda self, inputs: self.writes(False, inputs),
        draws=lambda self, inputs: self.draws(False, inputs),
        shares=lambda self, inputs: self.shares(False, inputs),
    )
    def _evaluate(self, ops: Any, inputs: Any) -> Any:
        """a torch.nn.Module, which runs on PyTorch only"""

    @_evaluate.kernel("torch")
    def _evaluate_on_torch(self, ops: Any, inputs: Any) -> Any:
        return self._evaluating(ops, inputs)

    @graph_fn(
        spaces=lambda self, inputs: self.spaces(True, inputs),
        writes=lambda self, inputs: self.writes(True, inputs),
        draws=lambda self, inputs: self.draws(True, inputs),
        shares=lambda self, inputs: self.shares(True, inputs),
    )
    def _train(self, ops: Any, inputs: Any) -> Any:
        """a torch.nn.Module, which runs on PyTorch only"""

    @_train.kernel("torch")
    def _train_on_torch(self, ops: Any, inputs: Any) -> Any:
        return self._training(ops, inputs)

    # Called on a view of the component, in which the variables are tensors.

    @cached_property
    def _evaluating(self) -> Callable[[Any, Any], Any]:
        return self._bound(False)

    @cached_property
    def _training(self) -> Callable[[Any, Any], Any]:
        return self._bound(True)

    def _bound(self, training: bool) -> Callable[[Any, Any], Any]:
        """``f(ops, inputs)``, which calls a copy of the module on this view's tensors."""
        tensors: Any = self.tensors
        device = next((tensor.device for tensor in tensors.values()), CPU)
        module = with_tensors(self.module, tensors, constants=None if device == CPU else device)
        in_mode(module, self.module, training)
        trials = [trial for (mode, _), trial in self._trials.items() if mode == training]
        places = list(buffer_places(module, tensors))
        if None not in trials:
            replaced = {name for trial in trials if isinstance(trial, TorchTrial) for name in trial.replaces}
            places = [(place, name) for place, name in places if name in replaced]
        copies = any(
            trial is None or (isinstance(trial, TorchTrial) and trial.writes_inputs) for trial in trials
        )
        draws = any(trial is None or trial.draws for trial in trials)

        def full(ops: Any, inputs: Any) -> Any:
            if copies:
                inputs = map_tensors(Tensor.clone, inputs, Tensor)
            stream = getattr(ops, "stream", None)
            if stream is None:
                outputs = called(module, inputs)
            else:
                with drawing_from(stream, device):
                    outputs = called(module, inputs)
            for (part, key), name in places:
                found = part._buffers[key]
                if found is not None and found is not tensors[name]:
                    tensors[name].detach().copy_(found.detach())
                    part._buffers[key] = tensors[name]
            return outputs

        if places or copies or draws:
            return full
        return lambda _, inputs: called(module, inputs)

    # Variables and behaviour of the module.

    def states(self, module: nn.Module) -> Iterator[tuple[str, State]]:
        for name, tensor in named_tensors(module).items():
            dtype = str(tensor.dtype).removeprefix("torch.")
            yield name, State(tuple(tensor.shape), dtype, tensor.requires_grad, _reader(tensor))

    def targets(self, module: nn.Module) -> dict[str, Tensor]:
        return named_tensors(module)

    def assign_to(self, target: Tensor, value: np.ndarray) -> None:
        target.detach().copy_(torch.from_numpy(np.array(value)))

    def attempt(self, inputs: Any, training: bool) -> Trial:
        return attempt(self.module, inputs, training, self._float_dtype)


CPU = torch.device("cpu")
_drawing = threading.Lock()


@contextmanager
def drawing_from(stream: torch.Generator, device: torch.device = CPU) -> Iterator[None]:
    """Make torch's global generator, from which modules draw, continue `stream`, and advance `stream`.

    A GPU generator is of another kind: it is seeded with a number from `stream`.
    """
    generator = torch.default_generator if device == CPU else torch.cuda.default_generators[device.index]
    with _drawing:
        before = generator.get_state()
        if device == CPU:
            generator.set_state(stream.get_state())
        else:
            generator.manual_seed(int(torch.randint(2**62, (), generator=stream)))
        try:
            yield
        finally:
            if device == CPU:
                stream.set_state(generator.get_state())
            generator.set_state(before)


def _reader(tensor: Tensor) -> Callable[[], np.ndarray]:
    def read() -> np.ndarray:
        value = tensor.detach().cpu()
        # NumPy has no bfloat16, and float64 holds all others.
        array: np.ndarray = (value.double() if value.is_floating_point() else value).numpy()
        return array

    return read


def _checked(module: Any, scope: str) -> nn.Module:
    if not isinstance(module, nn.Module):
        raise SpecError(f"expected a torch.nn.Module, given {_shown(module)}", path=f"{scope}.module")
    lazy = [name for name, p in module.named_parameters() if nn.parameter.is_lazy(p)]
    lazy += [name for name, b in module.named_buffers() if nn.parameter.is_lazy(b)]
    if lazy:
        raise SpecError(
            f"{lazy[0]} of {type(module).__name__} has no shape yet: call the module once, as in "
            "module(torch.zeros(1, ...)), before it becomes a component",
            path=f"{scope}.module",
        )
    return module


def _shown(module: Any) -> str:
    if isinstance(module, type):
        hint = f": make one, {module.__name__}(...)" if issubclass(module, nn.Module) else ""
        return f"the class {module.__name__}{hint}"
    if any(kind.__module__.partition(".")[0] == "keras" for kind in type(module).__mro__):
        return f"the Keras layer {type(module).__name__}: use ModuleComponent of rlgraph.tf"
    return f"{type(module).__name__} {module!r}"
