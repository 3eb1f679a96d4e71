"""Modes that a caller may have switched on in PyTorch, and that RLgraph leaves while it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import update_wrapper, wraps
from typing import Any, TypeVar, cast

import torch

from rlgraph.core.graph.emission import SourceFunction

F = TypeVar("F", bound=Callable[..., Any])

# Every program asks them at every call. The second and third have no fast public equivalent.
_infers = torch.is_inference_mode_enabled
_autocasts: Callable[[], bool] = torch._C._is_any_autocast_enabled
_function_modes: Callable[[], int] = torch._C._len_torch_function_stack


def in_own_modes(function: F) -> F:
    """`function`, called with positional arguments, with the same results in any mode of the caller.

    It leaves `torch.inference_mode` (which makes tensors that can never train), `torch.autocast` and the default
    device, and restores them at the end.
    """

    @wraps(function)
    def run(*args: Any) -> Any:
        if _infers() or _autocasts() or _function_modes():
            with _own_modes():
                return function(*args)
        return function(*args)

    return cast("F", run)


def program_in_own_modes(program: F, inputs: int) -> F:
    """`program`, a function of this many inputs, as by `in_own_modes`; a call costs less if no mode is on."""
    names = [f"x{number}" for number in range(inputs)]
    namespace = {
        "infers": _infers,
        "autocasts": _autocasts,
        "function_modes": _function_modes,
        "in_own_modes": in_own_modes(program),
        "program": program,
    }
    function = SourceFunction("in_usual_modes", names, namespace)
    given = ", ".join(names)
    function.lines.append("if infers() or autocasts() or function_modes():")
    function.lines.append(f"    return in_own_modes({given})")
    function.lines.append(f"return program({given})")
    return cast("F", update_wrapper(function.compile(), program))


@contextmanager
def _own_modes() -> Iterator[None]:
    with ExitStack() as modes:
        if _infers():
            modes.enter_context(torch.inference_mode(False))
        if _function_modes() and torch.get_default_device().type != "cpu":
            modes.enter_context(torch.device("cpu"))
        if _autocasts():
            for kind in filter(torch.is_autocast_enabled, ("cpu", "cuda")):
                torch.set_autocast_enabled(kind, False)
                modes.callback(torch.set_autocast_enabled, kind, True)
        yield
