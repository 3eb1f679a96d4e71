"""Compiles traced graphs by inductor, the compiler of PyTorch.

A program that is kept on disk is an extension module of Python, of C++ with a plain entry. AOTInductor would make a
library too, but wraps a container around it: the same program, and 6 to 10 s more of the C++ compiler.
"""

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


#: Multiplications and additions in one instruction; and a short compilation. Patterns of operations to replace, which
#: inductor loads, hardly occur in training.
_SETTINGS = {"cpp.enable_floating_point_contract_flag": "fast", "pattern_matcher": False}
#: An extension module. Precompiled headers cost more than a few programs save, and `Cache` is a cache already.
_LIBRARY = {
    "cpp_wrapper": True,
    "cpp_cache_precompile_headers": False,
    "fx_graph_cache": False,
    "aot_inductor.enable_line_tables": False,
}


def _settings(**others: Any) -> dict[str, Any]:
    from torch._inductor import config

    known = config.get_config_copy()  # versions of torch differ
    settings: dict[str, Any] = {
        name: value for name, value in {**_SETTINGS, **others}.items() if type(known.get(name)) is type(value)
    }
    if not _has_rare_instructions():
        settings["cpp.vec_isa_ok"] = True  # else a test program is compiled and run
    return settings


def compile_library(graph: GraphModule, inputs: Sequence[Tensor], library: Path, folder: Path) -> None:
    """Compile `graph` into the shared library `library`. Inductor's own files go into `folder`.

    Raises:
        RuntimeError: inductor made something else than a library that takes these inputs.
    """
    with _quietly(folder):
        from torch._functorch import config as functorch_config
        from torch._inductor.codecache import CppWrapperCodeCache
        from torch._inductor.compile_fx import compile_fx_inner

        def inner(module: GraphModule, given: Sequence[Any], **options: Any) -> Any:
            if len(given) != len(inputs):
                raise RuntimeError(
                    f"expected a graph of {len(inputs)} inputs, given {len(given)}: its constants"
                )
            compiled: Any = compile_fx_inner(module, given, **options)
            if getattr(compiled, "constants", None):
                raise RuntimeError(f"expected no constants in a program, given {[*compiled.constants]}")
            return compiled

        CppWrapperCodeCache.cache_clear()
        with functorch_config.patch(enable_autograd_cache=False):
            _compile(graph, inputs, _settings(**_LIBRARY), inner_compile=inner)
        made = [*CppWrapperCodeCache.cache.values()]
    if len(made) != 1:
        raise RuntimeError(f"expected one library, given {len(made)}")
    shutil.copy(str(made[0]().__file__), library)


def _compile(graph: GraphModule, inputs: Sequence[Tensor], settings: dict[str, Any], **options: Any) -> Any:
    from torch._inductor.compile_fx import compile_fx

    with torch.no_grad():
        return compile_fx(graph, list(inputs), config_patches=settings, **options)


def _has_rare_instructions() -> bool:
    """Whether the processor has vector instructions that compilers of C++20 may not know."""
    capability = torch.backends.cpu.get_cpu_capability()
    return capability not in ("AVX2", "AVX512") or torch.cpu._is_amx_tile_supported()


def load_library(library: Path) -> Program:
    """The program in a library."""
    from torch._inductor.codecache import CppWrapperCodeCache

    # What the Python module does that inductor writes beside a library.
    module = CppWrapperCodeCache._load_library_inner(str(library), f"rlgraph {library}")
    entry, handles_of = module.inductor_entry_cpp, torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors
    tensors_of = torch._C._aoti.alloc_tensors_by_stealing_from_void_ptrs

    def run(inputs: list[Tensor]) -> Sequence[Tensor]:
        # For the moments of dead units, see `rlgraph.torch.optimizers.kernel`.
        flushed = flushes_denormals()
        torch.set_flush_denormal(True)
        try:
            return tensors_of(entry(handles_of(inputs)))
        finally:
            torch.set_flush_denormal(flushed)

    return run


def compile_here(graph: GraphModule, inputs: Sequence[Tensor], folder: Path) -> Program:
    """Compile `graph` for this process only. Inductor's own files go into `folder`."""
    with _quietly(folder):
        compiled = _compile(graph, inputs, _settings())

    def run(inputs: list[Tensor]) -> Sequence[Tensor]:
        with torch.no_grad():
            return tuple(compiled(*inputs))

    return run


@contextmanager
def _quietly(folder: Path) -> Iterator[None]:
    """Put inductor's files into `folder` unless the environment names another one; silence its warnings.

    They stay there: a `torch.compile` in another thread writes to the same folder.
    """
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    key = "TORCHINDUCTOR_CACHE_DIR"
    before = os.environ.get(key)
    if before in (None, default_cache_dir()):  # inductor's default is a folder that others can predict
        os.environ[key] = str(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if before is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = before
