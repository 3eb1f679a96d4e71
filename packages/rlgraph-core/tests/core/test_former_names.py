"""`time_percentage`, the former name of `progress`, in components, calls and Spaces of others."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from rlgraph.components import EpsilonGreedy
from rlgraph.core import AssemblyError, Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing import ComponentTest

FRACTION = FloatBox(0.0, 1.0)


class Half(Component):
    """Written before: its argument, its graph function and its hook have the former name."""

    def check_input_spaces(self, input_spaces, action_space=None):
        self.seen = input_spaces["time_percentage"], input_spaces.get("progress")

    @rlgraph_api
    def halve(self, time_percentage=None):
        return self._halve(time_percentage=time_percentage)

    @graph_fn
    def _halve(self, ops, time_percentage):
        return time_percentage / 2.0


class Around(Component):
    """Calls `Half` by one of the names."""

    def __init__(self, name):
        super().__init__(scope="around")
        self.name, self.half = name, Half(scope="half")
        self.add_components(self.half)

    @rlgraph_api
    def run(self, progress):
        return self.half.halve(**{self.name: progress})


@pytest.mark.parametrize("space", ["progress", "time_percentage", "halve.progress", "halve.time_percentage"])
def test_a_space_has_either_name(space):
    test = ComponentTest(Half(scope="half"), {space: FRACTION}, backend="numpy")
    test.test(("halve", 0.5), expected_outputs=0.25)
    assert test.component.seen == (FRACTION, FRACTION)
    assert list(inspect.signature(test.component.api_methods()["halve"]).parameters)[-1:] == ["progress"]


@pytest.mark.parametrize("name", ["progress", "time_percentage"])
def test_a_call_has_either_name(name):
    executor = GraphExecutor(Around(name), {"time_percentage": FRACTION}, backend="numpy")
    np.testing.assert_allclose(executor.execute("run", 0.5), 0.25)


def test_components_of_the_library_take_the_former_name():
    class Explore(Component):
        def __init__(self):
            super().__init__(scope="explore")
            self.exploration = EpsilonGreedy(IntBox(4), epsilon_spec=[1.0, 0.0])
            self.add_components(self.exploration)

        @rlgraph_api
        def act(self, actions, time_percentage):
            return self.exploration.get_action(actions, time_percentage=time_percentage)

    spaces = {"actions": IntBox(4, add_batch_rank=True), "time_percentage": FRACTION}
    test = ComponentTest(Explore(), spaces, action_space=IntBox(4), backend="numpy")
    test.test(("act", [np.arange(4), 1.0]), expected_outputs=np.arange(4))


def test_other_names_are_refused():
    with pytest.raises(AssemblyError, match=r"half.halve\(progress\): .*'time'"):
        GraphExecutor(Around("time"), {"progress": FRACTION}, backend="numpy")


def test_options_have_either_name():
    class Old(Component):
        @rlgraph_api(flatten_ops={"time_percentage"})
        def get(self, time_percentage):
            return time_percentage

        @graph_fn(space_of="time_percentage")
        def _read(self, ops, space, time_percentage): ...

        @_read.kernel("numpy")
        def _read_numpy(self, space, *, time_percentage):
            return time_percentage

    assert Old.api_method("get").options.flattens("progress")
    read = Old.graph_functions()["_read"]
    assert read.space_of == "progress" and read.kernels["numpy"](None, None, progress=3) == 3


@pytest.mark.parametrize("given", [{"progress": FRACTION, "time_percentage": FRACTION}])
def test_both_names_are_refused(given):
    with pytest.raises(
        AssemblyError, match="progress is given twice, once by its former name time_percentage"
    ):
        GraphExecutor(Half(scope="half"), given, backend="numpy")
