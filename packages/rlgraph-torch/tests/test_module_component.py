"""A torch module as a component, against the module itself in a loop written by hand."""

import copy
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from rlgraph.components import Adam, Dense, QPolicy, Synchronizer
from rlgraph.core import BuildError, Component, GraphExecutor, InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.torch import ModuleComponent

STATES = FloatBox(shape=(4,), add_batch_rank=True)
RNG = np.random.default_rng(0)
BATCH = RNG.normal(size=(6, 4)).astype(np.float32)


def pretrained():
    """An encoder behind a few steps of training of its own."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        optimizer = torch.optim.Adam(encoder.parameters(), 0.01)
        for _ in range(3):
            optimizer.zero_grad()
            (encoder(torch.from_numpy(BATCH)) - 0.5).square().mean().backward()
            optimizer.step()
        optimizer.zero_grad()
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
    """A module behind the methods of its component."""

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
    return GraphExecutor(root, {argument: inputs}, backend="torch", execution_spec=execution)


def alone(module, inputs=STATES, root=Alone, dtype="float32", seed=0, **kwargs):
    return executor_of(root(module, **kwargs), inputs, "inputs", dtype=dtype, seed=seed)


# Values.


def test_it_computes_what_the_module_computes():
    encoder = pretrained()
    executor = alone(encoder)
    expected = encoder(torch.from_numpy(BATCH)).detach().numpy()
    np.testing.assert_array_equal(executor.execute("evaluate", BATCH), expected)
    assert {name: value.shape for name, value in executor.get_weights().items()} == {
        "part/0/weight": (8, 4),
        "part/0/bias": (8,),
    }
    assert str(executor.built.value_of(executor.built.graph.results_of("evaluate"))) == "float32[B, 8]"


def test_the_values_are_those_at_the_build_and_independent_of_the_module():
    encoder = pretrained()
    root = Learner(encoder)
    nn.init.constant_(encoder[0].weight, 0.25)  # after the component and its copy were made
    executor = executor_of(root)
    for name in ("policy", "target"):
        np.testing.assert_array_equal(
            executor.get_weights()[f"{name}/encoder/0/weight"], np.full((8, 4), 0.25)
        )
    before = copy.deepcopy(encoder.state_dict())
    executor.execute("step", BATCH)
    for name, value in encoder.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(
        isinstance(parameter, nn.Parameter) and parameter.grad is None for parameter in encoder.parameters()
    )
    assert encoder.training


def test_in_double_precision():
    encoder = pretrained()
    executor = alone(encoder, dtype="float64")
    expected = copy.deepcopy(encoder).double()(torch.from_numpy(BATCH.astype("float64"))).detach().numpy()
    np.testing.assert_array_equal(executor.execute("evaluate", BATCH), expected)
    assert executor.get_weights()["part/0/weight"].dtype == np.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_parameters_take_the_dtype_of_the_execution(dtype):
    layer = nn.Linear(4, 2).to(dtype)
    weights = alone(layer).get_weights()["part/weight"]
    np.testing.assert_array_equal(weights, layer.weight.detach().float().numpy())
    assert weights.dtype == np.float32


# Training.


@pytest.mark.parametrize("frozen", [False, True])
def test_training_is_that_of_a_loop_by_hand(frozen):
    encoder = pretrained()
    executor = executor_of(Learner(encoder, frozen=frozen))
    start = executor.get_weights()
    online, target = (nn.Sequential(copy.deepcopy(encoder), nn.Linear(8, 2)) for _ in range(2))
    for network, scope in ((online, "policy"), (target, "target")):
        network[1].weight.data.copy_(torch.from_numpy(start[f"{scope}/head/weights"].T))
        network[1].bias.data.copy_(torch.from_numpy(start[f"{scope}/head/biases"]))
    optimizer = torch.optim.Adam((online[1] if frozen else online).parameters(), 0.01)
    for step in range(10):
        optimizer.zero_grad()
        x = torch.from_numpy(BATCH)
        loss = (online(x) - 0.5 * target(x).detach() - 1.0).square().mean()
        loss.backward()
        optimizer.step()
        np.testing.assert_allclose(executor.execute("step", BATCH), loss.item(), rtol=1e-5, err_msg=str(step))
    trained = executor.get_weights()
    for name, value in (("weight", online[0][0].weight), ("bias", online[0][0].bias)):
        np.testing.assert_allclose(trained[f"policy/encoder/0/{name}"], value.detach().numpy(), atol=1e-5)
        np.testing.assert_array_equal(trained[f"target/encoder/0/{name}"], start[f"target/encoder/0/{name}"])
        same = np.array_equal(trained[f"policy/encoder/0/{name}"], start[f"policy/encoder/0/{name}"])
        assert same == frozen


def test_parameters_without_gradients_stay():
    encoder = pretrained()
    encoder[0].bias.requires_grad_(False)
    executor = executor_of(Learner(encoder))
    executor.execute("step", BATCH)
    trained = executor.get_weights()
    np.testing.assert_array_equal(trained["policy/encoder/0/bias"], encoder[0].bias.numpy())
    assert not np.array_equal(trained["policy/encoder/0/weight"], encoder[0].weight.detach().numpy())


def test_what_trains_together_lies_in_one_buffer():
    layout = executor_of(Learner(pretrained())).built.layout
    assert [
        (name.partition(":")[2], sorted(group.offsets))
        for name, group in layout.groups.items()
        if "policy/encoder/0/weight" in group.offsets or "target/encoder/0/weight" in group.offsets
    ] == [
        ("", [f"policy/{n}" for n in ("encoder/0/bias", "encoder/0/weight", "head/biases", "head/weights")]),
        (
            "copy:target",
            [f"target/{n}" for n in ("encoder/0/bias", "encoder/0/weight", "head/biases", "head/weights")],
        ),
    ]


def test_a_program_calls_the_module_and_nothing_else():
    """No copies around it, although the optimizer writes later what it has read."""
    source = executor_of(Learner(pretrained())).plan("step").source
    assert source.count("encoder__evaluate(states)") == 2
    assert "copy(" not in source


def test_synchronizing():
    executor = executor_of(Learner(pretrained()))
    executor.execute("step", BATCH)
    online, target = executor.execute("q", BATCH)
    assert not np.allclose(online, target)
    executor.execute("sync")
    np.testing.assert_array_equal(*executor.execute("q", BATCH))
    before = executor.execute("q", BATCH)[1]
    executor.execute("step", BATCH)
    np.testing.assert_array_equal(executor.execute("q", BATCH)[1], before)


def test_checkpoints_and_weights(tmp_path):
    first, second, third = (executor_of(Learner(pretrained()), seed=seed) for seed in (1, 2, 3))
    first.execute("step", BATCH)
    first.save(tmp_path / "checkpoint")
    second.load(tmp_path / "checkpoint")
    third.set_weights(first.get_weights())
    for other in (second, third):
        np.testing.assert_array_equal(first.execute("q", BATCH), other.execute("q", BATCH))
        np.testing.assert_array_equal(first.execute("step", BATCH), other.execute("step", BATCH))
        first.load(tmp_path / "checkpoint")


def test_back_into_a_module():
    encoder = pretrained()
    root = Learner(encoder)
    executor = executor_of(root)
    executor.execute("step", BATCH)
    trained = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
    root.policy.encoder.write_to(trained, executor.get_weights())
    np.testing.assert_array_equal(
        trained[0].weight.detach().numpy(), executor.get_weights()["policy/encoder/0/weight"]
    )
    assert not torch.equal(trained[0].weight, encoder[0].weight)
    root.policy.encoder.write_to(encoder, executor.get_weights())
    assert torch.equal(trained[0].weight, encoder[0].weight)
    with pytest.raises(InputError, match="weights lack policy/encoder/0/weight"):
        root.policy.encoder.write_to(trained, {"policy/encoder/0/weights": BATCH})
    with pytest.raises(InputError, match="the module has other tensors than the wrapped one"):
        root.policy.encoder.write_to(nn.Linear(4, 8), executor.get_weights())


def test_in_a_policy_of_the_library():
    policy = QPolicy([ModuleComponent(pretrained(), scope="encoder")], IntBox(3))
    executor = GraphExecutor(policy, {"observations": STATES}, backend="torch", action_space=IntBox(3))
    q_values = executor.execute("get_q_values", BATCH)["q_values"]
    np.testing.assert_array_equal(
        executor.execute("get_deterministic_action", BATCH)["action"], q_values.argmax(axis=1)
    )


def test_several_in_one_component():
    class Both(Component):
        def __init__(self):
            shared = pretrained()
            self.first = ModuleComponent(shared, scope="first")
            self.second = ModuleComponent(shared, scope="second")
            super().__init__(self.first, self.second, scope="both")

        @rlgraph_api
        def run(self, states):
            return self.first.call(states), self.first.call(states), self.second.call(states)

    executor = executor_of(Both())
    first, again, second = executor.execute("run", BATCH)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, again)
    assert executor.plan("run").source.count("__evaluate(") == 2  # equal calls are one
    executor.set_weights({"second/0/weight": np.zeros((8, 4), np.float32)})
    first, _, second = executor.execute("run", BATCH)
    assert not np.allclose(first, second)


# What modules hold and do in training.


def test_running_means():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Tanh())
    native = copy.deepcopy(module)
    executor = alone(module)
    for step in range(3):
        x = BATCH * (step + 1)
        native.train()
        np.testing.assert_allclose(
            executor.execute("train", x), native(torch.from_numpy(x)).detach().numpy(), atol=1e-6
        )
        native.eval()
        np.testing.assert_allclose(
            executor.execute("evaluate", x), native(torch.from_numpy(x)).detach().numpy(), atol=1e-6
        )
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            np.testing.assert_array_equal(
                executor.get_weights()[f"part/1/{name}"], native.state_dict()[f"1.{name}"].numpy()
            )
    assert executor.plan("train").writes == {
        f"part/1/{n}" for n in ("running_mean", "running_var", "num_batches_tracked")
    }
    assert executor.plan("evaluate").writes == frozenset()


class Twice(Component):
    """A loss of two calls of one module, in the given ways."""

    def __init__(self, module, ways):
        self.part, self.optimizer, self.ways = ModuleComponent(module, scope="part"), Adam(0.01), ways
        super().__init__(self.part, self.optimizer, scope="twice")

    @rlgraph_api
    def step(self, inputs):
        first, second = (getattr(self.part, way)(inputs) for way in self.ways)
        loss = self._loss(first, second)
        self.optimizer.step(self.part.variables(trainable_only=True), loss)
        return loss

    @graph_fn
    def _loss(self, ops, first, second):
        return ops.mean(ops.square(first - 1.0) + ops.square(second - 1.0))


@pytest.mark.parametrize("first", ["call", "call_in_training"])
def test_what_moves_running_means_comes_last_in_a_loss(first):
    module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    executor = executor_of(Twice(module, (first, "call_in_training")), argument="inputs")
    with pytest.raises(
        BuildError, match=f"part._train writes .* between part._{'evaluate' if first == 'call' else 'train'}"
    ):
        executor.execute("step", BATCH)


def test_evaluation_behind_training_in_one_loss():
    module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    native = copy.deepcopy(module)
    executor = executor_of(Twice(module, ("call_in_training", "call")), argument="inputs")
    optimizer = torch.optim.Adam(native.parameters(), 0.01)
    x = torch.from_numpy(BATCH)
    for _ in range(10):
        optimizer.zero_grad()
        outputs = [native.train(mode)(x) for mode in (True, False)]
        loss = sum((y - 1.0).square().mean() for y in outputs)
        loss.backward()
        optimizer.step()
        np.testing.assert_allclose(executor.execute("step", BATCH), loss.item(), rtol=1e-5)
    for name, value in native.state_dict().items():
        found = executor.get_weights()[f"part/{name.replace('.', '/')}"]
        np.testing.assert_allclose(found, value.numpy(), atol=1e-5)


class Averages(nn.Module):
    """Puts another tensor in the place of its buffer, in either mode."""

    def __init__(self):
        super().__init__()
        self.register_buffer("average", torch.zeros(4))
        self.register_buffer("constant", torch.ones(4))

    def forward(self, x):
        self.average = 0.5 * self.average + x.mean(0)
        return x - self.average * self.constant


def test_buffers_that_are_replaced():
    executor, native = alone(Averages()), Averages()
    for method in ("evaluate", "train", "evaluate"):
        np.testing.assert_allclose(
            executor.execute(method, BATCH), native(torch.from_numpy(BATCH)).numpy(), atol=1e-6
        )
        np.testing.assert_allclose(executor.get_weights()["part/average"], native.average.numpy(), atol=1e-6)
    assert executor.plan("evaluate").writes == {"part/average"}


def test_dropout_draws_from_the_stream_of_the_component():
    module = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5))
    first, second, other = (alone(module, seed=seed) for seed in (0, 0, 1))
    torch.manual_seed(7)
    before = torch.get_rng_state()
    drawn = [first.execute("train", BATCH) for _ in range(2)]
    assert torch.equal(torch.get_rng_state(), before)
    assert not np.array_equal(*drawn)
    torch.manual_seed(8)
    np.testing.assert_array_equal(drawn, [second.execute("train", BATCH) for _ in range(2)])
    assert not np.array_equal(drawn[0], other.execute("train", BATCH))
    kept = first.execute("evaluate", BATCH)
    for values in drawn:
        dropped = values == 0.0
        assert 0.3 < dropped.mean() < 0.7
        np.testing.assert_allclose(values[~dropped], 2.0 * kept[~dropped], rtol=1e-5)
    assert first.plan("train").draws and not first.plan("evaluate").draws


def test_the_stream_is_part_of_a_checkpoint(tmp_path):
    module = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5))
    first, second = alone(module), alone(module)
    first.execute("train", BATCH)
    first.save(tmp_path / "checkpoint")
    second.load(tmp_path / "checkpoint")
    np.testing.assert_array_equal(first.execute("train", BATCH), second.execute("train", BATCH))


def test_inputs_are_left_alone():
    class Root(Evaluated):
        @rlgraph_api
        def evaluate(self, inputs):
            return self.part.call(inputs), self._same(inputs)

        @graph_fn
        def _same(self, ops, inputs):
            return inputs * 1.0

    given = BATCH.copy()
    rectified, same = alone(nn.ReLU(inplace=True), root=Root).execute("evaluate", given)
    np.testing.assert_array_equal(given, BATCH)
    np.testing.assert_array_equal(same, BATCH)
    np.testing.assert_array_equal(rectified, np.maximum(BATCH, 0.0))


def test_tied_parameters_are_one_variable():
    module = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    module[1].weight = module[0].weight
    executor = alone(module)
    assert list(executor.get_weights()) == ["part/0/weight"]
    weights = np.arange(16, dtype=np.float32).reshape(4, 4) / 10
    executor.set_weights({"part/0/weight": weights})
    np.testing.assert_allclose(executor.execute("evaluate", BATCH), BATCH @ weights.T @ weights.T, rtol=1e-5)


def test_a_view_of_a_parameter_is_returned_as_a_copy():
    class Gaussian(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.log_std = nn.Linear(4, 2), nn.Parameter(torch.zeros(2))

        def forward(self, x):
            return {"mean": self.mean(x), "log_std": self.log_std.expand(x.shape[0], 2)}

    executor = alone(Gaussian(), root=Evaluated)
    found = executor.execute("evaluate", BATCH)
    assert found["mean"].shape == found["log_std"].shape == (6, 2)
    executor.set_weights({"part/log_std": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found["log_std"], np.zeros((6, 2)))
    effects = next(e for e in executor.built.effects.values() if e.reads)
    assert effects.aliases == (frozenset({"part/log_std"}),)


# Spaces.


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)
        self.offset = torch.ones(3)  # neither parameter nor buffer

    def forward(self, states, more):
        y = self.layer(torch.cat([states, more["actions"]], -1)) + self.offset
        return y, y.argmax(-1), y[:, :2] > 0


def test_several_inputs_and_outputs():
    inputs = Tuple(STATES, Dict({"actions": FloatBox(shape=(2,), add_batch_rank=True)}))
    module = Fusion()
    executor = alone(module, inputs, root=Evaluated)
    more = {"actions": RNG.normal(size=(6, 2)).astype(np.float32)}
    found = executor.execute("evaluate", (BATCH, more))
    expected = module(torch.from_numpy(BATCH), {"actions": torch.from_numpy(more["actions"])})
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other.detach().numpy())
    shown = executor.built.value_of(executor.built.graph.results_of("evaluate"))
    assert str(shown) == "(float32[B, 3], int64[B], bool[B, 2])"


def test_sequences():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(4, 3, batch_first=True)

        def forward(self, x):
            y, (h, _) = self.lstm(x)
            return y, h[-1]

    module = Last()
    sequences = FloatBox(shape=(4,), add_batch_rank=True, add_time_rank=True)
    executor = alone(module, sequences, root=Evaluated)
    x = RNG.normal(size=(5, 7, 4)).astype(np.float32)
    for one, other in zip(executor.execute("evaluate", x), module(torch.from_numpy(x)), strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), atol=1e-6)
    shown = executor.built.value_of(executor.built.graph.results_of("evaluate"))
    assert str(shown) == "(float32[B, T, 3], float32[B, 3])"


@pytest.mark.parametrize(
    ("module", "inputs", "expected"),
    [
        (nn.Embedding(5, 3), IntBox(5, add_batch_rank=True), "float32[B, 3]"),
        (nn.Conv2d(3, 4, 3), FloatBox(shape=(3, 8, 8), add_batch_rank=True), "float32[B, 4, 6, 6]"),
        (nn.Flatten(), FloatBox(shape=(3, 2), add_batch_rank=True), "float32[B, 6]"),
        (nn.Linear(4, 2), FloatBox(shape=(4,)), "float32[2]"),
        (nn.Linear(4, 2), FloatBox(shape=(4,), add_batch_rank=32), "float32[32, 2]"),
        (
            nn.Linear(4, 2),
            FloatBox(shape=(4,), add_batch_rank=True, add_time_rank=True, time_major=True),
            "float32[T, B, 2]",
        ),
    ],
)
def test_output_spaces(module, inputs, expected):
    executor = alone(module, inputs, root=Evaluated)
    assert str(executor.built.value_of(executor.built.graph.results_of("evaluate"))) == expected
    x = inputs.sample(size=(32,) if inputs.batch_rank == 32 else None, rng=np.random.default_rng(0))
    found = executor.execute("evaluate", x)
    np.testing.assert_allclose(found, module(torch.from_numpy(np.asarray(x))).detach().numpy(), atol=1e-6)


def test_a_given_output_space():
    """For a module that cannot be run on shapes alone."""

    class Looking(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x):
            if float(x.sum()) > 0.0:
                self.count += 1.0
            return x.sum(1)

    executor = alone(Looking(), output_space=FloatBox(add_batch_rank=True))
    np.testing.assert_allclose(executor.execute("train", np.ones((2, 4))), [4.0, 4.0])
    assert executor.get_weights()["part/count"] == 1.0
    assert executor.plan("train").writes == {"part/count"}
    with pytest.raises(BuildError, match="the wrapped Looking fails on .*: NotImplementedError|RuntimeError"):
        alone(Looking())


# Mistakes.


class Strange(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.function = forward

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (
            lambda x: (x, None),
            "its output[1] is None: it must return tensors, or dicts and tuples of tensors",
        ),
        (
            lambda x: x.double(),
            "its output is float64, and the execution is in float32: cast it in the module",
        ),
        (lambda x: x.to(torch.int8), "its output is int8, which no Space has: cast it in the module"),
        (lambda x: x.T, "its output has the shape [4, 2] for a batch of 2 and [4, 5] for one of 5"),
        (
            lambda x: torch.cat([x, x]),
            "its output has the shape [4, 4] for a batch of 2 and [10, 4] for one of 5",
        ),
        (lambda x: x @ x.T, "its output has the shape [2, 2] for a batch of 2 and [5, 5] for one of 5"),
    ],
)
def test_outputs_that_have_no_space(forward, message):
    with pytest.raises(
        BuildError, match=re.escape(f"part: the wrapped Strange cannot be a component: {message}")
    ):
        alone(Strange(forward), root=Evaluated)


def test_a_module_that_does_not_fit_its_input():
    with pytest.raises(
        BuildError, match=r"policy/encoder: the wrapped Linear fails on .*\(5,\).*: RuntimeError: "
    ) as error:
        executor_of(Learner(nn.Linear(4, 2)), FloatBox(shape=(5,), add_batch_rank=True))
    assert "called by" in str(error.value)


def test_on_another_backend():
    message = (
        "encoder._evaluate (a torch.nn.Module, which runs on PyTorch only) has no body and no kernel for 'numpy': "
        "build with backend='torch'"
    )
    with pytest.raises(BuildError, match=re.escape(message)):
        GraphExecutor(Policy(pretrained()), {"states": STATES}, backend="numpy")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            nn.Linear,
            "policy.module: expected a torch.nn.Module, given the class Linear: make one, Linear(...)",
        ),
        (torch.relu, "policy.module: expected a torch.nn.Module, given builtin_function_or_method"),
        ({"type": "dense"}, "policy.module: expected a torch.nn.Module, given dict {'type': 'dense'}"),
        (
            nn.Sequential(nn.Linear(3, 3), nn.LazyLinear(2)),
            "policy.module: 1.weight of Sequential has no shape yet: call the module once",
        ),
    ],
)
def test_what_is_no_module(module, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        ModuleComponent(module, scope="policy")


def test_a_scripted_module():
    class Scripted(nn.Module):
        """Hands out tensors that are not its own."""

        def __deepcopy__(self, memo):
            return pretrained()

    with pytest.raises(BuildError, match="part: Other hides its parameters"):
        alone(type("Other", (Scripted,), {})())


def test_complex_parameters():
    class Complex(nn.Module):
        def __init__(self):
            super().__init__()
            self.phase = nn.Parameter(torch.zeros(2, dtype=torch.complex64))

    with pytest.raises(
        BuildError, match="part: phase of the wrapped Complex is complex64, which variables do not support"
    ):
        alone(Complex())


@pytest.mark.slow
def test_importing_the_package_imports_no_framework():
    code = (
        "import sys, rlgraph.torch; assert 'torch' not in sys.modules; "
        "rlgraph.torch.ModuleComponent; assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    import rlgraph.torch

    with pytest.raises(AttributeError, match="has no attribute 'ModuleComponents'"):
        rlgraph.torch.ModuleComponents


def test_a_boolean_buffer():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.tensor([True, False, True, False]))

        def forward(self, x):
            return torch.where(self.mask, x, torch.zeros_like(x))

    executor = alone(Masked(), root=Evaluated)
    np.testing.assert_array_equal(executor.execute("evaluate", BATCH), BATCH * [1, 0, 1, 0])
    assert executor.built.variables["part/mask"].spec.to_space() == BoolBox(shape=(4,))
