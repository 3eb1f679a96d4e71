"""Sections ``components``, ``derivatives`` and ``kernels``: the component library on a backend.

Components against the reference; their derivatives against its difference quotients; with kernels and without.
"""

from __future__ import annotations

import copy
import inspect
import tempfile
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from rlgraph.components import LossFunction
from rlgraph.core import Collective, Component, GraphExecutor, gradients, graph_fn, memory_group
from rlgraph.core.component.members import GraphFunction
from rlgraph.core.graph.nodes import GraphFunctionCall
from rlgraph.core.ops import map_nested
from rlgraph.spaces import BoxSpace, FloatBox, Space, from_spec
from rlgraph.testing.conformance.cases import BATCH, CASES, STEPS, Case
from rlgraph.testing.conformance.checks import Subject, check, check_each
from rlgraph.testing.conformance.comparison import assert_same
from rlgraph.testing.conformance.gradients import difference_quotient
from rlgraph.testing.conformance.probes import wiring


def samples(case: Case, dtype: str) -> dict[str, Any]:
    """The arguments of a case, the same every time."""
    rng = np.random.default_rng(0)
    inputs = {}
    for name, given in case.spaces.items():
        space = from_spec(given)
        sample = space.sample(_sizes(space), rng=rng)
        inputs[name] = map_nested(lambda x: x.astype(dtype) if x.dtype.kind == "f" else x, sample)
    return inputs


def _sizes(space: Space) -> tuple[int, ...]:
    """How many items and steps, in the order of the axes: what the Space fixes, else `BATCH` and `STEPS`."""
    ranks = [(space.batch_rank, BATCH), (space.time_rank, STEPS)]
    given = [size if isinstance(rank, bool | str) else rank for rank, size in ranks if rank is not False]
    return tuple(reversed(given) if space.time_major else given)


def run_case(case: Case, executor: GraphExecutor) -> Any:
    """What all calls return, on the same inputs every time, and the variables after them."""
    inputs = samples(case, executor.execution.dtype)
    outputs = []
    for method in case.methods:
        wanted = inspect.signature(executor.root.api_methods()[method]).parameters
        result = executor.execute(method, **{name: value for name, value in inputs.items() if name in wanted})
        # Copies: whether a later call overwrites them is the question of another check.
        outputs.append(() if result is None else copy.deepcopy(result))
    return tuple(outputs), executor.get_weights()


@check_each("components", CASES, capabilities=lambda case: ("gradients",) if case.trains else ())
def agrees(subject: Subject, case: Case) -> None:
    """Outputs and variables are those of the reference, without kernels; a checkpoint restores them on both."""
    executor = subject.executor(case.make(), case.spaces, dtype="float64", use_kernels=False)
    reference = subject.reference(case.make(), case.spaces, dtype="float64")
    given = run_case(case, executor)
    if not case.trains:
        assert_same(given, run_case(case, reference), 1e-12, "(outputs, variables)")
    saved = executor.get_weights()
    with tempfile.TemporaryDirectory() as folder:
        executor.save(f"{folder}/checkpoint")
        expected = run_case(case, executor)
        for each in (executor, reference):
            each.load(f"{folder}/checkpoint")
            assert_same(each.get_weights(), saved, path=f"variables loaded on {each.backend.name}")
    assert_same(run_case(case, executor), expected, 1e-12, "(outputs, variables) after loading")


class Derived(Component):
    """A component whose arguments `case.by` are moved by variables, and a number made of what its methods return."""

    def __init__(self, case: Case):
        self.case, self.tried = case, case.make()
        leaves = {name: _leaves(from_spec(case.spaces[name])) for name in case.by}
        self.shapes = {
            f"{name}-{number}": s for name, found in leaves.items() for number, s in enumerate(found)
        }
        super().__init__(self.tried, scope="derived")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for name, shape in self.shapes.items():
            setattr(self, name, self.get_variable(name, FloatBox(shape=shape), initializer=0.0))

    def number(self, **inputs: Any) -> Any:
        """The sum of smooth functions of all results."""
        moved = {name: self._move(x, name) if name in self.case.by else x for name, x in inputs.items()}
        results = []
        for method in self.case.methods:
            wanted = inspect.signature(self.tried.api_methods()[method]).parameters
            results.append(
                getattr(self.tried, method)(**{key: x for key, x in moved.items() if key in wanted})
            )
        return self._sum(tuple(results))

    @graph_fn
    def _move(self, ops: Any, inputs: Any, name: str) -> Any:
        left = iter([key for key in self.shapes if key.rpartition("-")[0] == name])
        return map_nested(lambda x: x + getattr(self, next(left)), inputs)

    @graph_fn
    def _sum(self, ops: Any, results: Any) -> Any:
        terms: list[Any] = []
        map_nested(lambda x: terms.append(ops.sum(ops.sin(3.0 * x + 1.0))), _floats(results))
        return sum(terms[1:], start=terms[0])

    @graph_fn
    def _flat(self, ops: Any, derivatives: Any) -> Any:
        return ops.concat([ops.reshape(one, (-1,)) for one in derivatives])


