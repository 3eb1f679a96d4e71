"""Derivatives of losses by their arguments."""

import numpy as np
import pytest

from rlgraph.core import BuildError, Component, GraphExecutor, gradients, graph_fn
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.probes import wiring


class Moved(Component):
    """The mean loss, where a variable is added to the argument `by`, a tensor."""

    def __init__(self, tried, by, shape):
        self.tried, self.by, self.shape = tried, by, shape
        super().__init__(tried, scope="moved")

    def create_variables(self, input_spaces, action_space=None):
        self.change = self.get_variable("change", FloatBox(shape=self.shape))

    @graph_fn
    def _move(self, ops, x):
        return x + self.change

    @graph_fn
    def _plain(self, ops, derivatives):
        return ops.reshape(derivatives[0], self.shape)


@pytest.fixture
def derivative():
    """``derivative(loss, spaces, arguments, by, backend)``: of the mean loss, or of the mean `part`."""

    def get(loss, spaces, arguments, by, backend, part="loss"):
        def call(self, **given):
            given[by] = self._move(given[by])
            return self._plain(gradients(self.tried.loss(**given)[part], self.variables()))

        names, shape = list(arguments), np.shape(arguments[by])
        root = type("Root", (Moved,), {"get": wiring(names, call)})(loss, by, shape)
        boxes = [name for name in names if isinstance(spaces[name], FloatBox) and spaces[name].has_batch_rank]
        size = len(arguments[boxes[0]])
        # A batch of fixed size, so that every item can be moved on its own.
        fixed = {
            name: spaces[name].with_batch_rank(size) if spaces[name].has_batch_rank else spaces[name]
            for name in names
        }
        executor = GraphExecutor(root, fixed, backend=backend)
        try:
            return executor.execute("get", **arguments)
        except BuildError as error:
            assert "the loss does not depend on any of the variables" in str(error)
            return np.zeros(shape)

    return get


@pytest.fixture
def padding_has_no_derivatives(derivative, trainer):
    """``check(make, spaces, arguments, *names)``: of two sequences ``[2, 2]`` the first one has one step."""

    def check(make, spaces, arguments, *names):
        spaces = {**spaces, "sequence_length": IntBox(add_batch_rank=True)}
        for name in names:
            found = derivative(make(), spaces, {**arguments, "sequence_length": [1, 2]}, name, trainer)
            assert np.isfinite(found).all()
            assert not found[1, 0].any()
            assert found[0, 0].any()

    return check
