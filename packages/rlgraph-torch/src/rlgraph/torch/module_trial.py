"""Traces a module on the meta device to find its output shapes, writes and draws, without computing values."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from rlgraph.components.common.native_module import Shaped, Trial, map_tensors
from rlgraph.core import BuildError
from rlgraph.core.errors import type_and_text
from rlgraph.torch.modes import in_own_modes


@dataclass(frozen=True)
class TorchTrial(Trial):
    """Outputs and effects of a call of a torch module.

    Attributes:
        replaces: names of the buffers that it replaces by another tensor.
        writes_inputs: it overwrites its inputs (``ReLU(inplace=True)`` as the first layer).
    """

    replaces: frozenset[str] = frozenset()
    writes_inputs: bool = False


def named_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, each once; ``a/b`` is `b` of the sub-module `a`."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return {name.replace(".", "/"): tensor for name, tensor in named}


def with_tensors(
    module: nn.Module, tensors: Mapping[str, Tensor], constants: torch.device | None = None
) -> nn.Module:
    """A copy of a module with `tensors` as its parameters and buffers.

    Args:
        module: the module; its own parameters and buffers are not copied.
        tensors: by the names of `named_tensors`.
        constants: device for copies of tensors that are plain attributes; default: their own device.

    Raises:
        BuildError: it cannot be copied.
    """
    # `deepcopy` does not copy what is in its memo.
    memo: dict[int, Any] = {id(own): tensors[name] for name, own in named_tensors(module).items()}
    if constants is not None:
        plain = (v for part in module.modules() for v in vars(part).values() if isinstance(v, Tensor))
        memo |= {id(tensor): tensor.detach().to(constants) for tensor in plain if id(tensor) not in memo}
    try:
        twin = copy.deepcopy(module, memo)
    except Exception as error:  # the module's own code
        raise BuildError(f"{type(module).__name__} cannot be copied: {type_and_text(error)}") from error
    if any(own is not tensors.get(name) for name, own in named_tensors(twin).items()):
        raise BuildError(f"{type(module).__name__} hides its parameters: wrap the module that it was made of")
    return twin


def in_mode(twin: nn.Module, module: nn.Module, training: bool) -> nn.Module:
    """`twin`, a copy of `module`, in training or evaluation mode; parts whose parameters are all frozen never train."""
    twin.train(training)
    for name, part in module.named_modules() if training else ():
        parameters = list(part.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            twin.get_submodule(name).eval()
    return twin


def called(module: nn.Module, inputs: Any) -> Any:
    """Call a module; a tuple of inputs is its positional arguments."""
    return module(*inputs) if type(inputs) is tuple else module(inputs)


@in_own_modes
def attempt(module: nn.Module, inputs: Any, training: bool, float_dtype: str) -> TorchTrial:
    """Call a copy of `module` on the meta device with `inputs`, `Shaped` or containers of such.

    Raises:
        Exception: what the module raises.
    """
    tensors = {name: on_meta(t, float_dtype) for name, t in named_tensors(module).items()}
    twin = in_mode(with_tensors(module, tensors, constants=torch.device("meta")), module, training)
    given = map_tensors(
        lambda x: torch.empty(x.shape, dtype=getattr(torch, x.dtype), device="meta"), inputs, Tensor
    )
    watching = _Watching()
    own = dict(buffer_places(twin, tensors))
    with torch.no_grad(), torch.device("meta"), watching:
        outputs = called(twin, given)
    replaced = {name for (part, key), name in own.items() if part._buffers[key] is not tensors[name]}
    written = {name for name, tensor in tensors.items() if _memory(tensor) in watching.written}
    returned = {_memory(tensor) for tensor in _leaves(outputs)}
    return TorchTrial(
        map_tensors(lambda x: Shaped(tuple(x.shape), str(x.dtype).removeprefix("torch.")), outputs, Tensor),
        writes=frozenset(written | replaced),
        draws=watching.draws,
        shares=frozenset(name for name, tensor in tensors.items() if _memory(tensor) in returned),
        replaces=frozenset(replaced),
        writes_inputs=any(_memory(tensor) in watching.written for tensor in _leaves(given)),
    )


def on_meta(tensor: Tensor, float_dtype: str) -> Tensor:
    """A meta tensor for a parameter or buffer; floating ones have the dtype of the execution."""
    dtype = getattr(torch, float_dtype) if tensor.is_floating_point() else tensor.dtype
    return torch.empty(tensor.shape, dtype=dtype, device="meta")


def buffer_places(
    module: nn.Module, tensors: Mapping[str, Tensor]
) -> Iterator[tuple[tuple[nn.Module, str], str]]:
    """((sub-module, attribute), name) of all buffers of a module that was made with `tensors`."""
    names = {id(tensor): name for name, tensor in tensors.items()}
    for part in module.modules():
        for key, buffer in part._buffers.items():
            if buffer is not None:
                yield (part, key), names[id(buffer)]


class _Watching(TorchDispatchMode):
    """Records which memory the operations write, and whether they draw random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.written: set[int] = set()
        self.draws = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.draws = self.draws or torch.Tag.nondeterministic_seeded in function.tags
        declared = function._schema.arguments
        given = {argument.name: value for argument, value in zip(declared, args, strict=False)} | (
            kwargs or {}
        )
        changed = [given.get(a.name) for a in declared if a.alias_info is not None and a.alias_info.is_write]
        # Its schema omits the write.
        if "batch_norm" in function.name() and given.get("training"):
            changed += [given.get("running_mean"), given.get("running_var")]
        self.written |= {_memory(tensor) for tensor in _leaves(changed)}
        return function(*args, **(kwargs or {}))


def _memory(tensor: Tensor) -> int:
    """A key of the memory of a tensor: equal for tensors that share memory."""
    return tensor.untyped_storage()._cdata


def _leaves(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
