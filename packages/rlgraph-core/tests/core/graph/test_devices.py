"""Devices: who says where a component is, what follows for groups, drawings, and backends that lack a device."""

import numpy as np
import pytest

from rlgraph.components import Adam
from rlgraph.core import (
    BuildError,
    Component,
    ExecutionSpec,
    GraphExecutor,
    SpecError,
    assemble,
    build,
    graph_fn,
    rlgraph_api,
)
from rlgraph.core.graph.devices import Devices, resolve_devices
from rlgraph.core.numpy.backend import NumpyBackend
from rlgraph.draw import draw
from rlgraph.spaces import FloatBox

NUMBER = FloatBox()


class Weight(Component):
    """A weight, and one inside it if it is given one."""

    def __init__(self, *inside, scope, device=None):
        self.inside = inside
        super().__init__(*inside, scope=scope, device=device)

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", NUMBER, initializer=2.0)
        self.table = self.get_variable("table", NUMBER, host=True)

    @rlgraph_api
    def call(self, x):
        for part in self.inside:
            x = part.call(x)
        return self._call(x)

    @graph_fn
    def _call(self, ops, x):
        return x * self.w


def tree(**devices):
    """root(a(inner), b); devices by the last part of the scope."""
    inner = Weight(scope="inner", device=devices.get("inner"))
    a, b = Weight(inner, scope="a", device=devices.get("a")), Weight(scope="b", device=devices.get("b"))
    return Weight(a, b, scope="root", device=devices.get("root"))


def on(both):
    return Devices(both, both)


def test_nobody_says_anything():
    assert resolve_devices(assemble(tree())) == dict.fromkeys(("root", "a", "a/inner", "b"), Devices("", ""))


def test_children_inherit_what_they_do_not_say():
    found = resolve_devices(assemble(tree(root="gpu:0", a={"ops": "gpu:1"}, inner={"variables": "cpu"})))
    assert found == {
        "root": on("gpu:0"),
        "a": Devices(variables="gpu:0", ops="gpu:1"),
        "a/inner": Devices(variables="cpu", ops="gpu:1"),
        "b": on("gpu:0"),
    }


def test_the_default_is_for_those_of_which_nobody_says_anything():
    found = resolve_devices(assemble(tree(a="gpu:1")), {"ops": "gpu:0"})
    assert found == {
        "root": Devices("", "gpu:0"),
        "a": on("gpu:1"),
        "a/inner": on("gpu:1"),
        "b": Devices("", "gpu:0"),
    }


def test_the_map_goes_before_the_components_and_the_longest_scope_before_the_others():
    graph = assemble(tree(a="gpu:7", inner="gpu:8", b="gpu:9"))
    assert resolve_devices(graph, "cpu", {"a": "gpu:1", "a/inner": {"ops": "gpu:2"}}) == {
        "root": on("cpu"),
        "a": on("gpu:1"),
        "a/inner": Devices(variables="gpu:1", ops="gpu:2"),
        "b": on("gpu:9"),
    }
    found = resolve_devices(graph, None, {"b": "gpu:3", "root": "gpu:0"})
    assert found == {"root": on("gpu:0"), "a": on("gpu:0"), "a/inner": on("gpu:0"), "b": on("gpu:3")}


def test_a_scope_is_no_prefix_of_another_name():
    root = Weight(Weight(scope="net"), Weight(scope="net-2"), scope="root")
    found = resolve_devices(assemble(root), None, {"net": "gpu:1"})
    assert (found["net"], found["net-2"]) == (on("gpu:1"), Devices())


def test_a_shared_component_is_where_it_was_composed_first():
    shared = Weight(scope="shared")
    root = Weight(
        Weight(shared, scope="a", device="gpu:1"), Weight(shared, scope="b", device="gpu:2"), scope="root"
    )
    assert resolve_devices(assemble(root))["a/shared"] == on("gpu:1")


