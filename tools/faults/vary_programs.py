"""Tries programs of several operations, and the components of the documentation with other Spaces, on all backends.

What a build accepts has to run everywhere, with the shapes and dtypes that the build said and the same numbers; what it
refuses, it refuses with one of RLgraph's own errors. Anything else is printed. See `programs` for the random ones.

    python tools/faults/vary_programs.py
    python tools/faults/vary_programs.py --seed 7 --programs 400 --pages gallery/q_lambda
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from harness import parser_of, verdict
from programs import drawn_programs
from vary_operations import of_dtype, resized

from rlgraph.core import Component, GraphExecutor, RLGraphError
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.values import space_of
from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.core.ops.contract import DTYPES
from rlgraph.core.ops.tensor_spec import to_specs
from rlgraph.spaces import Space, SpaceError, from_spec
from rlgraph.testing import installed_backends
from rlgraph.testing.operations import concrete

ROOT = Path(__file__).parents[2]
#: For unknown sizes, where a program divides them into parts, and where it does not.
DIVISIBLE, SIZES = ({"B": 12, "T": 24}, {"B": 24, "T": 12}), ({"B": 12, "T": 24}, {"B": 5, "T": 4})
#: For sizes that a page names.
NAMED: dict[str, int] = dict.fromkeys("ACDEGHKLMNS", 4)
#: What a build may refuse with.
REFUSALS = (RLGraphError, SpaceError)
#: Numbers beyond are not compared: what comes of them differs by rounding.
LARGEST = 1e6
TOLERANCE = 1e-3
#: A component that is not built, and the Spaces of its arguments.
Subject = tuple[Callable[[], Component], Mapping[str, Any]]


def main() -> int:
    """Try all; 1 if a program that builds does something else, or is refused with another error."""
    parser = parser_of(__doc__, seed=0)
    parser.add_argument("--programs", type=int, default=1200, help="random ones that build")
    parser.add_argument(
        "--variations", type=int, default=16, help="of the Spaces of each documented component"
    )
    parser.add_argument(
        "--pages", nargs="*", help="of the documentation, such as gallery/q_lambda; default: all"
    )
    options = parser.parse_args()
    counts, problems = Counter[str](), dict[str, str]()

    def note(kind: str, text: str) -> None:
        counts["finds"] += 1
        problems.setdefault(kind[:90], f"{kind}\n    {text}")

    for text, subject in [*random_programs(options, counts, note), *documented(options, note)]:
        counts["programs"] += 1
        if problem := tried(*subject, options.seed, counts):
            note(problem, text)
    return verdict(list(problems.values()), ", ".join(f"{number} {what}" for what, number in counts.items()))


def random_programs(
    options: Any, counts: Counter[str], note: Callable[[str, str], None]
) -> Iterator[tuple[str, Subject]]:
    """`options.programs` random programs; counts those that are refused when they are drawn."""
    programs = drawn_programs(options.seed)
    for _ in range(options.programs):
        program, refused = next(programs)
        for text, error in refused:
            counts["programs"] += 1
            counts["refused"] += 1
            if not isinstance(error, RLGraphError):
                note(f"build: {type(error).__name__}: {error}", text)
        yield str(program), (lambda program=program: program.component()[0], program.spaces)


# One program.


def tried(make: Callable[[], Component], spaces: Mapping[str, Any], seed: int, counts: Counter[str]) -> str:
    """What is wrong with a component of these Spaces; empty: nothing, or it is refused."""
    executors: dict[str, GraphExecutor] = {}
    for backend in installed_backends():
        try:
            executors[backend] = GraphExecutor(make(), spaces, backend=backend, execution_spec={"seed": seed})
        except REFUSALS as error:
            if not executors:
                counts["refused"] += 1
                return ""
            return f"only {backend} refuses it: {_line(error)}"
        except Exception as error:
            return f"build: {_line(error)}"
    counts["built"] += 1
    built = next(iter(executors.values())).built
    if any(effects.host for effects in built.effects.values()):
        counts["with Python that a build does not see"] += 1
        return ""
    for method in sorted(built.graph.methods):
        divides = "//" in repr(built.value_of(built.graph.results_of(method)))
        for number, sizes in enumerate(DIVISIBLE if divides else SIZES):
            if problem := compared(method, built, executors, sizes, np.random.default_rng([seed, number])):
                return problem
    return ""


def compared(
    method: str,
    built: BuiltGraph,
    executors: dict[str, GraphExecutor],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
) -> str:
    """What a backend does otherwise than the build said, or than the first one."""
    sizes = {**NAMED, **sizes}
    specs = built.value_of(built.graph.results_of(method))
    given = [
        nested(to_specs(space, "float32"), lambda spec: concrete(spec, sizes, rng))
        for space in built.input_spaces.get(method, {}).values()
    ]
    draws = any(effects.noise != () for effects in built.effects.values())
    reference: list[tuple[str, Any, Any]] = []
    for backend, executor in list(executors.items()):
        try:
            with np.errstate(all="ignore"):
                results = executor.execute(method, *given)
        except REFUSALS:  # NumPy has no gradients; a count or a state is not as it has to be
            del executors[backend]  # its variables are behind those of others
            continue
        except Exception as error:
            return f"{backend}: {_line(error)}"
        found = list(pairs(specs, results))
        for path, spec, result in found:
            if problem := _mismatch(spec, np.asarray(result), sizes):
                return f"{backend}: result{path}: {problem}"
        if not reference:
            reference = found
        elif not draws and _is_tame(reference):
            for (path, _, wanted), (_, _, result) in zip(reference, found, strict=True):
                if not np.allclose(
                    *(np.asarray(each, "float64") for each in (result, wanted)), TOLERANCE, TOLERANCE
                ):
                    return f"{backend}: result{path}: other numbers, {_short(result)}, than {_short(wanted)}"
    return ""


def _mismatch(spec: Any, found: np.ndarray, sizes: Mapping[str, int]) -> str:
    if not isinstance(spec, TensorSpec):
        return ""
    known = all(set(dim.symbols) <= set(sizes) for dim in spec.shape if isinstance(dim, SymbolicDim))
    expected = tuple(concrete(spec.shape, sizes, None)) if known else found.shape  # type: ignore[arg-type]
    fits = (found.shape, str(found.dtype)) == (expected, spec.dtype) and len(expected) == len(spec.shape)
    return "" if fits else f"expected {spec} of {dict(sizes)}, found {found.dtype}{list(found.shape)}"


def _is_tame(results: list[tuple[str, Any, Any]]) -> bool:
    arrays = [np.asarray(result) for _, _, result in results]
    return all(
        array.dtype.kind in "biuf" and bool(np.all(np.abs(array.astype("float64")) < LARGEST))
        for array in arrays
    )


def pairs(specs: Any, results: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Path, spec and result of each tensor."""
    if isinstance(specs, TensorSpec):
        yield path, specs, results
    elif isinstance(specs, dict | tuple):
        for key in specs if isinstance(specs, dict) else range(len(specs)):
            yield from pairs(specs[key], results[key], f"{path}[{key!r}]")


