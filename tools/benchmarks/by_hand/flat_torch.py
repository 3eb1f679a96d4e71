"""What the yardsticks on PyTorch share: flat parameters, the shortest ways in, compilation of a whole update."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

torch.set_num_threads(1)

flatten = torch._C._nn.flatten_dense_tensors
fused_adam = torch._fused_adam_
run_backward = torch.autograd.Variable._execution_engine.run_backward
ONE = (torch.ones(()),)


class Parameters:
    """One flat tensor, and tensors of the layers' shapes that share its memory."""

    def __init__(self, weights: Mapping[str, np.ndarray], names: Sequence[str]):
        self.names = list(names)
        self.shapes = [weights[name].shape for name in self.names]
        self.flat = torch.from_numpy(np.concatenate([weights[name].ravel() for name in self.names]))
        self.views = tuple(view.detach() for view in self.cut(self.flat))
        self._start = self.flat.clone()

    def cut(self, flat: Tensor) -> list[Tensor]:
        """The layers' tensors of a flat one."""
        pieces = flat.split([int(np.prod(shape)) for shape in self.shapes])
        return [piece.view(shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def leaves(self) -> tuple[Tensor, ...]:
        """The layers' tensors, to take derivatives by."""
        return tuple(view.detach().requires_grad_() for view in self.views)

    def restart(self) -> None:
        """Back to the weights of the beginning."""
        self.flat.copy_(self._start)

    def as_numpy(self) -> dict[str, np.ndarray]:
        return {name: view.numpy().copy() for name, view in zip(self.names, self.views, strict=True)}


class Moments:
    """What Adam remembers of one flat tensor, and its step."""

    def __init__(self, flat: Tensor, learning_rate: float, epsilon: float):
        self.flat = flat
        self.state = [torch.zeros_like(flat), torch.zeros_like(flat), torch.zeros(())]
        self.learning_rate, self.epsilon = learning_rate, epsilon

    def restart(self) -> None:
        for tensor in self.state:
            tensor.zero_()

    def step(self, gradient: Tensor, clip_norm: float | None = None) -> None:
        """By the fused operation."""
        if clip_norm is not None:
            norm = torch.linalg.vector_norm(gradient).item()
            if norm > clip_norm:
                gradient.mul_(clip_norm / (norm + 1e-6))
        first, second, steps = self.state
        steps.add_(1.0)
        fused_adam(
            [self.flat], [gradient], [first], [second], [], [steps],
            lr=self.learning_rate, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=self.epsilon,
            amsgrad=False, maximize=False,
        )  # fmt: skip


def adam(
    state: Sequence[Tensor],
    gradient: Tensor,
    learning_rate: float,
    epsilon: float,
    clip_norm: float | None = None,
) -> list[Tensor]:
    """One step as plain operations, for a compiler: the new (flat, first, second, steps)."""
    flat, first, second, steps = state
    if clip_norm is not None:
        gradient = gradient * (clip_norm / (gradient.square().sum().sqrt() + 1e-6)).clamp_max(1.0)
    steps = steps + 1.0
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient.square()
    step = learning_rate / (1.0 - 0.9**steps)
    flat = flat - step * first / ((second / (1.0 - 0.999**steps)).sqrt() + epsilon)
    return [flat, first, second, steps]


def compiled(
    function: Callable[..., Any], states: Sequence[Tensor], inputs: Sequence[Tensor]
) -> Callable[..., Any]:
    """``f(inputs) -> outputs``: `function` with all its derivatives traced into one program, by AOTInductor.

    ``function(states, inputs)`` gives the new states, which are written into `states`, and the outputs.
    """
    from torch._inductor import aoti_compile_and_package, aoti_load_package
    from torch.fx.experimental.proxy_tensor import make_fx

    count = len(states)

    def whole(*tensors: Tensor) -> Any:
        new, outputs = function(tensors[:count], tensors[count:])
        for old, value in zip(tensors[:count], new, strict=True):
            old.copy_(value)
        return outputs

    examples = (*(state.clone() for state in states), *inputs)
    graph = make_fx(whole)(*examples)
    for node in list(graph.graph.nodes):
        if node.target is torch.ops.aten.detach.default:
            node.replace_all_uses_with(node.args[0])
            graph.graph.erase_node(node)
    graph.recompile()
    exported = torch.export.export(graph, examples)
    with tempfile.TemporaryDirectory() as folder:
        package = aoti_compile_and_package(exported, package_path=str(Path(folder, "update.pt2")))
        program = aoti_load_package(package)
    loader = program.loader
    run = loader.boxed_run
    held = list(states)
    return lambda *tensors: run([*held, *tensors])
