"""Random small programs of pure calls, reads, writes and host calls in loops and branches, against Python itself."""

from functools import partial, reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.core import Component, GraphExecutor, branch, gradients, graph_fn, loop, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox

VECTOR = FloatBox(shape=(1,))
COUNT = 2  # of the loops whose count is an input

# A program is a list of statements; each adds values to those there are, and names them by position from the end.
#   ("mix", a, b), ("times", a, b), ("view",), ("write", a), ("host", a), ("index",)
#   ("loop", count, carried, body, leaving, until, collected)
#   ("branch", predicate, then, otherwise, result)


class Machine(Component):
    """One variable, one host buffer."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", VECTOR, initializer=0.5)
        self.buffer = self.get_variable("buffer", VECTOR, host=True)

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def mix(self, ops, x, y):
        return x * 0.5 - y * 0.25 + 0.125

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def times(self, ops, x, y):
        return x * y * 0.5

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def plus(self, ops, x, y):
        return x + y

    @rlgraph_api(must_be_complete=False)
    def derivative(self, loss):
        return self._first(gradients(loss, self.variables()))

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def view(self, ops):
        return self.w[:1]

    @rlgraph_api(must_be_complete=False)
    @graph_fn(returns=0)
    def write(self, ops, x):
        ops.assign(self.w, x)

    @rlgraph_api(must_be_complete=False)
    @graph_fn(host=True, spaces=VECTOR)
    def host(self, x):
        self.buffer += x
        return self.buffer

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def number(self, ops, i):
        return ops.reshape(ops.astype(i, "float"), (1,))

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def positive(self, ops, x):
        return ops.sum(x) > 0.0

    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def last_sum(self, ops, x):
        return ops.sum(x, axis=0)

    @graph_fn
    def _first(self, ops, derivatives):
        return derivatives[0]


class Python:
    """What the machine does, without any graph: every value is a number of its own."""

    def __init__(self, w=0.5):
        self.w, self.buffer = w, 0.0

    def run(self, program, values, index=0.0):
        values = list(values)
        for kind, *what in program:
            if kind == "mix":
                values.append(values[-what[0]] * 0.5 - values[-what[1]] * 0.25 + 0.125)
            elif kind == "times":
                values.append(values[-what[0]] * values[-what[1]] * 0.5)
            elif kind == "view":
                values.append(self.w)
            elif kind == "write":
                self.w = values[-what[0]]
            elif kind == "host":
                self.buffer += values[-what[0]]
                values.append(self.buffer)
            elif kind == "index":
                values.append(index)
            elif kind == "loop":
                values.extend(self.loop(values, *what))
            else:
                predicate, then, otherwise, result = what
                values.append(self.run(then if values[-predicate] > 0 else otherwise, values)[-result])
        return values

    def loop(self, values, count, carried, body, leaving, until, collected):
        state = [values[-c] for c in carried]
        total = 0.0
        for i in range(COUNT if count is None else count):
            inside = self.run(body, [*values, *state], float(i))
            state = [inside[-e] for e in leaving]
            if collected is not None:
                total += inside[-collected]
            if until and state[0] > 0:
                break
        return state if collected is None else [*state, total]


def wire(machine, program, values, n, index=None):
    """The same with `loop` and `branch`."""
    values = list(values)
    for kind, *what in program:
        if kind == "mix":
            values.append(machine.mix(values[-what[0]], values[-what[1]]))
        elif kind == "times":
            values.append(machine.times(values[-what[0]], values[-what[1]]))
        elif kind == "view":
            values.append(machine.view())
        elif kind == "write":
            machine.write(values[-what[0]])
        elif kind == "host":
            values.append(machine.host(values[-what[0]]))
        elif kind == "index":
            values.append(machine.number(index))
        elif kind == "loop":
            values.extend(wire_loop(machine, values, n, *what))
        else:
            predicate, then, otherwise, result = what
            sides = [
                partial(wire_side, machine, side, tuple(values), n, result) for side in (then, otherwise)
            ]
            values.append(branch(machine.positive(values[-predicate]), *sides))
    return values


def wire_side(machine, side, values, n, result):
    return wire(machine, side, values, n)[-result]


def wire_loop(machine, values, n, count, carried, body, leaving, until, collected):
    def iteration(i, *state):
        inside = wire(machine, body, [*values, *state], n, i)
        left = tuple(inside[-e] for e in leaving)
        left = left[0] if len(left) == 1 else left
        return left if collected is None else (left, inside[-collected])

    made = loop(
        n if count is None else count,
        iteration,
        *(values[-c] for c in carried),
        until=(lambda first, *_: machine.positive(first)) if until else None,
        collect=collected is not None,
    )
    left, collection = (made, None) if collected is None else made
    left = [left] if len(carried) == 1 else list(left)
    return left if collected is None else [*left, machine.last_sum(collection)]


@st.composite
def programs(draw, known=2, depth=2, in_loop=False, pure=False):
    """A program over `known` values; returns it with the number of values behind it."""
    program = []
    kinds = ["mix", "times", "view", *([] if pure else ["write", "host"]), *(["index"] if in_loop else [])]
    kinds += ["loop", "branch"] * (2 if depth else 0)

    def one_of(number):
        return draw(st.integers(1, number))

    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(kinds))
        if kind in ("mix", "times"):
            program.append((kind, one_of(known), one_of(known)))
        elif kind in ("view", "index"):
            program.append((kind,))
        elif kind in ("write", "host"):
            program.append((kind, one_of(known)))
        elif kind == "loop":
            carried = [one_of(known) for _ in range(one_of(2))]
            body, inside = draw(programs(known + len(carried), depth - 1, True, pure))
            leaving = [one_of(inside) for _ in carried]
            until = draw(st.booleans())
            collected = None if until else draw(st.none() | st.integers(1, inside))
            count = draw(st.none() | st.integers(1, 3))
            program.append((kind, count, carried, body, leaving, until, collected))
            known += len(carried) + (collected is not None) - 1
        else:
            sides = [draw(programs(known, depth - 1, False, pure)) for _ in range(2)]
            result = one_of(min(inside for _, inside in sides))
            program.append((kind, one_of(known), sides[0][0], sides[1][0], result))
        known += kind != "write"
    return program, known


def check(program, backend):
    machine = Machine(scope="machine")

    class Root(Component):
        @rlgraph_api
        def run(self, x, y, n):
            return tuple(wire(machine, program, (x, y), n))

    spaces = {"x": VECTOR, "y": VECTOR, "n": IntBox()}
    made = GraphExecutor(
        Root(machine, scope="root"), spaces, backend=backend, execution_spec={"dtype": "float64"}
    )
    python, earlier = Python(), []
    for x, y in ((1.0, -0.5), (-2.0, 0.25)):
        found = made.execute("run", np.array([x]), np.array([y]), COUNT)
        expected = python.run(program, (x, y))
        earlier.append((found, expected))
    for found, expected in earlier:  # those of the first call too must be what they were
        np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(made.get_weights().get("machine/w", [python.w]), [python.w], rtol=0, atol=1e-9)


@settings(max_examples=120, derandomize=True, deadline=None)
@given(programs())
def test_programs_on_numpy(program):
    check(program[0], "numpy")


@pytest.mark.slow
def test_programs_on_every_backend(backend):
    @settings(max_examples=12, derandomize=True, deadline=None, database=None)
    @given(programs())
    def run(program):
        check(program[0], backend)

    run()


def check_derivative(program, backend):
    """By the variable, of the sum of all values, against central differences of Python's own results."""
    machine = Machine(scope="machine")
    program = [("view",), *program]

    class Root(Component):
        @rlgraph_api
        def run(self, x, y, n):
            total = reduce(machine.plus, wire(machine, program, (x, y), n))
            return machine.derivative(machine.last_sum(total))

    spaces = {"x": VECTOR, "y": VECTOR, "n": IntBox()}
    made = GraphExecutor(
        Root(machine, scope="root"), spaces, backend=backend, execution_spec={"dtype": "float64"}
    )
    for x, y in ((1.0, -0.5), (-1.5, 0.25)):
        sides = [sum(Python(0.5 + step).run(program, (x, y))) for step in (1e-6, -1e-6)]
        found = made.execute("run", np.array([x]), np.array([y]), COUNT)
        np.testing.assert_allclose(found, (sides[0] - sides[1]) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_derivatives_of_programs(trainer):
    @settings(max_examples=12, derandomize=True, deadline=None, database=None)
    @given(programs(pure=True))
    def run(program):
        check_derivative(program[0], trainer)

    run()