def nested(value: Any, change: Callable[[TensorSpec], Any]) -> Any:
    """`value`, each tensor changed."""
    if isinstance(value, dict):
        return {key: nested(item, change) for key, item in value.items()}
    return tuple(nested(item, change) for item in value) if isinstance(value, tuple) else change(value)


def _line(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words if len(words) < 400 else f'{words[:60]} ... {words[-300:]}'}"


def _short(array: Any) -> str:
    return " ".join(np.array2string(np.asarray(array), threshold=8, precision=4).split())


# Components of the documentation.


def documented(options: Any, note: Callable[[str, str], None]) -> Iterator[tuple[str, Subject]]:
    """What the pages define and build, with varied Spaces."""
    rng = random.Random(options.seed)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        wanted = (
            name in options.pages if options.pages is not None else "@graph_fn" in page.read_text("utf-8")
        )
        if not wanted:
            continue
        for component, spaces in built_on(page, note):
            first, *others = variations(spaces, rng)
            number = min(len(others), options.variations)
            for change, varied in (first, *rng.sample(others, number)):
                yield (
                    f"{name}: {type(component).__name__}, {change}: {dict(varied)}",
                    (lambda component=component: component.copy(), varied),
                )


def built_on(page: Path, note: Callable[[str, str], None]) -> list[tuple[Component, dict[str, Space]]]:
    """Copies of the components that a page defines and builds, and their Spaces; of each class the first."""
    sys.path.append(str(ROOT / "docs/_extensions"))
    from page_runner import run_page

    found: dict[str, tuple[Component, dict[str, Space]]] = {}
    build = GraphExecutor.__init__

    def record(self: GraphExecutor, root: Any, input_spaces: Any, **options: Any) -> None:
        with suppress(*REFUSALS):
            if isinstance(root, Component) and type(root).__module__ == f"docs_{page.stem}":
                spaces = {name: from_spec(space) for name, space in input_spaces.items()}
                found.setdefault(type(root).__name__, (root.copy(), spaces))
        build(self, root, input_spaces, **options)

    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.object(GraphExecutor, "__init__", record),
    ):
        try:
            run_page(page)
        except Exception as error:
            note(f"{page.stem}: the page does not run: {_line(error)}", str(page))
    return list(found.values())


def variations(spaces: Mapping[str, Space], rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Other Spaces for the same arguments; what no Space can say is left out."""
    yield "as on the page", dict(spaces)
    changes: list[tuple[str, Callable[[TensorSpec], TensorSpec]]] = [
        *((f"of {dtype}", lambda spec, dtype=dtype: of_dtype(spec, dtype)) for dtype in DTYPES[1:]),
        *(
            (f"size {size}", lambda spec, size=size: resized(spec, len(spec.shape) - 1, size))
            for size in (0, 1, 5)
        ),
        ("an axis more", lambda spec: spec.with_shape((*spec.shape, 2))),
        ("an axis less", lambda spec: spec.with_shape(spec.shape[:-1])),
        ("no axes", lambda spec: spec.with_shape(())),
    ]
    for name, change in changes:
        for only in (None, *spaces) if len(spaces) > 1 else (None,):
            with suppress(ValueError):
                yield (
                    f"{name}{f' of {only}' if only else ''}",
                    {
                        key: space_of(nested(to_specs(space, "float32"), change))
                        if only in (None, key)
                        else space
                        for key, space in spaces.items()
                    },
                )
    for name, ranks in (
        ("no batch", (False, False)),
        ("a batch of 3", (3, False)),
        ("batch and time", (True, True)),
        ("time and batch", (True, True, True)),
        ("time alone", (False, True)),
    ):
        for only in (None, *spaces) if len(spaces) > 1 else (None,):
            with suppress(ValueError):
                yield (
                    f"{name}{f' of {only}' if only else ''}",
                    {
                        key: space.with_extra_ranks(*ranks) if only in (None, key) else space
                        for key, space in spaces.items()
                    },
                )


if __name__ == "__main__":
    sys.exit(main())
