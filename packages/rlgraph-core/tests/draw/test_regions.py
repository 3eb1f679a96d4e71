"""Loops and branches are boxes around what is called from inside, with carried values going round."""

from itertools import pairwise

import pytest

from rlgraph.components import Dense
from rlgraph.core import AssemblyError, BuildError, Component, assemble, build, graph_fn, loop, rlgraph_api
from rlgraph.draw import draw
from rlgraph.spaces import FloatBox

VECTOR = FloatBox(shape=(3,), add_batch_rank=True)


def ends(drawing, container):
    return {
        (w.source.key.rpartition(":")[2], w.target.key.rpartition(":")[2])
        for w in drawing.scene.wires[container]
    }


def around(drawing):
    """Key of every element -> key of the element around it."""
    return {child.key: e.key for e in drawing.scene.elements.values() for child in e.children}


def test_a_loop_as_text(repeats):
    assert draw(repeats, method="repeat").text() == (
        "repeats: Repeats · 24 parameters\n"
        "  input inputs: float32[B, 3]\n"
        "  input shift: float32[B, 3]\n"
        "  output repeat: float32[B, 3]\n"
        "  layer: Dense · 12 parameters\n"
        "    (_call)\n"
        "  loop × 4: carries float32[B, 3]\n"
        "    (_add)\n"
        "    inner: Dense · 12 parameters\n"
        "      (_call)\n"
        "    next -> next: float32[B, 3]\n"
        "    carried -> carried\n"
        "    _add -> next: float32[B, 3]\n"
        "    next -> carried: float32[B, 3]\n"
        "    carried -> inner.call: float32[B, 3]\n"
        "    inner.call -> _add: float32[B, 3]\n"
        "    _add -> _add\n"
        "  loop × 4.next -> output repeat: float32[B, 3]\n"
        "  input inputs -> layer.call\n"
        "  layer.call -> loop × 4.carried: float32[B, 3]\n"
        "  input shift -> loop × 4._add\n"
    )


def test_a_component_that_is_called_from_outside_as_well_stands_outside(repeats):
    alone, together = around(draw(repeats, method="repeat")), around(draw(repeats))
    assert alone["inner"] == "repeats:repeat.loop-0" and together["inner"] == "repeats"
    assert together["left"] == "repeats:choose.branch-0.then"
    assert around(draw(repeats, method="gather"))["layer"] == "repeats:gather.loop-0"
    assert together["layer"] == "repeats"
    wires = ends(draw(repeats), "repeats")
    assert ("gather.loop-0", "layer") in wires and ("layer", "gather.loop-0") in wires


def test_a_loop_with_a_symbolic_count_that_collects(repeats):
    drawing = draw(repeats, method="gather")
    box = drawing.scene.elements["repeats:gather.loop-0"]
    assert (box.title, box.subtitle) == ("loop", "carries 2 tensors, collects")
    chips = {e.title for e in box.children if e.kind in ("entry", "exit")}
    assert chips == {"count", "carried", "index", "next", "collected"}
    assert ("gather.loop-0.index", "gather.loop-0:_mean") not in ends(drawing, "repeats")
    assert {("gather.loop-0.next", "gather.loop-0.carried"), ("gather.loop-0.index", "_mean")} <= ends(
        drawing, "repeats:gather.loop-0"
    )


def test_until(repeats):
    drawing = draw(repeats, method="search")
    box = drawing.scene.elements["repeats:search.loop-0"]
    assert box.subtitle == "carries float32[B, 3], may end early"
    assert ("_is_small", "search.loop-0.until") in ends(drawing, box.key)


def test_a_branch_has_two_sides(repeats):
    drawing = draw(repeats, method="choose")
    parents = around(drawing)
    key = "repeats:choose.branch-0"
    assert parents["left"] == f"{key}.then" and parents[f"{key}.otherwise:_add"] == f"{key}.otherwise"
    assert parents[f"{key}.then"] == parents[f"{key}.otherwise"] == parents[f"{key}.if"] == key
    assert {("choose.branch-0.then", "choose.branch-0.result")} <= ends(drawing, key)


