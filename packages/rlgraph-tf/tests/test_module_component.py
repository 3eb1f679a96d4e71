"""A Keras layer as a component, against the layer itself in a loop written by hand."""

import re
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Adam, Dense, QPolicy, Synchronizer
from rlgraph.core import BuildError, Component, GraphExecutor, InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.tf import ModuleComponent

STATES = FloatBox(shape=(4,), add_batch_rank=True)
RNG = np.random.default_rng(0)
BATCH = RNG.normal(size=(6, 4)).astype(np.float32)
layers = keras.layers


def encoder_of(dtype="float32"):
    encoder = keras.Sequential([layers.Dense(8, activation="tanh", dtype=dtype)])
    encoder.build((None, 4))
    rng = np.random.default_rng(1)
    encoder.set_weights([rng.normal(size=weight.shape) for weight in encoder.get_weights()])
    return encoder


def pretrained():
    """An encoder behind a few steps of training of its own."""
    encoder = encoder_of()
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(encoder(BATCH) - 0.5))
        for weight, gradient in zip(
            encoder.trainable_variables, tape.gradient(loss, encoder.trainable_variables), strict=True
        ):
            weight.assign(weight - 0.1 * gradient)
    return encoder


class Policy(Component):
    def __init__(self, encoder, scope="policy", frozen=False, **kwargs):
        self.encoder = ModuleComponent(encoder, scope="encoder", trainable=not frozen)
        self.head = Dense(2, scope="head")
        super().__init__(self.encoder, self.head, scope=scope, **kwargs)

    @rlgraph_api
    def q(self, states):
        return self.head.call(self.encoder.call(states))


class Learner(Component):
    """A policy, a frozen copy of it, an optimizer and a synchronizer."""

    def __init__(self, encoder, frozen=False):
        self.policy = Policy(encoder, frozen=frozen)
        self.target = self.policy.copy(scope="target", trainable=False)
        self.optimizer, self.synchronizer = Adam(0.01), Synchronizer()
        super().__init__(self.policy, self.target, self.optimizer, self.synchronizer, scope="learner")

    @rlgraph_api
    def q(self, states):
        return self.policy.q(states), self.target.q(states)

    @rlgraph_api
    def step(self, states):
        loss = self._loss(self.policy.q(states), self.target.q(states))
        self.optimizer.step(self.policy.variables(trainable_only=True), loss)
        return loss

    @rlgraph_api
    def sync(self):
        return self.synchronizer.sync(self.policy.variables(), self.target.variables())

    @graph_fn
    def _loss(self, ops, q, q_target):
        return ops.mean(ops.square(q - 0.5 * q_target - 1.0))


class Alone(Component):
    """A layer behind the methods of its component."""

    def __init__(self, module, **kwargs):
        self.part = ModuleComponent(module, scope="part", **kwargs)
        super().__init__(self.part, scope="alone")

    @rlgraph_api
    def evaluate(self, inputs):
        return self.part.call(inputs)

    @rlgraph_api
    def train(self, inputs):
        return self.part.call_in_training(inputs)


class Evaluated(Alone):
    @rlgraph_api
    def train(self, inputs):
        return self.part.call(inputs)


def executor_of(root, inputs=STATES, argument="states", **execution):
    return GraphExecutor(root, {argument: inputs}, backend="tf", execution_spec=execution)


def alone(module, inputs=STATES, root=Alone, dtype="float32", seed=0, **kwargs):
    return executor_of(root(module, **kwargs), inputs, "inputs", dtype=dtype, seed=seed)


def shown(executor, method="evaluate"):
    return str(executor.built.value_of(executor.built.graph.results_of(method)))


# Values.


def test_it_computes_what_the_layer_computes():
    encoder = pretrained()
    executor = alone(encoder)
    np.testing.assert_allclose(executor.execute("evaluate", BATCH), encoder(BATCH), atol=1e-6)
    assert {name: value.shape for name, value in executor.get_weights().items()} == {
        "part/dense/kernel": (4, 8),
        "part/dense/bias": (8,),
    }
    assert shown(executor) == "float32[B, 8]"