def _leaves(space: Any) -> list[tuple[int, ...]]:
    """The shapes of its parts, without batch and time."""
    return [space.shape] if isinstance(space, BoxSpace) else [leaf.shape for leaf in space.flatten().values()]


def _floats(results: Any) -> list[Any]:
    """All float parts of nested results."""
    if isinstance(results, Mapping):
        return [leaf for one in results.values() for leaf in _floats(one)]
    if isinstance(results, tuple | list):
        return [leaf for one in results for leaf in _floats(one)]
    return [results] if results is not None and "float" in str(results.dtype) else []


def derived(case: Case) -> Component:
    """A root with the methods ``get_number`` and ``derivatives``; see `Derived`."""
    names = list(case.spaces)

    def derivatives(self: Any, **inputs: Any) -> Any:
        return self._flat(gradients(self.number(**inputs), self.variables(trainable_only=True)))

    members = {
        "get_number": wiring(names, lambda self, **inputs: self.number(**inputs)),
        "derivatives": wiring(names, derivatives),
    }
    return type("DerivedCase", (Derived,), members)(case)


@check_each(
    "derivatives",
    {name: case for name, case in CASES.items() if case.is_derived},
    capabilities=lambda _: ("gradients",),
)
def right_derivatives(subject: Subject, case: Case) -> None:
    """The derivatives of what a component returns are the difference quotients of the reference."""
    inputs = samples(case, "float64")
    given = subject.executor(derived(case), case.spaces, dtype="float64").execute("derivatives", **inputs)
    reference = subject.reference(derived(case), case.spaces, dtype="float64")
    weights = reference.get_weights(trainable_only=True)

    def number() -> float:
        reference.set_weights(weights)
        return float(reference.execute("get_number", **inputs))

    compared = {name: _spread(value.size, case.elements) for name, value in weights.items()}
    expected = np.concatenate(
        [difference_quotient(number, value, compared[name]) for name, value in weights.items()]
    )
    starts = np.cumsum([0, *(value.size for value in weights.values())])
    given = given[np.concatenate([start + at for start, at in zip(starts, compared.values(), strict=False)])]
    assert_same(given, expected, 1e-5 * max(1.0, float(np.abs(expected).max())), "derivatives")


def _spread(size: int, count: int | None) -> np.ndarray:
    """`count` of the indices below `size`, or all of them."""
    return np.arange(size) if count is None else np.unique(np.linspace(0, size - 1, count).astype(int))


def graph_functions_of(case: Case) -> list[GraphFunction]:
    """The graph functions of a case's components, those that its methods do not call among them."""
    return [f for component in case.make().walk() for f in component.graph_functions().values()]


def lacks_kernels(subject: Subject, case: Case) -> str:
    """Says so if the backend has no kernel for any graph function of a case's components."""
    kernels = subject.create().kernels
    has = any(f.key in kernels or subject.backend in f.kernels for f in graph_functions_of(case))
    return "" if has else f"{subject.backend} has no kernels for it"


@check_each(
    "kernels", CASES, capabilities=lambda case: ("gradients",) if case.trains else (), reason=lacks_kernels
)
def same_as_single_source(subject: Subject, case: Case) -> None:
    """Kernels compute what the single source computes, those of losses in a group of learners, too."""
    for alone, (dtype, tolerance) in product(_groups(case), (("float64", 1e-10), ("float32", 1e-5))):
        given = run_case(case, subject.executor(case.make(), case.spaces, alone, dtype=dtype))
        if dtype == "float64" and not case.trains:
            source = subject.reference(case.make(), case.spaces, dtype=dtype)
        else:
            source = subject.executor(case.make(), case.spaces, dtype=dtype, use_kernels=False)
        assert_same(given, run_case(case, source), tolerance, f"(outputs, variables) in {dtype}")


def _groups(case: Case) -> list[Collective | None]:
    """None, and for a loss, whose means are sums there, a group of one learner."""
    return [None, *memory_group(1)] if isinstance(case.make(), LossFunction) else [None]


@check("kernels")
def all_are_tried(subject: Subject) -> None:
    """Every kernel that the backend has for a shipped component is run by one of these checks."""
    untried = {key for key in subject.create().kernels if key.startswith("rlgraph.components.")}
    for case in CASES.values():
        if untried.isdisjoint(function.key for function in graph_functions_of(case)):
            continue
        executors = [
            GraphExecutor(case.make(), case.spaces, backend="numpy", collective=alone)
            for alone in _groups(case)
        ]
        for executor, method in product(executors, case.methods):
            plan = executor.plan(method)
            for node in plan.nodes:
                if isinstance(node, GraphFunctionCall):
                    component = plan.built.graph.components[node.component]
                    untried.discard(component.graph_functions()[node.function].key)
    assert not untried, f"no case runs the kernels {sorted(untried)}"