def test_a_map_of_a_component_that_is_not_there():
    with pytest.raises(
        BuildError, match="device_map: root has no component 'a/iner'. Did you mean 'a/inner'?"
    ):
        build(assemble(tree()), {"x": NUMBER}, device_map={"a/iner": "gpu:0"})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"device": 3}, "execution_spec.device is a name or .*, given 3"),
        ({"device": ""}, "execution_spec.device is a name"),
        ({"device": {"op": "cpu"}}, "execution_spec.device is a name"),
        ({"device_map": "cpu"}, "execution_spec.device_map: expected scope -> device, given 'cpu'"),
        ({"device_map": {"policy": 0}}, r"execution_spec.device_map\['policy'\] is a name"),
    ],
)
def test_wrong_devices_of_an_execution(spec, message):
    with pytest.raises(SpecError, match=message):
        ExecutionSpec.from_spec(spec)


def test_variables_of_different_devices_share_no_group():
    built = build(assemble(tree(a={"variables": "gpu:1"}, b={"ops": "gpu:1"})), {"x": NUMBER})
    assert {name: built.variables[name].device for name in built.variables} == {
        "a/inner/table": "",  # the host's
        "a/inner/w": "gpu:1",
        "a/table": "",
        "a/w": "gpu:1",
        "b/table": "",
        "b/w": "",
        "root/table": "",
        "root/w": "",
    }
    groups = {group.device: [v.name for v in group.variables] for group in built.layout.groups.values()}
    assert groups == {"": ["b/w", "root/w"], "gpu:1": ["a/inner/w", "a/w"]}


class Fitted(Component):
    """Weights on two devices that one optimizer steps."""

    def __init__(self):
        self.weights = Weight(Weight(scope="inner", device={"variables": "second"}), scope="weights")
        self.optimizer = Adam(0.1)
        super().__init__(self.weights, self.optimizer, scope="root", device="first")

    @rlgraph_api
    def update(self, x):
        return self.optimizer.step(self.weights.variables(), self.weights.call(x))


def test_slots_lie_where_their_variables_do():
    built = build(assemble(Fitted()), {"x": NUMBER})
    slots = {
        v.name.rsplit("/", 2)[-2]: v.device for v in built.variables.values() if v.role.startswith("slot:")
    }
    assert slots == {"weights": "first", "inner": "second"}
    groups = [(g.device, [v.name for v in g.variables]) for g in built.layout.groups.values() if g.trainable]
    assert groups == [("first", ["weights/w"]), ("second", ["weights/inner/w"])]


def test_a_device_that_the_backend_does_not_have():
    with pytest.raises(BuildError, match="a/inner: its variables are to be on device 'cuda:0', which"):
        GraphExecutor(tree(inner="cuda:0"), {"x": NUMBER}, backend="numpy")
    with pytest.raises(BuildError, match="root: its ops are to be on device 'cpu:0', .* Did you mean 'cpu'?"):
        GraphExecutor(tree(root={"ops": "cpu:0"}), {"x": NUMBER}, backend="numpy")
    spec = {"device_map": {"b": "cuda:0"}}
    with pytest.raises(BuildError, match="b: its variables are to be on device 'cuda:0', .* Known: cpu."):
        GraphExecutor(tree(), {"x": NUMBER}, backend="numpy", execution_spec=spec)


def test_devices_that_the_backend_has(backend):
    spec = {"device": "cpu", "device_map": {"a": {"variables": "cpu"}}}
    executor = GraphExecutor(tree(b="cpu"), {"x": NUMBER}, backend=backend, execution_spec=spec)
    assert set(executor.built.devices.values()) == {on(executor.backend.device_name("cpu"))}
    assert executor.execute("call", np.float32(1.0)) == 16.0


def test_groups_on_two_devices_compute_what_one_does(monkeypatch):
    monkeypatch.setattr(NumpyBackend, "devices", frozenset({"cpu", "first", "second"}))
    executor = GraphExecutor(
        tree(a="second"), {"x": NUMBER}, backend="numpy", execution_spec={"device": "first"}
    )
    assert len(executor.built.layout.groups) == 2
    assert executor.execute("call", np.float32(1.0)) == 16.0


def test_a_drawing_shows_where_a_build_placed_things():
    graph = assemble(tree(a="gpu:1"))
    assert "b: Weight <on" not in draw(graph).text()
    assert "a: Weight <on gpu:1>" in draw(graph).text()
    drawn = draw(build(graph, {"x": NUMBER}, device_map={"a": "gpu:2", "b": {"variables": "cpu"}})).text()
    assert "<on gpu:2" in drawn and "<variables on cpu" in drawn and "gpu:1" not in drawn