def test_the_layer_stays_as_it_is():
    encoder = pretrained()
    before = encoder.get_weights()
    executor = executor_of(Learner(encoder))
    executor.execute("step", BATCH)
    for one, other in zip(encoder.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_in_double_precision():
    encoder = encoder_of("float64")
    executor = alone(encoder, dtype="float64")
    x = BATCH.astype("float64")
    np.testing.assert_allclose(executor.execute("evaluate", x), encoder(x), rtol=1e-12)
    assert executor.get_weights()["part/dense/kernel"].dtype == np.float64
    with pytest.raises(
        BuildError, match="part: dense/kernel of the wrapped Sequential is float32, and the execution"
    ):
        alone(encoder_of(), dtype="float64")


def test_mixed_precision():
    layer = layers.Dense(3, dtype="mixed_float16")
    executor = alone(layer)
    assert shown(executor) == "float32[B, 3]"
    found = executor.execute("evaluate", BATCH)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.asarray(layer(BATCH), np.float32))


# Training.


@pytest.mark.parametrize("frozen", [False, True])
def test_training_is_that_of_a_loop_by_hand(frozen):
    encoder = pretrained()
    executor = executor_of(Learner(encoder, frozen=frozen))
    start = executor.get_weights()
    twin, head, target_head = encoder_of(), layers.Dense(2), layers.Dense(2)
    twin.set_weights(encoder.get_weights())
    for dense, scope in ((head, "policy"), (target_head, "target")):
        dense.build((None, 8))
        dense.set_weights([start[f"{scope}/head/weights"], start[f"{scope}/head/biases"]])
    # Keras adds epsilon ahead of the bias correction, Algorithm 1 of the paper behind it: 1e-12 is none of either.
    optimizer = keras.optimizers.Adam(0.01, epsilon=1e-12)
    trained = head.trainable_variables if frozen else twin.trainable_variables + head.trainable_variables
    optimizer.build(trained)
    wanted = target_head(encoder(BATCH)) * 0.5 + 1.0
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(head(twin(BATCH)) - wanted))
        optimizer.apply_gradients(zip(tape.gradient(loss, trained), trained, strict=True))
        np.testing.assert_allclose(executor.execute("step", BATCH), loss, rtol=1e-5)
    found = executor.get_weights()
    for name, weight in zip(("kernel", "bias"), twin.get_weights(), strict=True):
        np.testing.assert_allclose(found[f"policy/encoder/dense/{name}"], weight, atol=1e-5)
        np.testing.assert_array_equal(
            found[f"target/encoder/dense/{name}"], start[f"target/encoder/dense/{name}"]
        )
        same = np.array_equal(found[f"policy/encoder/dense/{name}"], start[f"policy/encoder/dense/{name}"])
        assert same == frozen


def test_layers_that_do_not_train_in_keras():
    encoder = keras.Sequential([layers.Dense(8, trainable=False), layers.Dense(8)])
    executor = executor_of(Learner(encoder))
    start = executor.get_weights()
    executor.execute("step", BATCH)
    trained = executor.get_weights()
    changed = {
        name for name in start if name.startswith("policy/encoder") and (start[name] != trained[name]).any()
    }
    assert changed == {"policy/encoder/dense_1/kernel", "policy/encoder/dense_1/bias"}


def test_synchronizing():
    executor = executor_of(Learner(pretrained()))
    executor.execute("step", BATCH)
    assert not np.allclose(*executor.execute("q", BATCH))
    executor.execute("sync")
    np.testing.assert_array_equal(*executor.execute("q", BATCH))


def test_checkpoints_and_weights(tmp_path):
    first, second, third = (executor_of(Learner(pretrained()), seed=seed) for seed in (1, 2, 3))
    first.execute("step", BATCH)
    first.save(tmp_path / "checkpoint")
    second.load(tmp_path / "checkpoint")
    third.set_weights(first.get_weights())
    for other in (second, third):
        np.testing.assert_array_equal(first.execute("q", BATCH), other.execute("q", BATCH))


def test_back_into_a_layer():
    encoder = pretrained()
    root = Learner(encoder)
    executor = executor_of(root)
    executor.execute("step", BATCH)
    root.policy.encoder.write_to(encoder, executor.get_weights())
    np.testing.assert_array_equal(
        encoder.get_weights()[0], executor.get_weights()["policy/encoder/dense/kernel"]
    )
    with pytest.raises(InputError, match="the module has other tensors than the wrapped one"):
        root.policy.encoder.write_to(layers.Dense(2), executor.get_weights())


def test_in_a_policy_of_the_library():
    policy = QPolicy([ModuleComponent(pretrained(), scope="encoder")], IntBox(3))
    executor = GraphExecutor(policy, {"observations": STATES}, backend="tf", action_space=IntBox(3))
    q_values = executor.execute("get_q_values", BATCH)["q_values"]
    np.testing.assert_array_equal(
        executor.execute("get_deterministic_action", BATCH)["action"], q_values.argmax(axis=1)
    )


