"""Parts of a graph: one component, a depth, one API method, and each together with the others."""

from xml.etree import ElementTree

import pytest

from rlgraph.core import RLGraphError
from rlgraph.draw import draw


def components(drawing):
    return {key for key, element in drawing.scene.elements.items() if element.kind == "component"}


def test_a_component_alone_with_what_enters_and_leaves(dqn):
    drawing = draw(dqn, scope="policy", depth=1)
    assert components(drawing) == {"policy", "policy/network", "policy/value", "policy/advantages"}
    assert drawing.text() == (
        "policy: DuelingPolicy · 4,675 parameters\n"
        "  input get_deterministic_action: observations float32[B, 4], from get_actions\n"
        "  input get_q_values: observations float32[B, 4], from memory.get_records, from update\n"
        "  output get_deterministic_action: int64[B], to exploration.get_action\n"
        "  output get_q_values: float32[B, 2], to loss.loss\n"
        "  output variables: 8 variables, to optimizer.step, to synchronizer.sync\n"
        "  (_argmax, _combine)\n"
        "  network: NeuralNetwork · 4,480 parameters\n"
        "    (2 components inside)\n"
        "  value: Dense · 65 parameters\n"
        "    (_call)\n"
        "  advantages: Dense · 130 parameters\n"
        "    (_call)\n"
        "  input get_deterministic_action -> network.call\n"
        "  network.call -> advantages.call: float32[B, 64]\n"
        "  advantages.call -> _argmax: float32[B, 2]\n"
        "  _argmax -> output get_deterministic_action: int64[B]\n"
        "  input get_q_values -> network.call\n"
        "  network.call -> value.call: float32[B, 64]\n"
        "  value.call -> _combine: float32[B, 1]\n"
        "  advantages.call -> _combine: float32[B, 2]\n"
        "  _combine -> output get_q_values: float32[B, 2]\n"
    )


def test_a_component_without_parts_shows_its_graph_functions(dqn):
    elements = draw(dqn, scope="memory").scene.elements
    assert {e.title for e in elements.values() if e.kind == "function"} == {"_insert", "_sample"}
    assert elements["memory:input:insert_records"].lines == ("records 5 tensors", "from insert")
    assert elements["memory:output:get_records"].method == "update_from_memory"


def test_depth_counts_from_the_scope(dqn):
    assert components(draw(dqn, scope="policy/network", depth=1)) == {
        "policy/network",
        "policy/network/dense-0",
        "policy/network/dense-1",
    }
    assert "policy/network/dense-0" in components(draw(dqn, scope="policy", depth=2))
    assert draw(dqn, scope="dqn", depth=1).svg() == draw(dqn, depth=1).svg()


def test_scope_and_method_together(dqn):
    drawing = draw(dqn, scope="policy", method="get_actions")
    titles = {e.title for e in drawing.scene.root.children if e.kind in ("input", "output")}
    assert titles == {"get_deterministic_action"}
    assert {e.method for e in drawing.scene.root.children if e.kind == "input"} == {"get_actions"}
    texts = [
        node.text for node in ElementTree.fromstring(drawing.svg()).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts[-1] == "get_actions"  # the legend says whose colour that is


def test_a_component_that_a_method_does_not_reach_is_empty(dqn):
    drawing = draw(dqn, scope="memory", method="get_actions")
    assert drawing.scene.root.children == [] and drawing.text().startswith("memory: ReplayMemory")
    assert drawing.svg() and drawing.dot() and drawing.mermaid()


def test_every_component_can_be_drawn_alone(built):
    for scope in built.graph.components:
        drawing = draw(built, scope=scope)
        assert drawing.scene.root.key == scope and drawing.scene.root.level == 0
        ElementTree.fromstring(drawing.svg())
        ends = {
            end.key for wires in drawing.scene.wires.values() for w in wires for end in (w.source, w.target)
        }
        assert ends <= set(drawing.scene.elements)


def test_all_forms_show_the_same_part(dqn):
    drawing = draw(dqn, scope="policy", depth=1)
    for text in (drawing.svg(), drawing.dot(), drawing.mermaid(), drawing.text()):
        assert "advantages" in text and "dense-0" not in text and "exploration.get_action" in text
        assert "synchronizer: " not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scope": "polcy"}, r"dqn has no component 'polcy'\. Did you mean 'policy'\?"),
        (
            {"scope": "policy/dense-0"},
            r"dqn has no component 'policy/dense-0'\. Did you mean 'policy/value'|network",
        ),
        ({"scope": "policy", "method": "get_q_values"}, r"dqn has no API method 'get_q_values'"),
        ({"scope": "policy", "depth": 0}, "depth: expected an integer >= 1 or None, given 0"),
    ],
)
def test_wrong_parts(dqn, options, message):
    with pytest.raises(RLGraphError, match=message):
        draw(dqn, **options)


def test_without_depth_a_small_part_is_opened(dqn):
    assert "policy/network/dense-0" in components(draw(dqn, scope="policy"))
