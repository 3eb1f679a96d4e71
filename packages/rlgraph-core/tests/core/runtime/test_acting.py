"""Who runs the methods that act: NumPy beside the backend, by one rule, or whom the execution spec names."""

import numpy as np
import pytest

from rlgraph.components import Conv2D, Dense
from rlgraph.core import (
    CapabilityError,
    Component,
    GraphExecutor,
    RLGraphError,
    SpecError,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.core.runtime.acting import NUMPY_ACTING_LIMIT
from rlgraph.spaces import FloatBox

STATES = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


class Actor(Component):
    """Two networks, of which `act` reads one."""

    def __init__(self, units=8, scope="actor"):
        self.network, self.critic = Dense(units, scope="network"), Dense(units, scope="critic")
        super().__init__(self.network, self.critic, scope=scope)

    def create_variables(self, input_spaces, action_space=None):
        self.bias = self.get_variable("bias", FloatBox(shape=(1,)), initializer=0.5)

    @rlgraph_api
    def act(self, states):
        return self.network.call(states)

    @rlgraph_api
    def act_thrice(self, states):
        return loop(3, lambda _, x: self._narrow(self.network.call(x)), states)

    @rlgraph_api
    def judge(self, states):
        return self.critic.call(states)

    @rlgraph_api
    def learn(self, states):
        return self._write(self.network.call(states))

    @graph_fn
    def _narrow(self, ops, x):
        return x[:, :4]

    @graph_fn
    def _write(self, ops, x):
        ops.assign(self.bias, ops.mean(x, axis=0)[:1])
        return x


def executor(backend, units=8, root=None, **execution):
    spaces = {"states": FloatBox(shape=(4,), add_batch_rank=True)}
    return GraphExecutor(
        root or Actor(units), spaces, backend=backend, execution_spec={"seed": 3, **execution}
    )


def lowered(made):
    """Names of the methods of which the backend itself has made a program, from now on."""
    names, lower = [], made.backend.lower

    def noting(plan, *rest):
        names.append(plan.name)
        return lower(plan, *rest)

    made.backend.lower = noting
    return names


def test_nothing_acts_unless_it_is_said(backend):
    made = executor(backend)
    names = lowered(made)
    made.execute("act", STATES)
    assert names == ["act"]
    assert (made.acting, made.choices.get("acting")) == ("backend", None)


def test_small_networks_act_on_numpy(backend):
    made = executor(backend, acting_methods=["act", "act_thrice"])
    names = lowered(made)
    found = [made.execute(method, STATES) for method in ("act", "act_thrice", "judge")]
    assert names == ["judge"]
    # What `act` reads: 4 x 8 weights and 8 biases. The critic has as many.
    assert (made.acting, made.choices["acting"]) == ("numpy", "numpy (40 parameters, no convolution)")
    weights = made.get_weights()
    layer = [weights[f"network/{name}"] for name in ("weights", "biases")]
    np.testing.assert_allclose(found[0], STATES @ layer[0] + layer[1], atol=1e-6)
    x = STATES
    for _ in range(3):
        x = (x @ layer[0] + layer[1])[:, :4]
    np.testing.assert_allclose(found[1], x, atol=1e-5)
    assert {"planning_seconds", "lowering_seconds"} <= set(made.statistics["methods"]["act"])


def test_it_sees_every_write(backend):
    made = executor(backend, acting_methods=["act"])
    made.set_weights({"network/weights": np.zeros((4, 8)), "network/biases": np.arange(8.0)})
    np.testing.assert_array_equal(made.execute("act", STATES), np.tile(np.arange(8.0), (3, 1)))


def test_large_networks_act_on_the_backend(backend):
    units = NUMPY_ACTING_LIMIT // 5
    assert executor(backend, units, acting_methods=["act"]).acting == "numpy"
    made = executor(backend, units + 1, acting_methods=["act"])
    assert (made.acting, made.choices["acting"]) == ("backend", "backend (200,005 parameters)")
    assert executor(backend, units + 1, acting_methods=["act"], act_on="numpy").acting == "numpy"


def test_what_writes_acts_on_the_backend(backend):
    made = executor(backend, acting_methods=["act", "learn"])
    assert (made.acting, made.choices["acting"]) == ("backend", "backend (it writes variables)")
    with pytest.raises(RLGraphError, match="'learn' writes variables: only read-only methods run"):
        executor(backend, acting_methods=["learn"], act_on="numpy")


class Looking(Component):
    """A convolution inside of a loop."""

    def __init__(self):
        self.network = Conv2D(1, 1, scope="network")
        super().__init__(self.network, scope="looking")

    @rlgraph_api
    def act(self, pictures):
        return loop(2, lambda _, x: self.network.call(x), pictures)


def test_convolutions_act_on_the_backend(backend):
    spaces = {"pictures": FloatBox(shape=(4, 4, 1), add_batch_rank=True)}
    made = GraphExecutor(Looking(), spaces, backend=backend, execution_spec={"acting_methods": ["act"]})
    assert made.choices["acting"] == "backend (it convolves)"


class Native(Component):
    """Cannot be run but by a kernel of torch."""

    @rlgraph_api
    def act(self, states):
        return self._double(states)

    @graph_fn(spaces=lambda self, states: states)
    def _double(self, ops, states): ...

    @_double.kernel("torch")
    def _torch_double(self, ops, states):
        return states * 2.0


def test_native_parts_act_on_the_backend():
    pytest.importorskip("torch")
    made = executor("torch", root=Native(scope="native"), acting_methods=["act"])
    assert (made.acting, made.choices["acting"]) == (
        "backend",
        "backend (a part of it has native kernels only)",
    )
    np.testing.assert_array_equal(made.execute("act", STATES), STATES * 2)
    with pytest.raises(CapabilityError, match="native._double has kernels for torch only"):
        executor("torch", root=Native(scope="native"), acting_methods=["act"], act_on="numpy")


def test_whom_the_spec_names(trainer):
    made = executor(trainer, acting_methods=["act"], act_on="backend")
    names = lowered(made)
    made.execute("act", STATES)
    assert names == ["act"]
    assert (made.acting, made.choices.get("acting")) == ("backend", None)


def test_several_calls_are_the_backends(backend):
    made = executor(backend, acting_methods=["act"])
    names = lowered(made)
    acted, judged = made.execute([("act", STATES), ("judge", STATES)])
    assert len(names) == 1
    for found, method in ((acted, "act"), (judged, "judge")):
        np.testing.assert_allclose(found, made.execute(method, STATES), atol=1e-6)


@pytest.mark.parametrize(
    ("execution", "said"),
    [
        ({"acting_methods": ["cat"]}, "execution_spec.acting_methods: no API method 'cat'.*'act'"),
        (
            {"acting_methods": "act"},
            "execution_spec.acting_methods: expected a list of API methods, given 'act'",
        ),
        ({"act_on": "gpu"}, "execution_spec.act_on: given 'gpu'"),
    ],
)
def test_wrong_execution_specs(backend, execution, said):
    with pytest.raises(SpecError, match=said):
        executor(backend, **execution)