# What layers hold and do in training.


def test_running_means():
    module = keras.Sequential([layers.Dense(3), layers.BatchNormalization(), layers.Activation("tanh")])
    executor = alone(module)
    for step in range(3):
        x = BATCH * (step + 1)
        np.testing.assert_allclose(executor.execute("train", x), module(x, training=True), atol=1e-6)
        np.testing.assert_allclose(executor.execute("evaluate", x), module(x, training=False), atol=1e-6)
        for variable in module.layers[1].non_trainable_variables:
            found = executor.get_weights()[f"part/batch_normalization/{variable.name}"]
            np.testing.assert_allclose(found, variable, rtol=1e-6)
    moving = {f"part/batch_normalization/moving_{name}" for name in ("mean", "variance")}
    assert executor.plan("train").writes == moving
    assert executor.plan("evaluate").writes == frozenset()


def test_training_through_running_means():
    """A step writes the means once, and the program still differentiates."""

    class Root(Alone):
        def __init__(self, module):
            super().__init__(module)
            self.optimizer = Adam(0.01)
            self.add_components(self.optimizer)

        @rlgraph_api
        def step(self, inputs):
            loss = self._loss(self.part.call_in_training(inputs))
            self.optimizer.step(self.part.variables(trainable_only=True), loss)
            return loss

        @graph_fn
        def _loss(self, ops, y):
            return ops.mean(ops.square(y - 1.0))

    executor = alone(keras.Sequential([layers.Dense(3), layers.BatchNormalization()]), root=Root)
    losses = [float(executor.execute("step", BATCH)) for _ in range(20)]
    assert losses[-1] < losses[0]
    # 20 steps of decay 0.99 from a variance of 1
    assert not np.allclose(executor.get_weights()["part/batch_normalization/moving_variance"], 1.0)


def test_dropout_draws_from_the_stream_of_the_component(tmp_path):
    module = keras.Sequential([layers.Dense(64), layers.Dropout(0.5)])
    first, second, other = (alone(module, seed=seed) for seed in (0, 0, 1))
    drawn = [first.execute("train", BATCH) for _ in range(2)]
    assert not np.array_equal(*drawn)
    np.testing.assert_array_equal(drawn, [second.execute("train", BATCH) for _ in range(2)])
    assert not np.array_equal(drawn[0], other.execute("train", BATCH))
    kept = first.execute("evaluate", BATCH)
    for values in drawn:
        dropped = values == 0.0
        assert 0.3 < dropped.mean() < 0.7
        np.testing.assert_allclose(values[~dropped], 2.0 * kept[~dropped], rtol=1e-5)
    assert first.plan("train").draws and not first.plan("evaluate").draws
    assert sorted(first.get_weights()) == ["part/dense/bias", "part/dense/kernel"]
    first.save(tmp_path / "checkpoint")
    other.load(tmp_path / "checkpoint")
    np.testing.assert_array_equal(first.execute("train", BATCH), other.execute("train", BATCH))


class Counting(keras.layers.Layer):
    """Writes in either mode, and refers to a constant of its own."""

    def __init__(self):
        super().__init__()
        self.count = self.add_weight(shape=(), name="count", initializer="zeros", trainable=False)
        self.scale = tf.constant(2.0)

    def call(self, x):
        self.count.assign(self.count + 1.0)
        return {"y": x * self.scale, "count": self.count + 0.0}


def test_what_a_layer_writes_itself():
    executor = alone(Counting())
    for number, method in enumerate(("evaluate", "train", "evaluate"), start=1):
        found = executor.execute(method, BATCH)
        np.testing.assert_array_equal(found["y"], BATCH * 2.0)
        assert found["count"] == number == executor.get_weights()["part/count"]
    assert executor.plan("evaluate").writes == {"part/count"}


# Names.


def test_names_do_not_depend_on_what_was_made_before():
    def make():
        inner = keras.Sequential([layers.Dense(2, name="mine_7"), layers.Dense(2)])
        return keras.Sequential([layers.Dense(3), layers.Dense(3), inner])

    expected = {
        *(f"part/dense{n}/{kind}" for n in ("", "_1") for kind in ("kernel", "bias")),
        *(f"part/sequential/{n}/{kind}" for n in ("mine_7", "dense") for kind in ("kernel", "bias")),
    }
    assert [set(alone(make()).get_weights()) for _ in range(2)] == [expected] * 2


