"""Varies the arguments of every operation, and compares what a build says of them with what the backends do.

From the calls of the conformance suite others are made: of another dtype, with sizes 0 and 1, with an axis more, one
less, and with sizes that a build does not know. A call that the build refuses is counted; one that it accepts runs on
every installed backend, with sizes for the unknown ones. What then fails, or has another shape or dtype than the build
said, is printed.

    python tools/faults/vary_operations.py
    python tools/faults/vary_operations.py --only take one_hot --calls 40
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from harness import parser_of, verdict

from rlgraph.core import create_backend
from rlgraph.core.errors import InferenceError
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.ops import OPERATIONS, EffectRecorder, SymbolicDim, SymbolicOps, SymbolicTensor, TensorSpec
from rlgraph.core.ops.contract import DTYPES
from rlgraph.testing import installed_backends
from rlgraph.testing.conformance.calls import drawn_calls
from rlgraph.testing.operations import OPERATION_CASES, OPERATORS, Call, Indices, concrete, symbolic

#: Backend -> what makes a tensor of an array.
FRAMEWORKS = {
    "numpy": ("numpy", "asarray"),
    "torch": ("torch", "from_numpy"),
    "tf": ("tensorflow", "convert_to_tensor"),
    "jax": ("jax.numpy", "asarray"),
}
#: For unknown sizes; a call may split them into 2, 3 or 4 parts.
SIZES = ({"B": 12, "T": 24}, {"B": 24, "T": 12})


def main() -> int:
    """Vary and compare; 1 if a program that builds does something else."""
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--calls", type=int, default=12, help="of the suite, for each operation")
    parser.add_argument("--only", nargs="*", default=[], help="operations or operators")
    options = parser.parse_args()
    backends = {
        name: (create_backend(name, ExecutionSpec()).ops, getattr(import_module(module), function))
        for name, (module, function) in FRAMEWORKS.items()
        if name in installed_backends()
    }
    rng, counts, problems = random.Random(options.seed), Counter[str](), dict[str, str]()
    for name, run, cases, sized_by in operations():
        if options.only and name not in options.only:
            continue
        for call in drawn_calls(cases.calls, options.calls):
            for varied in variations(call, rng):
                counts["programs"] += 1
                try:
                    specs = run(
                        SymbolicOps(EffectRecorder(), "float32"), *symbolic(varied).args, **varied.kwargs
                    )
                except InferenceError:
                    counts["refused by the build"] += 1
                    continue
                for backend, (ops, convert) in backends.items():
                    if problem := compare(run, varied, specs, ops, convert, sized_by):
                        counts[f"wrong on {backend}"] += 1
                        kind = f"{name} on {backend}: {problem}"
                        problems.setdefault(kind[:90], f"{kind}\n    {varied}")
    return verdict(list(problems.values()), ", ".join(f"{number} {what}" for what, number in counts.items()))


def operations() -> Iterator[tuple[str, Callable[..., Any], Any, int | None]]:
    """Name, what runs it, its cases, and the argument whose values decide a size."""
    for name, cases in OPERATION_CASES.items():
        operation = OPERATIONS[name]
        sized_by = (
            list(operation.signature.parameters).index(operation.sized_by) if operation.sized_by else None
        )
        yield (
            name,
            lambda ops, *args, _name=name, **kwargs: getattr(ops, _name)(*args, **kwargs),
            cases,
            sized_by,
        )
    for name, operator in OPERATORS.items():
        yield name, lambda _, *args, _run=operator.function: _run(*args), operator.cases, None


def variations(call: Call, rng: random.Random) -> Iterator[Call]:
    """`call` and others like it."""
    yield call
    yield changed(call, lambda spec: of_dtype(spec, rng.choice(DTYPES)))
    dtype = rng.choice(DTYPES)
    yield changed(call, lambda spec: of_dtype(spec, dtype))
    if any(isinstance(each, Indices) for each in call.args):
        return  # they lie inside of these sizes
    for size in (0, 1, SymbolicDim.symbol("B")):
        yield changed(call, lambda spec, size=size: resized(spec, rng.randrange(3), size))
        yield changed(call, lambda spec, size=size: resized(spec, 0, size))
    yield changed(call, lambda spec: spec.with_shape((2, *spec.shape)))
    yield changed(call, lambda spec: spec.with_shape(spec.shape[1:]))


def changed(call: Call, change: Callable[[TensorSpec], TensorSpec]) -> Call:
    """`call`, all its tensors changed."""

    def each(value: Any) -> Any:
        if isinstance(value, Indices):  # inside of what it indexes
            return value
        if isinstance(value, TensorSpec):
            return change(value)
        return type(value)(map(each, value)) if isinstance(value, list | tuple) else value

    return Call(each(call.args), call.kwargs)


def of_dtype(spec: TensorSpec, dtype: str) -> TensorSpec:
    """`spec` in another dtype, within its bounds."""
    if dtype == "bool" or spec.dtype == "bool":
        return replace(spec, dtype=dtype, low=None, high=None)
    low = max(spec.low or 0, 0) if dtype == "uint8" else spec.low
    return replace(
        spec, dtype=dtype, low=low, high=spec.high if spec.high is None else max(spec.high, (low or 0) + 1)
    )


def resized(spec: TensorSpec, axis: int, size: int | SymbolicDim) -> TensorSpec:
    """`spec` with another size of one axis, if it has that."""
    return (
        spec.with_shape((*spec.shape[:axis], size, *spec.shape[axis + 1 :]))
        if axis < len(spec.shape)
        else spec
    )


def compare(
    run: Callable[..., Any], call: Call, specs: Any, ops: Any, convert: Any, sized_by: int | None
) -> str:
    """What a backend does otherwise than the build said; empty: nothing."""
    for number, sizes in enumerate(SIZES):
        given = concrete(call, sizes, np.random.default_rng(number))
        try:
            with np.errstate(all="ignore"):
                results = run(ops, *tensors(given.args, convert), **given.kwargs)
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        known = {**sizes, "N_0": np.count_nonzero(given.args[sized_by])} if sized_by is not None else sizes
        pairs = zip(specs, results, strict=True) if isinstance(specs, tuple) else [(specs, results)]
        for tensor, result in pairs:
            assert isinstance(tensor, SymbolicTensor)
            found = np.asarray(result)
            expected = (tuple(concrete(tensor.spec.shape, known, None)), tensor.spec.dtype)
            if (found.shape, str(found.dtype)) != expected:
                return f"expected {expected}, found {(found.shape, str(found.dtype))}"
    return ""


def tensors(value: Any, convert: Callable[[np.ndarray], Any]) -> Any:
    """`value`, the arrays in it as tensors of a framework."""
    if isinstance(value, np.ndarray):
        return convert(value)
    return type(value)(tensors(item, convert) for item in value) if isinstance(value, list | tuple) else value


if __name__ == "__main__":
    sys.exit(main())
