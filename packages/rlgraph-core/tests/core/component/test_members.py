"""API methods and graph functions of one instance, other names, and what may replace what."""

import inspect

import pytest

from rlgraph.core import AssemblyError, Component, GraphExecutor, graph_fn, rlgraph_api


class Base(Component):
    @rlgraph_api
    def run(self, x):
        return self._f(x)

    @graph_fn
    def _f(self, ops, x):
        return x * 2.0


class Made(Component):
    """What it computes is decided in the constructor."""

    def __init__(self, number, **kwargs):
        super().__init__(**kwargs)
        self.number = number

        @rlgraph_api(component=self)
        def run(self, x, y=1.0):
            return self._add(x, y)

        @graph_fn(component=self)
        def _add(self, ops, x, y):
            return x * self.number + y

        self.attached = run


def execute(root, *args):
    return GraphExecutor(root, {"x": float, "y": float}, backend="numpy").execute("run", *args)


def test_members_of_one_instance():
    one, two = Made(2.0, scope="one"), Made(3.0, scope="two")
    assert list(one.api_methods()) == ["run"]
    assert one.attached.name == "run"
    assert one.attached.component is one
    assert not Made.api_methods()
    assert type(one).__name__ == "Made"
    assert isinstance(one, Made)
    assert execute(one, 5.0, 1.0) == 11.0
    assert execute(two, 5.0) == 16.0


def test_a_copy_has_members_of_its_own():
    one = Made(2.0, scope="one")
    twin = one.copy(scope="twin")
    twin.number = 10.0
    assert execute(twin, 5.0) == 51.0
    assert execute(one, 5.0) == 11.0


def test_a_graph_function_has_the_signature_of_its_calls():
    assert str(inspect.signature(Made(2.0, scope="one")._add)) == "(x, y)"
    assert str(inspect.signature(Base(scope="base")._f)) == "(x)"


def test_names():
    class Named(Component):
        @rlgraph_api(name="run")
        def _wire(self, x):
            return self._helper(x)

        @graph_fn(name="_helper")
        def _compute(self, ops, x):
            return x + 1.0

    assert list(Named.api_methods()) == ["run"]
    assert list(Named.graph_functions()) == ["_helper"]
    assert GraphExecutor(Named(scope="root"), {"x": float}, backend="numpy").execute("run", 1.0) == 2.0
    instance = Component(scope="instance")
    method = rlgraph_api(component=instance, name="apply")(lambda self, x: x)
    assert method.name == "apply"
    assert list(instance.api_methods()) == ["apply"]


# Replacing.


def test_inheritance_needs_no_permission():
    class Sub(Base):
        @rlgraph_api
        def run(self, x):
            return self._f(self._f(x))

        @graph_fn
        def _f(self, ops, x):
            return x + 1.0

    assert GraphExecutor(Sub(scope="root"), {"x": float}, backend="numpy").execute("run", 1.0) == 3.0


def test_a_member_is_not_replaced_by_something_else():
    with pytest.raises(AssemblyError, match=r"Sub.run replaces the API method Base.run by .*decorate it"):
        type("Sub", (Base,), {"run": lambda self, x: x})
    with pytest.raises(AssemblyError, match=r"Sub._f replaces the graph function Base._f by"):
        type("Sub", (Base,), {"_f": rlgraph_api(lambda self, x: x)})


def test_a_name_that_is_taken():
    def other(self, x):
        return x

    with pytest.raises(
        AssemblyError,
        match="Sub: the API method .*other would replace the API method Base.run under the name 'run'",
    ):
        type("Sub", (Base,), {"other": rlgraph_api(name="run")(other)})
    with pytest.raises(AssemblyError, match="root: the API method .*ok_to_overwrite=True"):
        rlgraph_api(component=Base(scope="root"), name="run")(other)
    with pytest.raises(AssemblyError, match="would replace the attribute 'root' under the name 'scope'"):
        rlgraph_api(component=Base(scope="root"), name="scope")(other)
    replaced = type("Sub", (Base,), {"other": rlgraph_api(name="run", ok_to_overwrite=True)(other)})
    assert replaced.run.function is other
    instance = Base(scope="root")
    rlgraph_api(component=instance, name="run", ok_to_overwrite=True)(other)
    assert instance.api_method("run").function is other
    assert Base.run.function is not other


@pytest.mark.parametrize("function", [lambda self, x: x, lambda self, x, ops: x, lambda self: None])
def test_a_graph_function_takes_ops_first(function):
    with pytest.raises(
        AssemblyError, match=r"graph function .*lambda>\(self.*: its first parameter .* is ops"
    ):
        graph_fn(function)
    graph_fn(lambda self, _ops, x: x)  # not used
    graph_fn(lambda self, *arrays: arrays[0], host=True, spaces=float)