def test_names_of_functional_models_and_of_single_layers():
    inputs = keras.Input((4,))
    model = keras.Model(inputs, layers.Dense(2)(layers.Dense(5)(inputs)))
    assert set(alone(model).get_weights()) == {
        f"part/dense{n}/{kind}" for n in ("", "_1") for kind in ("kernel", "bias")
    }
    assert set(alone(layers.Dense(2)).get_weights()) == {"part/kernel", "part/bias"}


def test_copies_of_a_layer_that_was_not_built():
    executor = executor_of(Learner(keras.Sequential([layers.Dense(8)])))
    weights = executor.get_weights()
    np.testing.assert_array_equal(
        weights["policy/encoder/dense/kernel"], weights["target/encoder/dense/kernel"]
    )


# Spaces.


@pytest.mark.parametrize(
    ("module", "inputs", "expected"),
    [
        (layers.Embedding(5, 3), IntBox(5, add_batch_rank=True), "float32[B, 3]"),
        (layers.Conv2D(4, 3), FloatBox(shape=(8, 8, 3), add_batch_rank=True), "float32[B, 6, 6, 4]"),
        (layers.Dense(2), FloatBox(shape=(4,), add_batch_rank=32), "float32[32, 2]"),
        (layers.LSTM(3), FloatBox(shape=(4,), add_batch_rank=True, add_time_rank=True), "float32[B, 3]"),
        (
            layers.LSTM(3, return_sequences=True),
            FloatBox(shape=(4,), add_batch_rank=True, add_time_rank=True),
            "float32[B, T, 3]",
        ),
    ],
)
def test_output_spaces(module, inputs, expected):
    executor = alone(module, inputs, root=Evaluated)
    assert shown(executor) == expected
    x = inputs.sample(size=(32,) if inputs.batch_rank == 32 else None, rng=np.random.default_rng(0))
    np.testing.assert_allclose(executor.execute("evaluate", x), module(np.asarray(x)), atol=1e-5)


def test_containers():
    inputs = {"a": keras.Input((4,), name="a"), "b": keras.Input((2,), name="b")}
    y = layers.Concatenate()([inputs["a"], inputs["b"]])
    model = keras.Model(inputs, [layers.Dense(2)(y), y])
    spaces = Dict({"a": STATES, "b": FloatBox(shape=(2,), add_batch_rank=True)})
    executor = alone(model, spaces, root=Evaluated)
    given = {"a": BATCH, "b": BATCH[:, :2]}
    for one, other in zip(executor.execute("evaluate", given), model(given), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert shown(executor) == "(float32[B, 2], float32[B, 6])"


# Mistakes.


def test_a_layer_that_does_not_fit_its_input():
    with pytest.raises(
        BuildError, match=r"policy/encoder: the wrapped Sequential fails on .*\(5,\).*: ValueError: "
    ):
        executor_of(Learner(pretrained()), FloatBox(shape=(5,), add_batch_rank=True))
    with pytest.raises(
        BuildError, match=r"part: the wrapped Conv2D cannot be built for .*\(4,\).*: ValueError: "
    ):
        alone(layers.Conv2D(3, 3))


def test_draws_from_the_generator_of_keras_itself():
    class Noise(keras.layers.Layer):
        def call(self, x):
            return x + keras.random.normal((4,))

    with pytest.raises(
        BuildError, match="part: the wrapped Noise changes a variable that is not its own: to draw"
    ):
        alone(Noise())


def test_on_another_backend():
    message = (
        "encoder._evaluate (a Keras layer, which runs on TensorFlow only) has no body and no kernel for 'numpy': "
        "build with backend='tf'"
    )
    with pytest.raises(BuildError, match=re.escape(message)):
        GraphExecutor(Policy(pretrained()), {"states": STATES}, backend="numpy")


class OfTorch:
    """What stands for a torch module."""


OfTorch.__module__ = "torch.nn.modules.linear"


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            layers.Dense,
            "p.module: expected a Keras layer or model, given the class Dense: make one, Dense(...)",
        ),
        (OfTorch(), "given the torch module OfTorch: use ModuleComponent of rlgraph.torch"),
        ({"type": "dense"}, "p.module: expected a Keras layer or model, given dict {'type': 'dense'}"),
    ],
)
def test_what_is_no_layer(module, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        ModuleComponent(module, scope="p")


def test_importing_the_package_imports_no_framework():
    code = "import sys, rlgraph.tf; assert not {'tensorflow', 'keras'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    import rlgraph.tf

    with pytest.raises(AttributeError, match="has no attribute 'ModuleComponents'"):
        rlgraph.tf.ModuleComponents
