"""Components inside components: sharing, exposed API methods, finding and removing, devices."""

import pytest

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


class Weight(Component):
    """Multiplies by a variable."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", float, initializer=3.0)

    @rlgraph_api
    def call(self, x, bias=0.0):
        return self._call(x, bias)

    @rlgraph_api
    @graph_fn(returns=0)
    def write(self, ops, value):
        ops.assign(self.w, value)

    @graph_fn
    def _call(self, ops, x, bias):
        return x * self.w + bias


class User(Component):
    """Calls what it is given."""

    def __init__(self, weight, **kwargs):
        self.weight = weight
        super().__init__(weight, **kwargs)

    @rlgraph_api
    def apply(self, x):
        return self.weight.call(x)

    @rlgraph_api
    def count(self):
        return self._count(self.variables())

    @graph_fn
    def _count(self, ops, variables):
        return ops.sum(variables[0])


class Pair(Component):
    def __init__(self, left, right, **kwargs):
        self.left, self.right = left, right
        super().__init__(left, right, scope="root", **kwargs)

    @rlgraph_api
    def run(self, x):
        self.left.weight.write(x)
        return self.left.apply(x), self.right.apply(x), self.right.count()


# Sharing.


def test_a_component_composed_in_two_places():
    shared = Weight(scope="shared")
    root = Pair(User(shared, scope="left"), User(shared, scope="right"))
    assert [component.scope for component in root.walk()] == ["root", "left", "shared", "right"]
    executor = GraphExecutor(root, {"x": float}, backend="numpy")
    assert list(executor.get_weights()) == ["left/shared/w"]
    assert executor.statistics["trainable_parameters"] == 1
    # Both see the one variable, in variables() as well.
    assert executor.execute("run", 5.0) == (25.0, 25.0, 5.0)


def test_a_copy_shares_what_it_shared():
    shared = Weight(scope="shared")
    root = Pair(User(shared, scope="left"), User(shared, scope="right"))
    twin = root.copy()
    assert twin.left.weight is twin.right.weight is not shared


def test_a_second_root_over_shared_components():
    shared = Weight(scope="shared")
    first, second = User(shared, scope="first"), User(Component(shared, scope="deeper"), scope="second")
    second.weight = shared
    graph = assemble(first)
    other = assemble(second)
    with pytest.raises(
        BuildError, match="shared was assembled again since, as deeper/shared.*one root at a time"
    ):
        build(graph, {"x": float})
    build(other, {"x": float})
    with pytest.raises(BuildError, match="shared is built already; build a copy"):
        build(assemble(first), {"x": float})


def test_no_component_inside_itself():
    inner = Component(scope="inner")
    outer = Component(inner, scope="outer")
    with pytest.raises(AssemblyError, match="inner cannot be composed inside itself"):
        inner.add_components(outer)


# Exposed API methods.


@pytest.mark.parametrize(
    ("expose", "name"),
    [("call", "call"), ({"call"}, "call"), (["call"], "call"), ({"call": "apply"}, "apply")],
)
def test_exposed_methods(expose, name):
    root = Component(Weight(scope="weight"), scope="root", expose_apis=expose)
    assert list(root.api_methods()) == [name]
    assert root.api_method(name).__doc__ == Weight.call.__doc__
    executor = GraphExecutor(root, {"x": float, "bias": float}, backend="numpy")
    assert executor.execute(name, 2.0) == 6.0
    assert executor.execute(name, 2.0, bias=1.0) == 7.0


def test_exposed_methods_of_a_copy():
    root = Component(Weight(scope="weight"), scope="root", expose_apis="call")
    twin = root.copy(scope="twin")
    executor = GraphExecutor(twin, {"x": float, "bias": float}, backend="numpy")
    assert executor.execute("call", 2.0) == 6.0
    assert not root.sub_components["weight"].declared_variables


def test_exposing_what_is_not_there_or_taken():
    with pytest.raises(AssemblyError, match="expose_apis names 'cal', which none of weight has.*'call'"):
        Component(Weight(scope="weight"), scope="root", expose_apis="cal")
    with pytest.raises(AssemblyError, match="root: the API method Weight.call would replace the API method"):
        Component(Weight(scope="a"), Weight(scope="b"), scope="root", expose_apis="call")


# Finding and removing.


def test_finding():
    weight = Weight(scope="weight")
    user = User(weight, scope="user")
    root = Component(user, scope="root")
    assert root.get_sub_component_by_name("user") is user
    assert root.get_sub_component_by_name("user/weight") is weight
    with pytest.raises(AssemblyError, match="user has no sub-component 'wait'. Did you mean 'weight'?"):
        root.get_sub_component_by_name("user/wait")


def test_all_sub_components_by_level():
    """As RLgraph 0.5 documents it: with the component itself, grandchildren before children before parents."""
    leaf, shared = Weight(scope="leaf"), Weight(scope="shared")
    left, right = Component(leaf, scope="left"), Component(shared, scope="right")
    middle = Component(left, scope="middle")
    root = Component(shared, middle, right, scope="root")
    #        root
    #   shared  middle  right        level 1
    #            left   (shared)     level 2, where shared belongs: below all its parents
    #            leaf                level 3
    assert root.get_all_sub_components() == [leaf, left, shared, middle, right, root]
    assert leaf.get_all_sub_components() == [leaf]
    assert set(root.get_all_sub_components()) == set(root.walk())


def test_removing():
    weight = Weight(scope="weight")
    user = User(weight, scope="user")
    root = Component(user, scope="root")
    assert root.remove_sub_component_by_name("user/weight") is weight
    assert root.get_all_sub_components() == [user, root]
    assert root.remove_sub_component_by_name("user") is user
    assert root.get_all_sub_components() == [root]
    root.add_components(weight, expose_apis="call")
    with pytest.raises(AssemblyError, match="root exposes call of 'weight': it cannot be removed"):
        root.remove_sub_component_by_name("weight")


# Devices.


def test_a_device_holds_for_variables_and_graph_functions():
    assert Component(device="gpu:0").device == {"variables": "gpu:0", "ops": "gpu:0"}
    assert Component(device={"ops": "gpu:1"}).device == {"ops": "gpu:1"}
    assert Component().device == {}


@pytest.mark.parametrize("device", [{"variable": "cpu"}, {"ops": 0}, 1, {"ops": ""}])
def test_wrong_devices(device):
    with pytest.raises(AssemblyError, match="inner: device= is a name or"):
        Component(scope="inner", device=device)
