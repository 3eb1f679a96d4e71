"""What layers are told of training, through every component that is given observations."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import rlgraph.components
from rlgraph.components import (
    BatchApply,
    DeterministicPolicy,
    DuelingPolicy,
    IntrinsicCuriosityModule,
    NeuralNetwork,
    Policy,
    QPolicy,
    RandomNetworkDistillation,
    Residual,
    SACValueNetwork,
    SharedValueFunctionPolicy,
    Stack,
    SupervisedModel,
    Target,
    ValueFunction,
    VariationalAutoEncoder,
)
from rlgraph.components.common.observations import Observing
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

STATES = FloatBox(-1.0, 1.0, shape=(3,), add_batch_rank=True)
SEQUENCES = FloatBox(-1.0, 1.0, shape=(3,), add_batch_rank=True, add_time_rank=True, time_major=True)
CATEGORY, FLOATS = IntBox(3), FloatBox(-1.0, 1.0, shape=(2,))
PARTS = Dict(a=IntBox(2), b=FloatBox())


class Probe(Component):
    """Adds 100 in training, and keeps what it was told."""

    def __init__(self, scope="probe", **kwargs):
        self.told = []
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def call(self, inputs, training=None):
        self.told.append(training)
        return self._call(inputs, 100.0 if training else 0.0)

    @graph_fn
    def _call(self, ops, inputs, mark):
        return inputs + mark


PROBE = {"type": Probe}
LSTM = {"type": "lstm", "units": 3}


def pre(action_space):
    return [4], action_space, {"pre_network_spec": [PROBE]}


def graph():
    space = FloatBox(shape=(3,))
    return NeuralNetwork(inputs=space, outputs=Probe(scope="second")(Probe(scope="first")(space)))


#: Every class that is given observations, with probes in each of its places.
CLASSES = {
    Policy: lambda: Policy([PROBE, 4], CATEGORY),
    SharedValueFunctionPolicy: lambda: SharedValueFunctionPolicy([4, PROBE], FLOATS),
    QPolicy: lambda: QPolicy([PROBE, 4], CATEGORY),
    DuelingPolicy: lambda: DuelingPolicy([4, PROBE], CATEGORY, units_state_value_stream=4),
    DeterministicPolicy: lambda: DeterministicPolicy([PROBE, 4], FLOATS),
    ValueFunction: lambda: ValueFunction([PROBE, 4]),
    SACValueNetwork: lambda: SACValueNetwork([PROBE, 4, PROBE], [4, PROBE]),
}
#: Components in between that pass it on.
BETWEEN = {
    "adapter": lambda: Policy(*pre(CATEGORY)),
    "joint adapter": lambda: Policy(*pre(PARTS)),
    "adapter beside values": lambda: SharedValueFunctionPolicy(
        [4], FLOATS, action_adapter_spec={"pre_network_spec": [PROBE]}
    ),
    "residual": lambda: ValueFunction([Residual([PROBE, 3])]),
    "network": lambda: ValueFunction([NeuralNetwork([4, PROBE], scope="inner")]),
    "stack": lambda: ValueFunction([Stack({"type": "dense", "units": 4}, PROBE)]),
    "stack of stacks": lambda: ValueFunction([Stack(Stack({"type": "dense", "units": 4}, PROBE))]),
    "graph": lambda: ValueFunction(graph()),
    "recurrent policy": lambda: Policy([PROBE, LSTM, PROBE], CATEGORY),
    "recurrent values": lambda: ValueFunction([PROBE, LSTM, PROBE]),
    "recurrent q": lambda: QPolicy([NeuralNetwork([PROBE, LSTM], scope="inner")], CATEGORY),
    "recurrent critic": lambda: SACValueNetwork([4], [Residual([PROBE, LSTM], repeats=1)]),
    "recurrent stack": lambda: ValueFunction([Stack(PROBE, LSTM)]),
}
ALL = {kind.__name__: make for kind, make in CLASSES.items()} | BETWEEN


class Root(Component):
    """Calls the API methods of a part that take observations with one bundle."""

    def __init__(self, part, training, *others):
        self.part, self.training = part, training
        super().__init__(part, *others, scope="root")

    @rlgraph_api
    def run(self, states):
        given = {"states": {"states": states, "training": self.training}, "actions": self._actions(states)}
        given |= {"observations": given["states"], "next_observations": {"states": states}}
        called, off = {}, getattr(self.part, "followed", self.part).switched_off_apis
        for name, method in self.part.api_methods().items():
            names = [*inspect.signature(method).parameters][1:]
            if {"observations", "states"} & {*names[:1]} and name not in off:
                called[name] = getattr(self.part, name)(**{n: given[n] for n in names if n in given})
        return called

    def _actions(self, states):
        part = getattr(self.part, "followed", self.part)
        space = getattr(part, "action_space", FLOATS)
        return space.unflatten_sample(
            {path: self._zeros(states, box) for path, box in space.flatten().items()}
        )

    @graph_fn
    def _zeros(self, ops, states, box):
        return ops.zeros(
            (*ops.shape(states)[:-1], *box.shape), dtype=box.dtype if box.dtype == "int64" else "float"
        )


def probes(part):
    return [layer for layer in part.walk() if isinstance(layer, Probe)]


def test_every_class_is_here():
    for module in pkgutil.walk_packages(rlgraph.components.__path__, "rlgraph.components."):
        importlib.import_module(module.name)

    def below(kind):
        return {kind}.union(*map(below, kind.__subclasses__()))

    shipped = {k for k in below(Observing) if k.__module__.startswith("rlgraph.components")}
    made = {k.__qualname__ for k in shipped if "scope" in inspect.signature(k.__init__).parameters}
    assert made == {kind.__qualname__ for kind in CLASSES}


@pytest.mark.parametrize("training", [True, None, False])
@pytest.mark.parametrize("name", ALL)
def test_layers_are_told(name, training):
    part = ALL[name]()
    states = SEQUENCES if "recurrent" in name else STATES
    ComponentTest(Root(part, training), {"states": states}, backend="numpy")
    for each in probes(part):
        # Values of next states, and those for targets, do not train.
        assert {training} <= set(each.told) <= {training, None}, each
    assert probes(part)


@pytest.mark.parametrize("name", ["SACValueNetwork", "adapter", "recurrent values"])
def test_they_compute_with_it(name, backend):
    """The value of each backend, of a layer that adds 100."""
    states = SEQUENCES if "recurrent" in name else STATES
    found = []
    for training in (True, None):
        test = ComponentTest(Root(ALL[name](), training), {"states": states}, backend=backend, seed=1)
        found.append(
            test.executor.execute("run", np.zeros((*[2] * (1 + (states is SEQUENCES)), 3), np.float32))
        )
    key = {"SACValueNetwork": "state_action_value", "adapter": "get_adapter_outputs"}.get(
        name, "value_output"
    )
    trained, evaluated = (each[key] for each in found)
    if name == "adapter":
        trained, evaluated = trained["adapter_outputs"], evaluated["adapter_outputs"]
    assert np.abs(trained - evaluated).max() > 0.1


@pytest.mark.parametrize("name", [kind.__name__ for kind in CLASSES])
def test_target_networks_never_train(name):
    source = ALL[name]()
    target = Target(source)
    ComponentTest(Root(target, True, source), {"states": STATES}, backend="numpy")
    told = [each.told for each in probes(target)]
    assert told and all(set(each) == {None} for each in told)


def test_a_frozen_layer_never_trains():
    frozen, trained = Probe("frozen", trainable=False), Probe("trained")
    part = ValueFunction([frozen, 4, trained])
    ComponentTest(Root(part, True), {"states": STATES}, backend="numpy")
    assert set(frozen.told) == {None} and True in trained.told


@pytest.mark.parametrize("model", ["supervised", "label", "rnd", "icm"])
def test_models_train_in_their_update_only(model, trainer):
    actions = FloatBox(-1.0, 1.0, shape=(2,), add_batch_rank=True)
    part, spaces = {
        "supervised": lambda: (
            SupervisedModel(
                {"network_spec": [PROBE, {"type": "dense", "units": 2}]}, {"type": "euclidian_distance_loss"}
            ),
            {"inputs": STATES, "labels": actions},
        ),
        "label": lambda: (
            SupervisedModel({"network_spec": [PROBE], "label_space": FLOATS}),
            {"inputs": STATES, "labels": actions},
        ),
        "rnd": lambda: (RandomNetworkDistillation([PROBE, 4], 4), {"observations": STATES, "states": STATES}),
        "icm": lambda: (
            IntrinsicCuriosityModule([PROBE, 4], FLOATS, 4, [PROBE], [PROBE]),
            {"states": STATES, "actions": actions, "next_states": STATES},
        ),
    }[model]()
    rows = {name: space.sample(size=4, rng=np.random.default_rng(0)) for name, space in spaces.items()}
    test = ComponentTest(part, spaces, backend=trainer)
    trained = {each.scope_path for each in probes(part) if True in each.told}
    assert trained == {each.scope_path for each in probes(part) if "target" not in each.scope_path}
    first = [rows[name] for name in spaces if name != "states" or model == "icm"]
    losses = test.executor.execute("get_loss", *first), test.executor.execute("update", *first)
    assert abs(losses[0]["loss"] - losses[1]["loss"]) > 0.1


def test_an_auto_encoder_passes_it_on():
    part = VariationalAutoEncoder(2, [PROBE, 4], [{"type": "dense", "units": 3}, PROBE])

    class Elbo(Component):
        @rlgraph_api
        def run(self, inputs):
            return part.get_elbo(inputs, True, True), part.call(inputs, True, True)

    ComponentTest(Elbo(part, scope="root"), {"inputs": STATES}, backend="numpy")
    assert [set(each.told) for each in probes(part)] == [{True}, {True}]


def test_what_folds_time_passes_it_on():
    part = BatchApply(Probe())

    class Applied(Component):
        @rlgraph_api
        def run(self, inputs):
            return part.call(inputs, True)

    ComponentTest(Applied(part, scope="root"), {"inputs": SEQUENCES}, backend="numpy")
    assert probes(part)[0].told == [True]
