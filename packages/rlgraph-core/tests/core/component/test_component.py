import copy
import inspect
import re
from typing import ClassVar

import pytest

from rlgraph.core import (
    AssemblyError,
    BoundApiMethod,
    Component,
    GraphExecutor,
    SpecError,
    assemble,
    build,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox


class Part(Component):
    """A variable and a method."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(2,)))

    @rlgraph_api
    def call(self, x):
        """Doc of call."""
        return self._f(x)

    @graph_fn
    def _f(self, ops, x):
        """Doc of f."""
        return x * self.w


class Special(Part):
    @rlgraph_api
    def more(self, x):
        return self.call(x)

    @graph_fn
    def _f(self, ops, x):
        return x + self.w


def test_scopes():
    assert Part().scope == "part"
    assert Part(scope="other").scope == "other"
    assert repr(Part(scope="p")) == "<Part p>"
    with pytest.raises(AssemblyError, match="scope 'a/b' of Part must be a name without '/'"):
        Part(scope="a/b")


def test_composition():
    part = Part()
    root = Component(part, scope="root")
    other = Part(scope="other")
    root.add_components(other, other)
    assert list(root.sub_components.values()) == [part, other]
    assert list(root.walk()) == [root, part, other]
    with pytest.raises(AssemblyError, match="root: two sub-components have the scope 'part'"):
        root.add_components(Part())
    with pytest.raises(AssemblyError, match="sub-components must be Components, given dict"):
        root.add_components({"type": "dense"})


def test_members_are_inherited_and_overridden():
    assert sorted(Special.api_methods()) == ["call", "more"]
    assert Special.graph_functions()["_f"] is not Part.graph_functions()["_f"]
    assert Special.api_method("call") is Part.call
    assert Part.call.__doc__ == "Doc of call."
    assert Part._f.__doc__ == "Doc of f."
    bound = Special().call
    assert isinstance(bound, BoundApiMethod)
    assert bound.name == "call"
    assert Part._f.key == f"{__name__}:Part._f"


class Scaled(Component):
    @rlgraph_api(must_be_complete=False)
    @graph_fn
    def scale(self, ops, x, factor=None):
        """Doc of scale."""
        return x * (factor or 2.0)


def test_an_api_method_of_a_graph_function():
    class Negated(Scaled):
        @graph_fn
        def _scale(self, ops, x, factor=None):
            return x * -2.0

    class Host(Component):
        def __init__(self):
            super().__init__(scope="host")

            @rlgraph_api(component=self)
            @graph_fn(host=True, spaces=FloatBox())
            def scale(self, x):
                return x * 3.0

    for root, expected in ((Scaled(), 4.0), (Negated(), -4.0), (Host(), 6.0)):
        assert list(root.api_methods()) == ["scale"] and list(root.graph_functions()) == ["_scale"]
        assert GraphExecutor(root, {"x": float}, backend="numpy").execute("scale", 2.0) == expected
    method = Scaled.api_methods()["scale"]
    assert str(inspect.signature(method)) == "(self, x, factor=None)"
    assert method.__doc__ == Scaled._scale.__doc__ == "Doc of scale."
    assert not Scaled.scale.must_be_complete
    with pytest.raises(
        AssemblyError, match="graph function .*scale would replace the attribute 1 under .*_scale"
    ):
        type("Taken", (Component,), {"_scale": 1, "scale": rlgraph_api(graph_fn(Scaled._scale.function))})


def test_an_api_method_of_a_graph_function_replaces_no_helper_and_is_replaced_whole():
    class Helped(Component):
        def _scale(self):
            """A helper."""

    with pytest.raises(
        AssemblyError, match="graph function .*scale would replace the attribute .*Helped._scale"
    ):
        type("Taken", (Helped,), {"scale": rlgraph_api(graph_fn(Scaled._scale.function))})

    class Whole(Scaled):
        @rlgraph_api
        @graph_fn
        def scale(self, ops, x, factor=None):
            return x * 5.0

        @rlgraph_api
        def before(self, x):
            return Scaled.scale(self, x)

    root = GraphExecutor(Whole(), {"x": float}, backend="numpy", api_methods=["scale"])
    assert root.execute("scale", 2.0) == 10.0
    with pytest.raises(
        AssemblyError, match="Scaled.scale cannot be called, the graph function .*Whole.scale repl"
    ):
        GraphExecutor(Whole(), {"x": float}, backend="numpy")


def test_an_api_method_of_a_graph_function_in_a_mixin_with_a_kernel():
    class Mixin:
        @rlgraph_api
        @graph_fn
        def double(self, ops, x):
            return x * 2.0

        @double.kernel("numpy")
        def _double_numpy(self, ops, x):
            return x + x

    class Doubled(Mixin, Component):
        """Has it of the mixin."""

    assert GraphExecutor(Doubled(scope="d"), {"x": float}, backend="numpy").execute("double", 2.0) == 4.0
    assert list(Doubled.graph_functions()["_double"].kernels) == ["numpy"]
    with pytest.raises(AssemblyError, match="kernel belongs to a graph function"):
        Part.api_method(next(iter(Part.api_methods()))).kernel("numpy")


def test_only_components_with_hooks_wait_for_spaces():
    class Hooks(Component):
        def check_input_spaces(self, input_spaces, action_space=None):
            pass

    assert Part.needs_input_spaces()
    assert Hooks.needs_input_spaces()
    assert not Component.needs_input_spaces()


def test_copies():
    part = Part(scope="part")
    root = Component(part, scope="root")
    root.settings = {"numbers": [1, 2]}
    twin = root.copy(scope="target", trainable=False)
    assert type(twin) is type(root)
    assert (twin.scope, root.scope) == ("target", "root")
    assert [component.trainable for component in twin.walk()] == [False, False]
    assert [component.trainable for component in root.walk()] == [True, True]
    assert twin.sub_components["part"] is not part
    twin.settings["numbers"].append(3)
    assert root.settings == {"numbers": [1, 2]}
    assert root.copy().scope == "root"


def test_copies_with_the_arguments_of_0_5():
    """``copy(name, scope, device, trainable, ...)``: the name is the scope, the device holds for all parts."""
    part = Part(scope="part", device={"variables": "cpu", "ops": "gpu:0"})
    root = Component(part, scope="root", device="gpu:0")
    assert [root.copy("twin").scope, root.copy(name="twin").scope, root.copy(None, "twin").scope] == [
        "twin"
    ] * 3
    assert root.copy(name="twin", scope="twin").scope_path == "twin"
    twin = root.copy("twin", None, "gpu:1", False)
    assert not any(component.trainable for component in twin.walk())
    assert [component.device for component in twin.walk()] == [{"variables": "gpu:1", "ops": "gpu:1"}] * 2
    ops_only = root.copy(device={"ops": "gpu:1"})
    assert ops_only.sub_components["part"].device == {"variables": "cpu", "ops": "gpu:1"}
    same = root.copy()
    assert [component.device for component in same.walk()] == [component.device for component in root.walk()]
    assert part.device == {"variables": "cpu", "ops": "gpu:0"}


def test_copies_refuse_what_they_cannot_do():
    part = Part(scope="part")
    with pytest.raises(
        AssemblyError, match="part.copy: name='a' and scope='b' differ: a component has one name"
    ):
        part.copy(name="a", scope="b")
    with pytest.raises(AssemblyError, match="part.copy: device= is a name or .*, given 3"):
        part.copy(device=3)
    with pytest.raises(AssemblyError, match="scope 'a/b' of Part must be a name without '/'"):
        part.copy(scope="a/b")
    for name in ("reuse_variable_scope", "reuse_variable_scope_for_sub_components"):
        with pytest.raises(AssemblyError, match="reuse_variable_scope is refused.*use the component itself"):
            part.copy(**{name: "shared"})


def test_a_copy_that_is_built_beside_its_original():
    """A copy has variables of its own, under its own name."""
    part = Part(scope="part")
    root = Component(part, part.copy(name="twin"), scope="root")
    for scope, component in root.sub_components.items():
        root.expose_api(component, "call", f"call_{scope}")
    executor = GraphExecutor(root, {"x": FloatBox(shape=(2,))}, backend="numpy")
    executor.set_weights({"part/w": [1.0, 2.0], "twin/w": [3.0, 4.0]})
    assert executor.execute("call_part", [1.0, 1.0]).tolist() == [1.0, 2.0]
    assert executor.execute("call_twin", [1.0, 1.0]).tolist() == [3.0, 4.0]


def test_copies_of_what_is_built():
    part = Part(scope="part")
    build(assemble(part), {"x": FloatBox(shape=(2,))})
    with pytest.raises(AssemblyError, match="part is built already: copy a component before it is built"):
        part.copy()


def test_a_component_frozen_by_its_parent():
    inner, outer = Part(scope="inner"), Part(scope="outer")
    middle = Component(inner, scope="middle")
    Component(middle, outer, scope="root", trainable=False)
    assert [inner.trainable, middle.trainable, outer.trainable] == [False, False, False]


def test_trainable_variables():
    class Kinds(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.made = [
                self.get_variable("default", float),
                self.get_variable("no", float, trainable=False),
                self.get_variable("yes", float, trainable=True),
                self.get_variable("integer", int, trainable=True),
                self.get_variable("host", float, host=True),
            ]

        @rlgraph_api
        def run(self, x):
            return x

    free, frozen = Kinds(scope="k"), Kinds(scope="k", trainable=False)
    for kinds, expected in ((free, [True, False, True, False, False]), (frozen, [False] * 5)):
        build(assemble(kinds), {"x": float})
        assert [variable.trainable for variable in kinds.made] == expected


def test_a_component_can_be_copied_by_python():
    assert copy.deepcopy(Part()).scope == "part"


class Sized(Part):
    other_names: ClassVar = {"width": "size"}

    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sise": 3}, "Sized.sise: Sized has no such key. Did you mean 'size'?"),
        (
            {"size": 3, "trainabel": False},
            "Sized.trainabel: Sized has no such key. Did you mean 'trainable'?",
        ),
        ({"width": 3}, "Sized.width: Sized has no such key. It is 'size' here."),
        (
            {"units": 3},
            "Sized.units: Sized has no such key. Known: device, expose_apis, scope, size, switched",
        ),
    ],
)
def test_arguments_that_no_constructor_takes(arguments, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        Sized(**arguments)


def test_other_mistakes_of_constructors_stay_what_they_are():
    with pytest.raises(TypeError, match="not iterable"):
        Sized(scope=3)


class Forgetful(Component):
    def __init__(self, size):
        self.size = size

    @rlgraph_api
    def call(self, x):
        return x


class Late(Component):
    def __init__(self):
        self.add_components(Part())
        super().__init__()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: assemble(Forgetful(1)), "Forgetful"),
        (lambda: Component(Forgetful(1)), "Forgetful"),
        (Late, "Late"),
    ],
)
def test_a_constructor_that_does_not_call_that_of_component(make, name):
    with pytest.raises(
        AssemblyError, match=rf"^{name} has no '.*': its constructor has not called super\(\)"
    ):
        make()
    assert not hasattr(Forgetful(1), "scope")