def test_a_side_that_does_nothing_is_left_out(repeats):
    box = draw(repeats, method="perhaps").scene.elements["repeats:perhaps.branch-0"]
    assert [child.title for child in box.children] == ["if", "then", "result"]


def test_nested_loops_lie_in_each_other(repeats):
    parents = around(draw(repeats, method="nested"))
    assert (
        parents["repeats:nested.loop-1"] == "repeats:nested.loop-0"
        and parents["inner"] == "repeats:nested.loop-1"
    )


def test_a_loop_traced_twice_is_one_box(repeats):
    keys = {e.key for e in draw(repeats).scene.elements.values() if e.kind == "region"}
    # `twice` calls `repeat`: its loop is that of `repeat`.
    assert len([key for key in keys if "repeat.loop" in key]) == 1 and not any("twice" in key for key in keys)


@pytest.mark.parametrize("method", ["repeat", "last"])  # the second does not use what it carries
def test_in_a_loop_only_carried_values_go_upwards(repeats, method):
    for route in draw(repeats, method=method).picture.routes:
        upwards = any(after[1] < before[1] for before, after in pairwise(route.points))
        assert upwards == (
            route.wire.source.key.endswith(".next") and route.wire.target.key.endswith(".carried")
        )


def test_a_closed_component_names_its_loops():
    class Inside(Component):
        @rlgraph_api
        def call(self, inputs):
            return loop(2, lambda i, x: self._twice(x), inputs)

        @graph_fn
        def _twice(self, ops, inputs):
            return 2.0 * inputs

    class Outer(Component):
        def __init__(self):
            self.inside = Inside(scope="inside")
            super().__init__(self.inside, scope="outer")

        @rlgraph_api
        def run(self, inputs):
            return self.inside.call(inputs)

    outer = assemble(Outer())
    assert draw(outer).scene.elements["inside"].lines == ("loop", "_twice")
    alone = draw(outer, scope="inside").scene.elements["inside:call.loop-0"]
    assert (alone.title, alone.subtitle) == ("loop × 2", "carries")


def test_regions_are_dashed_in_every_form(repeats):
    drawing = draw(repeats, method="repeat")
    assert 'style="filled,rounded,dashed"; fillcolor="#fbfaff"' in drawing.dot()
    assert "stroke:#8a7bb5,stroke-dasharray:6 4" in drawing.mermaid()
    assert 'fill="#fbfaff" stroke="#8a7bb5" stroke-dasharray="6 4"' in drawing.svg()


def test_a_build_that_fails_in_a_loop_marks_it():
    class Grows(Component):
        @rlgraph_api
        def run(self, inputs):
            return loop(2, lambda i, x: self._twice(x), inputs)

        @graph_fn
        def _twice(self, ops, inputs):
            return ops.concat([inputs, inputs], axis=-1)

    with pytest.raises(BuildError) as caught:
        build(assemble(Grows(scope="grows")), {"inputs": VECTOR})
    assert ">>   grows.loop(carried: (float32[B, 3])) -> ?" in caught.value.__notes__[0]
    marked = {e.key for e in draw(caught.value).scene.elements.values() if e.marked}
    assert marked == {"grows:run.loop-0"}


def test_an_assembly_that_fails_in_a_loop_can_be_drawn():
    class Broken(Component):
        def __init__(self):
            self.layer = Dense(units=3, scope="layer")
            super().__init__(self.layer, scope="broken")

        @rlgraph_api
        def run(self, inputs):
            return loop(2, lambda i, x: self.layer.call(self.layer.call(x), x), inputs)

    with pytest.raises(AssemblyError) as caught:
        assemble(Broken())
    assert "<fails here>" in draw(caught.value).text()
