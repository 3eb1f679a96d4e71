"""Errors of an assembly or a build show the graph around the place, and carry it for a drawing."""

from xml.etree import ElementTree

import pytest

from rlgraph.components import Dense, NeuralNetwork
from rlgraph.core import (
    AssemblyError,
    BuildError,
    Component,
    GraphExecutor,
    assemble,
    build,
    graph_fn,
    rlgraph_api,
)
from rlgraph.draw import draw
from rlgraph.spaces import FloatBox, SpaceError

STATES = FloatBox(shape=(4,), add_batch_rank=True)


class Pair(Component):
    """A layer of two units, and a sum that fits only what has as many."""

    def __init__(self):
        self.layer = Dense(units=2, scope="layer")
        super().__init__(self.layer, scope="pair")

    @rlgraph_api
    def run(self, states, others):
        before = self.layer.call(states)
        total = self._add(before, others)
        return self._halve(total)

    @graph_fn
    def _add(self, ops, first, second):
        return first + second

    @graph_fn
    def _halve(self, ops, inputs):
        return 0.5 * inputs


def note(error):
    (text,) = error.__notes__
    return text


def caught(kind, function, *arguments):
    with pytest.raises(kind) as caught:
        function(*arguments)
    return caught.value


def test_a_failing_graph_function_is_shown_with_its_callers_and_neighbours():
    error = caught(BuildError, build, assemble(Pair()), {"states": STATES, "others": STATES})
    assert str(error).startswith("pair._add(first: float32[B, 2], second: float32[B, 4]) failed")
    assert note(error) == (
        "The graph around it (>> marks the place, ? what is not known yet):\n"
        "   pair.run(states: float32[B, 4], others: float32[B, 4]) -> ?\n"
        "     layer.call(inputs: float32[B, 4]) -> float32[B, 2]\n"
        ">>   pair._add(first: float32[B, 2], second: float32[B, 4]) -> ?\n"
        "     pair._halve(inputs: ?) -> ?"
    )


def test_an_executor_reports_the_same():
    spaces = {"states": STATES, "others": STATES}
    direct = caught(BuildError, build, assemble(Pair()), spaces)
    with pytest.raises(BuildError) as through:
        GraphExecutor(Pair(), spaces, backend="numpy")
    assert note(through.value) == note(direct)


def test_a_component_that_refuses_a_space_is_marked():
    layers = [{"type": "dense", "units": 3}] * 2
    spaces = {"inputs": bool}
    error = caught(SpaceError, build, assemble(NeuralNetwork(layers), spaces), spaces)
    assert note(error).splitlines()[1:] == [
        "   network.call(inputs: bool[]) -> ?",
        ">>   dense-0.call(inputs: bool[]) -> ?",
        "     dense-1.call(inputs: ?) -> ?",
    ]


class Knot(Component):
    """Two layers of which each waits for the other."""

    def __init__(self):
        self.first, self.second = Dense(units=4, scope="first"), Stepper()
        super().__init__(self.first, self.second, scope="knot")

    @rlgraph_api
    def run(self, states):
        return self.first.call(self.second.step(states, self.first.variables()))


class Stepper(Component):
    @rlgraph_api
    @graph_fn
    def step(self, ops, inputs, variables):
        return inputs


def test_a_build_that_cannot_go_on_marks_what_waits():
    error = caught(BuildError, build, assemble(Knot()), {"states": STATES})
    assert str(error).startswith("the build cannot go on")
    assert [line for line in note(error).splitlines() if line.startswith(">>")] == [
        ">>   first.call(inputs: ?) -> ?"
    ]
    assert error.failure.scopes == {"first"}


def test_many_arguments_of_the_failing_call_stand_below_each_other():
    class Long(Component):
        @rlgraph_api
        def add(self, a_long_name_of_an_input, another_long_name_of_an_input, one_more_name_of_an_input):
            return self._add(
                a_long_name_of_an_input, another_long_name_of_an_input, one_more_name_of_an_input
            )

        @graph_fn
        def _add(
            self, ops, first_of_the_inputs_to_add, second_of_the_inputs_to_add, third_of_the_inputs_to_add
        ):
            return first_of_the_inputs_to_add.nothing

    names = ("a_long_name_of_an_input", "another_long_name_of_an_input", "one_more_name_of_an_input")
    error = caught(BuildError, build, assemble(Long(scope="long")), dict.fromkeys(names, STATES))
    lines = note(error).splitlines()
    assert lines[1].endswith("...") and max(map(len, lines)) <= 110
    assert lines[2:] == [
        ">>   long._add(",
        "         first_of_the_inputs_to_add: float32[B, 4],",
        "         second_of_the_inputs_to_add: float32[B, 4],",
        "         third_of_the_inputs_to_add: float32[B, 4],",
        "     ) -> ?",
    ]


class Wrong(Component):
    def __init__(self):
        self.layer = Dense(units=2, scope="layer")
        super().__init__(self.layer, scope="wrong")

    @rlgraph_api
    def act(self, states):
        return self.again(self.layer.call(states))

    @rlgraph_api
    def again(self, inputs):
        return self.layer.call(inputs, inputs)


def test_an_assembly_error_shows_the_calls_in_progress():
    error = caught(AssemblyError, assemble, Wrong())
    assert note(error) == (
        "The graph around it (>> marks the place):\n"
        "   wrong.act(states)\n"
        "     layer.call(inputs)\n"
        ">>   wrong.again(inputs)"
    )
    drawing = draw(error)
    assert drawing.text() == (
        "wrong: Wrong <fails here>\n"
        "  input act: states\n"
        "  layer: Dense\n"
        "    (_call)\n"
        "  input act -> layer.call\n"
    )


def test_any_error_in_wiring_shows_the_calls_in_progress():
    class Typo(Component):
        @rlgraph_api
        def run(self, states):
            return self.no_such_thing(states)

    assert note(caught(AttributeError, assemble, Typo(scope="typo"))).endswith("\n>> typo.run(states)")


def test_errors_outside_of_the_graph_have_no_note():
    error = caught(BuildError, build, assemble(Pair()), {"states": STATES})
    assert not hasattr(error, "__notes__") and draw(error) is not None


def test_the_drawing_of_an_error_has_the_place_in_red():
    error = caught(BuildError, build, assemble(Pair()), {"states": STATES, "others": STATES})
    drawing = draw(error)
    marked = {key for key, element in drawing.scene.elements.items() if element.marked}
    assert marked == {"pair:_add"}
    assert (
        drawing.scene.labels[
            next(w.source for w in drawing.scene.wires["pair"] if w.target.key == "pair:_halve")
        ]
        == "?"
    )
    svg = ElementTree.fromstring(drawing.svg())
    assert [
        r.get("stroke") for r in svg.iter("{http://www.w3.org/2000/svg}rect") if r.get("stroke-width") == "3"
    ] == ["#e03131"]
    assert (
        "stroke:#e03131,stroke-width:3px" in drawing.mermaid()
        and 'color="#e03131", penwidth=3' in drawing.dot()
    )
    # Drawn closed, the component around the place is marked.
    outer = caught(BuildError, build, assemble(Outer()), {"states": STATES, "others": STATES})
    assert {k for k, e in draw(outer, depth=1).scene.elements.items() if e.marked} == {"pair"}
    assert {k for k, e in draw(outer, scope="pair").scene.elements.items() if e.marked} == {"pair:_add"}


class Outer(Component):
    def __init__(self):
        self.pair = Pair()
        super().__init__(self.pair, scope="outer")

    @rlgraph_api
    def run(self, states, others):
        return self.pair.run(states, others)
