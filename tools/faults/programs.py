"""Random programs of several operations, for `vary_programs`: each step takes what steps before it gave."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from program_steps import Pool, Step, drawn_step

from rlgraph.core import Component, graph_fn
from rlgraph.core.errors import InferenceError
from rlgraph.core.ops import EffectRecorder, SymbolicOps, SymbolicTensor, TensorSpec
from rlgraph.core.ops.symbolic import SymbolicVariable
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox, Space
from rlgraph.testing.conformance.probes import wiring

#: Shapes of inputs and variables, without ranks.
SHAPES = ((), (1,), (2,), (3,), (2, 3), (3, 1), (0,))


@dataclass
class Program:
    """Steps on inputs and variables; the pool has the inputs, the variables, and the results of all steps, in order."""

    spaces: dict[str, Space]
    variables: dict[str, tuple[Space, Any]]
    steps: list[Step] = field(default_factory=list)

    def __str__(self) -> str:
        inputs = ", ".join(f"{name}: {space}" for name, space in self.spaces.items())
        variables = ", ".join(f"{name}: {space} = {value}" for name, (space, value) in self.variables.items())
        return "\n    ".join([inputs, variables, *(step.text for step in self.steps)])

    def results(self, ops: Any, inputs: Sequence[Any], variables: Sequence[Any]) -> tuple[Any, ...]:
        """The results of all steps, and the variables after them."""
        pool = [*inputs, *variables]
        for step in self.steps:
            extend(pool, step.run(ops, pool))
        return (*pool[len(inputs) + len(variables) :], *map(ops.read, variables))

    def component(self) -> tuple[Component, dict[str, Space]]:
        """A component with the API method ``results``, and its Spaces."""
        names = list(self.spaces)
        results = wiring(names, lambda self, **tensors: self._results(tuple(tensors.values())))
        return type("Programmed", (Programmed,), {"results": results})(self), self.spaces


class Programmed(Component):
    """A program as a component."""

    def __init__(self, program: Program):
        self.program = program
        super().__init__(scope="program")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for name, (space, value) in self.program.variables.items():
            setattr(self, name, self.get_variable(name, space, initializer=value, trainable=False))

    @graph_fn
    def _results(self, ops: Any, tensors: Any) -> Any:
        return self.program.results(ops, tensors, [getattr(self, name) for name in self.program.variables])


def extend(pool: Pool, found: Any) -> None:
    """Add the results of a step."""
    if isinstance(found, tuple | list):
        for item in found:
            extend(pool, item)
    elif found is not None:
        pool.append(found)


def drawn_program(rng: random.Random) -> tuple[Program, list[tuple[str, Exception]]]:
    """A program of two to six steps, and what was refused on the way: its text with one step more, and the error."""
    ranks = rng.choice(({}, {"add_batch_rank": True}, {"add_batch_rank": True, "add_time_rank": True}))
    ranks = {**ranks, "time_major": True} if len(ranks) == 2 and rng.random() < 0.5 else ranks
    spaces = {
        f"x{i}": drawn_space(rng, (rng.random() < 0.8 and ranks) or {}) for i in range(rng.randint(1, 3))
    }
    variables = {f"v{i}": (space := drawn_space(rng, {}), start(space)) for i in range(rng.randint(0, 2))}
    program, refused = Program(spaces, variables), list[tuple[str, Exception]]()
    recorder = EffectRecorder()
    ops = SymbolicOps(recorder, "float32")
    pool: Pool = [SymbolicTensor(TensorSpec.from_space(space)) for space in spaces.values()]
    pool += [
        SymbolicVariable(name, TensorSpec.from_space(space), recorder)
        for name, (space, _) in variables.items()
    ]
    length = rng.randint(2, 6)
    while len(program.steps) < length and len(refused) < 2 * length:
        step = drawn_step(rng, pool)
        if step is None:
            continue
        try:
            found = step.run(ops, pool)
        except Exception as error:
            refused.append((f"{program}\n    {step.text}", error))
            if not isinstance(error, InferenceError):
                break
            continue
        program.steps.append(step)
        extend(pool, found)
    return program, refused


def drawn_space(rng: random.Random, ranks: Mapping[str, Any]) -> BoxSpace:
    """A Space of numbers or bools."""
    shape = rng.choice(SHAPES)
    kind = rng.choice("ffffiib")
    if kind == "b":
        return BoolBox(shape=shape, **ranks)
    low, high = rng.choice(((None, None), (0, None), (0, 4), (-2, 3)))
    if kind == "i":
        dtype = rng.choice(("int32", "int64", "uint8" if low == 0 else "int64"))
        return IntBox(low, high, shape=shape, dtype=dtype, **ranks)
    return FloatBox(low, high, shape=shape, **ranks)


def start(space: BoxSpace) -> Any:
    """A starting value inside of a Space."""
    return space.dtype == "bool" or (1 if space.dtype.startswith(("int", "uint")) else 0.5)


def drawn_programs(seed: int) -> Iterator[tuple[Program, list[tuple[str, Exception]]]]:
    """Programs without end, the same ones for a seed."""
    rng = random.Random(seed)
    while True:
        yield drawn_program(rng)
