"""Compilers of traced graphs: AOTInductor, or inductor for graphs with custom operations."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from rlgraph.torch.optimizers import flushes_denormals

#: A program maps tensors to tensors, and writes the group buffers among its inputs in place.
Program = Callable[[list[Tensor]], Sequence[Tensor]]


def missing_compiler() -> str | None:
    """The names of the missing C++ compiler; None if one exists."""
    from torch._inductor import config  # slow to import

    names = [name for name in config.cpp.cxx if name]
    return None if any(map(shutil.which, names)) else " or ".join(names)


#: Multiplications and additions in one instruction; and a short compilation. Precompiled headers cost more than a few
#: programs save. Patterns of operations to replace, which inductor loads, hardly occur in training.
_SETTINGS = {
    "cpp.enable_floating_point_contract_flag": "fast",
    "aot_inductor.enable_line_tables": False,
    "aot_inductor.precompile_headers": False,
    "pattern_matcher": False,
}


def _settings() -> dict[str, Any]:
    from torch._inductor import config

    known = config.get_config_copy()  # versions of torch differ
    settings: dict[str, Any] = {
        name: value for name, value in _SETTINGS.items() if type(known.get(name)) is type(value)
    }
    if not _has_rare_instructions():
        settings["cpp.vec_isa_ok"] = True  # else a test program is compiled and run
    return settings


def compile_library(graph: GraphModule, inputs: Sequence[Tensor], library: Path) -> None:
    """Compile `graph` into the shared library `library`; other files of the compiler stay in its folder."""
    with _quietly(library.parent.parent):
        import torch._inductor

        options = _settings() | {"aot_inductor.output_path": str(library)}
        torch._inductor.aot_compile(graph, tuple(inputs), options=options)


def _has_rare_instructions() -> bool:
    """Whether the processor has vector instructions that compilers of C++20 may not know."""
    capability = torch.backends.cpu.get_cpu_capability()
    return capability not in ("AVX2", "AVX512") or torch.cpu._is_amx_tile_supported()


def load_library(library: Path) -> Program:
    """The program in a library."""
    # The loader inside `torch._inductor.aoti_load_package`, without its check of the input structure at every call.
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(str(library), 1)

    def run(inputs: list[Tensor]) -> Sequence[Tensor]:
        # For the moments of dead units, see `rlgraph.torch.optimizers.kernel`.
        flushed = flushes_denormals()
        torch.set_flush_denormal(True)
        try:
            return runner.run(inputs)
        finally:
            torch.set_flush_denormal(flushed)

    return run


def compile_here(graph: GraphModule, inputs: Sequence[Tensor], folder: Path) -> Program:
    """Compile `graph` for this process only."""
    with _quietly(folder), torch.no_grad():
        from torch._inductor.compile_fx import compile_fx

        compiled: Any = compile_fx(graph, list(inputs), config_patches=_settings())

    def run(inputs: list[Tensor]) -> Sequence[Tensor]:
        with torch.no_grad():
            return tuple(compiled(*inputs))

    return run


@contextmanager
def _quietly(folder: Path) -> Iterator[None]:
    """Put inductor's files into `folder` unless the environment names another one; silence its warnings."""
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    key = "TORCHINDUCTOR_CACHE_DIR"
    before = os.environ.get(key)
    if before in (None, default_cache_dir()):  # inductor's default is a folder that others can predict
        os.environ[key] = str(folder / "inductor")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if before is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = before
