"""What colours and signs say: devices, variables, the host."""

from xml.etree import ElementTree

import pytest

from rlgraph.core import assemble, build
from rlgraph.draw import draw
from rlgraph.draw.palette import DEVICE_COLOURS, device_colours, tint

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def placed(make_root):
    """A DQN on devices: the whole on one, the target on another, one network's variables apart."""
    root, spaces = make_root("dqn")
    root.device = {"ops": "cuda:0", "variables": "cuda:0"}
    root.target.device = {"ops": "cuda:1", "variables": "cuda:1"}
    root.policy.network.device = {"variables": "cpu"}
    return build(assemble(root), spaces)


def test_devices_are_inherited(placed):
    elements = draw(placed).scene.elements
    assert {key: (e.device, e.storage) for key, e in elements.items() if e.kind == "component"}.items() >= {
        "dqn": ("cuda:0", "cuda:0"),
        "policy": ("cuda:0", "cuda:0"),
        "policy/network/dense-0": ("cuda:0", "cpu"),
        "target-policy/network/dense-0": ("cuda:1", "cuda:1"),
        "loss": ("cuda:0", "cuda:0"),
    }.items()


def test_each_device_has_a_colour_that_the_legend_names(placed):
    svg = ElementTree.fromstring(draw(placed).svg())
    texts = [node.text for node in svg.iter(f"{SVG}text")]
    assert [t for t in texts if t in ("cpu", "cuda:0", "cuda:1", "device of the variables")] == [
        "cpu",
        "cuda:0",
        "cuda:1",
        "device of the variables",
    ]
    fills = {rect.get("fill") for rect in svg.iter(f"{SVG}rect")}
    # The loss is one level deep on the second device by name, the target's dense layers three deep on the third.
    assert {tint(DEVICE_COLOURS[1], 0.12), tint(DEVICE_COLOURS[2], 0.24)} <= fills


def test_devices_in_the_other_forms(placed):
    drawing = draw(placed)
    assert "policy: DuelingPolicy · 4,675 parameters <on cuda:0>\n" in drawing.text()
    assert "network: NeuralNetwork · 4,480 parameters <on cuda:0, variables on cpu>\n" in drawing.text()
    assert "memory: ReplayMemory · 6 variables <on cuda:0, host>" in drawing.text()
    assert f"style n_loss fill:{tint(DEVICE_COLOURS[1], 0.12)}" in drawing.mermaid()
    assert "DQNLoss\\non cuda:0" in drawing.dot() and '"legend cuda:1"' in drawing.dot()


def test_without_devices_nothing_is_said_of_them(dqn):
    drawing = draw(dqn)
    assert device_colours(drawing.scene) == {}
    assert "<on" not in drawing.text() and "legend" not in drawing.dot()


def test_components_with_variables_of_their_own_are_marked(dqn, two):
    drawing = draw(dqn)
    stateful = {e.title for e in drawing.scene.elements.values() if e.stateful}
    assert stateful == {"memory", "optimizer", "dense-0", "dense-1", "value", "advantages"}
    assert "has variables" in drawing.svg()
    assert "has variables" not in draw(two).svg()


def test_tint():
    assert tint("#ff0000", 1.0) == "#ff0000" and tint("#ff0000", 0.0) == "#ffffff"
    assert tint("#000000", 0.5) == "#808080"
