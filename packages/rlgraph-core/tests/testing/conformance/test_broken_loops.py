"""Deliberately broken loops and branches: each fails exactly the checks that are there for its fault."""

from dataclasses import replace

import numpy as np
import pytest

from rlgraph.core.graph.emission import Linker, emit_segment
from rlgraph.core.numpy.backend import DIALECT, NumpyBackend
from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import map_nested

pytestmark = pytest.mark.slow

SECTIONS = ("variables", "control", "loops", "graphs")


def with_segments(dialect=DIALECT, rewrite=lambda lines: lines, link=Linker.link, **options):
    """A backend that writes segments in its own way: in a dialect, with other lines, with links of its own."""

    class Broken(NumpyBackend):
        linker_type = type("OwnLinker", (Linker,), {"link": link})

        def lower(self, plan, segment, storage):
            linker = self.linker(storage, storage.handle, storage.block, **options)
            function = emit_segment(plan, segment, dialect, linker)
            function.lines[:] = rewrite(function.lines)
            return function.compile()

    return Broken


def loops_by(run):
    """A backend whose loops are ``run(shape, count, body, carried)``."""
    return with_segments(loop=lambda shape: lambda *args: run(shape, *args))


def a_loop(shape, count, body, carried, *, stops=True, last=None):
    """A sound loop; options make it an unsound one."""
    collected = []
    for number in range(int(count)):
        carried, items, stop = body(np.asarray(number), *carried)
        collected.append(items)
        if stops and stop:
            break
    if shape.collected and not collected:
        raise ValueError("it collects, and its count is below 1: there must be at least one iteration")
    return carried, tuple(np.stack(parts) for parts in zip(*collected, strict=True))


def test_a_sound_one_fails_nothing(failures):
    assert failures(loops_by(a_loop), SECTIONS) == {}


def test_carried_values_that_change_before_they_are_collected(failures):
    def rewrite(lines):
        lines = list(lines)
        for position in reversed(range(len(lines) - 1)):
            line, following = lines[position : position + 2]
            if ".append(" in line and following.startswith("    ") and ".append(" not in following:
                lines[position : position + 2] = following, line
        return lines

    assert set(failures(with_segments(rewrite=rewrite), SECTIONS)) == {"loops/collected"}


def test_carried_values_that_change_one_after_the_other(failures):
    def rewrite(lines):
        """``a, b = b, c`` becomes ``a = b`` and ``b = c``."""
        for line in lines:
            left, _, right = line.partition(" = ")
            names, values = left.strip().split(", "), right.split(", ")
            indent = " " * (len(line) - len(line.lstrip()))
            if len(names) > 1 and names[0].startswith("c") and "(" not in right:
                yield from (f"{indent}{name} = {value}" for name, value in zip(names, values, strict=True))
            else:
                yield line

    found = set(failures(with_segments(rewrite=rewrite), SECTIONS))
    assert found == {"loops/carried", "loops/views_are_kept"}


def test_loops_that_never_stop_early(failures):
    backend = loops_by(lambda *args: a_loop(*args, stops=False))
    assert set(failures(backend, SECTIONS)) == {"loops/until"}


def test_loops_that_run_at_least_once(failures):
    def run(shape, count, body, carried):
        return a_loop(shape, max(int(count), 1), body, carried)

    found = set(failures(loops_by(run), SECTIONS))
    assert found == {
        "loops/counts",
        "loops/empty_collection",
        "loops/until",
        "loops/written_for_the_next_iteration",
    }


def test_variables_that_are_read_once_per_loop(failures):
    """What takes nothing from the iteration is computed in the first one only, whatever is written."""
    known = []  # of the loops that run, what was computed so far

    def run(*args):
        known.append({})
        try:
            return a_loop(*args)
        finally:
            known.pop()

    def link(self, function, view, draws=()):
        bound = Linker.link(self, function, view, draws)

        def once(*args, **kwargs):
            if args or kwargs or draws or not known or not function.returns:
                return bound(*args, **kwargs)
            if function.key not in known[-1]:
                known[-1][function.key] = np.array(bound())
            return known[-1][function.key]

        return once

    backend = with_segments(link=link, loop=lambda shape: lambda *args: run(shape, *args))
    found = failures(backend, SECTIONS)
    assert set(found) == {"loops/read_in_every_iteration", "loops/views_are_kept"}


def test_views_that_are_not_copied(failures):
    backend = with_segments(dialect=replace(DIALECT, copy="{}".format))
    assert set(failures(backend, SECTIONS)) == {
        "loops/views_are_kept",
        "variables/reads_are_kept",
        "variables/outputs_belong_to_the_caller",
    }


def test_a_branch_that_runs_both_sides(failures):
    def branch(specs, effects):
        def run(predicate, then, otherwise):
            first, second = then(), otherwise()
            return first if predicate else second

        return run

    assert set(failures(with_segments(branch=branch), SECTIONS)) == {"loops/one_side_of_a_branch"}


@pytest.mark.parametrize("wrong", [lambda p: not p, lambda p: True])
def test_a_branch_that_takes_the_wrong_side(failures, wrong):
    def branch(specs, effects):
        return lambda predicate, then, otherwise: then() if wrong(predicate) else otherwise()

    found = set(failures(with_segments(branch=branch), SECTIONS))
    assert found == {"loops/one_side_of_a_branch", "loops/fused"}


def test_a_loop_of_one_step_that_drops_its_axis(failures):
    class Broken(NumpyBackend):
        def __init__(self, execution):
            super().__init__(execution)

            class Ops(NumpyOps):
                def scan(self, body, init, xs, reverse=False, axis=0):
                    carry, ys = super().scan(body, init, xs, reverse, axis)
                    one = len(self._items(xs, axis)) == 1
                    return carry, map_nested(lambda y: y[0], ys) if one else ys

            self.ops = Ops(execution.dtype)

    found = failures(Broken, ["control"])
    assert set(found) == {"control/scan_of_nothing"}
    assert found["control/scan_of_nothing"].startswith("1 steps: ")
