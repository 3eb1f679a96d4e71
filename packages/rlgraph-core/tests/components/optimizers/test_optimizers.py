"""Every rule, limit and option against formulas on the whole history of gradients, which the tests choose."""

import math
from functools import partial

import numpy as np
import pytest

from rlgraph.components import SGD, Adadelta, Adagrad, Adam, AdamW, Nadam, Optimizer, RMSProp
from rlgraph.core import (
    AssemblyError,
    Component,
    GraphExecutor,
    NumericalError,
    SpecError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox, SpaceError

START = {
    "pair/left/bias": np.array([0.5, -1.0]),
    "pair/left/weights": np.array([[1.0, -2.0], [0.3, 0.0], [4.0, -0.1]]),
    "pair/right/weights": np.array([2.0, -3.0, 0.7, 1.1]),
}
#: Arguments of `learn`: the gradients.
NAMES = ("bias", "weights", "other")
SPACES = {name: FloatBox(shape=value.shape) for name, value in zip(NAMES, START.values(), strict=True)}


class Weights(Component):
    """Variables, and a loss whose gradients by them are its arguments."""

    def create_variables(self, input_spaces, action_space=None):
        self.all = [
            self.get_variable(path.rpartition("/")[2], FloatBox(shape=value.shape), initializer=value)
            for path, value in START.items()
            if path.startswith(f"{self.scope_path}/")
        ]

    @rlgraph_api
    def get_loss(self, gradients):
        return self._loss(gradients)

    @graph_fn
    def _loss(self, ops, gradients):
        terms = [ops.sum(x * gradient) for x, gradient in zip(self.all, gradients, strict=True)]
        return sum(terms[1:], start=terms[0])


class Learner(Component):
    """Two components of weights; with `shared`, another optimizer steps one of them, so that buffers fall apart."""

    def __init__(self, optimizer, shared=False):
        self.left, self.right = Weights(scope="left"), Weights(scope="right")
        self.pair = Component(self.left, self.right, scope="pair")
        self.optimizer, self.shared = optimizer, shared
        self.second = Adam(scope="second")
        super().__init__(self.pair, optimizer, *([self.second] if shared else []), scope="learner")

    @rlgraph_api
    def learn(self, bias, weights, other, progress=None):
        loss = self.get_loss(bias, weights, other)
        self.optimizer.step(self.pair.variables(), loss, progress)
        return loss

    @rlgraph_api
    def look(self, bias, weights, other):
        loss = self.get_loss(bias, weights, other)
        return self.optimizer.get_gradient_statistics(
            self.optimizer.calculate_gradients(self.pair.variables(), loss)
        )

    @rlgraph_api
    def learn_left(self, bias, weights, other):
        if self.shared:
            self.second.step(self.left.variables(), self.get_loss(bias, weights, other))

    def get_loss(self, bias, weights, other):
        return self._sum(self.left.get_loss((bias, weights)), self.right.get_loss((other,)))

    @graph_fn
    def _sum(self, ops, a, b):
        return a + b


def built(optimizer, backend, shared=False, dtype="float64", use_kernels=True, **spaces):
    execution = {"dtype": dtype, "use_kernels": use_kernels}
    return GraphExecutor(
        Learner(optimizer, shared), {**SPACES, **spaces}, backend=backend, execution_spec=execution
    )


def gradients(steps, seed=0):
    rng = np.random.default_rng(seed)
    return [[rng.normal(size=value.shape) * 3 for value in START.values()] for _ in range(steps)]


def weights_of(made):
    given = made.get_weights()
    return [given[name] for name in START]


def assert_weights(made, expected):
    for name, value, wanted in zip(START, weights_of(made), expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-11, err_msg=name)


def faded(history, decay):
    """``sum_i decay^(t - i) x_i``: what ``s <- decay s + x`` comes to, in closed form."""
    return sum(decay ** (len(history) - 1 - i) * x for i, x in enumerate(history))


def mean(history, decay):
    return (1 - decay) * faded(history, decay)


# What a step adds to `w`, by all gradients `g` up to it and all former changes `d`.


def sgd(w, g, d):
    return -0.1 * g[-1]


def momentum(w, g, d):
    """Sutskever et al. (2013), equations 1 and 2: v <- mu v - rate g, w <- w + v."""
    return -0.1 * faded(g, 0.9)


def nesterov(w, g, d):
    """Equations 3 and 4; what is stored is the point w + mu v at which the gradient is taken."""
    before, now = -0.1 * faded(g[:-1], 0.9), -0.1 * faded(g, 0.9)
    return now + 0.9 * now - 0.9 * before


def adam(w, g, d):
    """Kingma and Ba (2015), Algorithm 1."""
    t = len(g)
    first = mean(g, 0.8) / (1 - 0.8**t)
    second = mean([x**2 for x in g], 0.9) / (1 - 0.9**t)
    return -0.1 * first / (np.sqrt(second) + 1e-3)


def adamw(w, g, d):
    """Loshchilov and Hutter (2019), Algorithm 2, with a decay of 0.1 * 0.3."""
    return adam(w, g, d) - 0.1 * 0.3 * w


def nadam(w, g, d):
    """Dozat (2016), Algorithm 2 with a warm momentum."""
    t = len(g)
    mu = [0.8 * (1 - 0.5 * 0.96 ** (0.2 * i)) for i in range(1, t + 2)]
    ahead = mu[t] * mean(g, 0.8) / (1 - math.prod(mu))
    ahead = ahead + (1 - mu[t - 1]) * g[-1] / (1 - math.prod(mu[:t]))
    second = mean([x**2 for x in g], 0.9) / (1 - 0.9**t)
    return -0.1 * ahead / (np.sqrt(second) + 1e-3)


def adagrad(w, g, d):
    """Duchi et al. (2011), Figure 1."""
    return -0.1 * g[-1] / (np.sqrt(sum(x**2 for x in g)) + 1e-3)


def adagrad_from(w, g, d):
    return -0.1 * g[-1] / (np.sqrt(0.3 + sum(x**2 for x in g)) + 1e-3)


def adadelta(w, g, d):
    """Zeiler (2012), Algorithm 1; its step, times 0.5."""
    steps = mean([(x / 0.5) ** 2 for x in d], 0.9)
    return -0.5 * np.sqrt(steps + 1e-3) / np.sqrt(mean([x**2 for x in g], 0.9) + 1e-3) * g[-1]


def rmsprop(w, g, d):
    """Tieleman and Hinton (2012)."""
    return -0.1 * g[-1] / (np.sqrt(mean([x**2 for x in g], 0.9)) + 1e-2)


def rmsprop_inside(w, g, d):
    return -0.1 * g[-1] / np.sqrt(mean([x**2 for x in g], 0.9) + 1e-2)


def rmsprop_momentum(w, g, d):
    steps = [rmsprop(w, g[: i + 1], d) for i in range(len(g))]
    return faded(steps, 0.5)


def rmsprop_centered(w, g, d):
    deviation = np.sqrt(mean([x**2 for x in g], 0.9) - mean(g, 0.9) ** 2)
    return -0.1 * g[-1] / (deviation + 1e-2)


def rmsprop_of_graves(w, g, d):
    """Graves (2013), equations 38 to 45."""

    def scaled(g):
        return -0.1 * g[-1] / np.sqrt(mean([x**2 for x in g], 0.95) - mean(g, 0.95) ** 2 + 1e-4)

    return faded([scaled(g[: i + 1]) for i in range(len(g))], 0.9)


MOMENTS = {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
RULES = {
    sgd: partial(SGD, 0.1),
    momentum: partial(SGD, 0.1, momentum=0.9),
    nesterov: partial(SGD, 0.1, momentum=0.9, nesterov=True),
    adam: partial(Adam, 0.1, **MOMENTS),
    adamw: partial(AdamW, 0.1, weight_decay=0.3, **MOMENTS),
    nadam: partial(Nadam, 0.1, momentum_decay=0.2, **MOMENTS),
    adagrad: partial(Adagrad, 0.1, epsilon=1e-3),
    adagrad_from: partial(Adagrad, 0.1, initial_accumulator_value=0.3, epsilon=1e-3),
    adadelta: partial(Adadelta, 0.5, rho=0.9, epsilon=1e-3),
    rmsprop: partial(RMSProp, 0.1, decay=0.9, epsilon=1e-2),
    rmsprop_inside: partial(RMSProp, 0.1, decay=0.9, epsilon=1e-2, epsilon_inside_root=True),
    rmsprop_momentum: partial(RMSProp, 0.1, decay=0.9, epsilon=1e-2, momentum=0.5),
    rmsprop_centered: partial(RMSProp, 0.1, decay=0.9, epsilon=1e-2, centered=True),
    rmsprop_of_graves: partial(
        RMSProp, 0.1, decay=0.95, epsilon=1e-4, momentum=0.9, centered=True, epsilon_inside_root=True
    ),
}


def expected_of(rule, history):
    """The variables behind all steps."""
    result = []
    for number, start in enumerate(START.values()):
        w, g, changes = start, [step[number] for step in history], []
        for t in range(len(history)):
            changes.append(rule(w, g[: t + 1], changes))
            w = w + changes[-1]
        result.append(w)
    return result


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule(rule, trainer):
    made, history = built(RULES[rule](), trainer), gradients(3)
    for t, step in enumerate(history):
        made.execute("learn", *step)
        assert_weights(made, expected_of(rule, history[: t + 1]))


def test_the_first_numbers_of_some_rules(trainer):
    """Worked out by hand, for a gradient of 3 and then of -4, from a bias of 0.5."""
    zero = [np.zeros(value.shape) for value in START.values()][1:]
    for optimizer, first, second in (
        # 0.5 - 0.1 * 3; then the buffer is 0.9 * 3 - 4 = -1.3.
        (SGD(0.1, momentum=0.9), 0.2, 0.33),
        # 0.1 * 3 / 3; then 0.1 * 4 / sqrt(9 + 16).
        (Adagrad(0.1), 0.4, 0.48),
        # Mean squares 0.25 * 9 and 0.75 * 2.25 + 0.25 * 16 = 5.6875.
        (RMSProp(0.1, decay=0.75, epsilon=0.0), 0.3, 0.3 + 0.4 / math.sqrt(5.6875)),
    ):
        made = built(optimizer, trainer)
        for gradient, expected in ((3.0, first), (-4.0, second)):
            made.execute("learn", np.full(2, gradient), *zero)
            np.testing.assert_allclose(made.get_weights()["pair/left/bias"][0], expected, rtol=1e-8)


# Limits.


def norm(arrays):
    return math.sqrt(sum(float(x) ** 2 for array in arrays for x in array.reshape(-1)))


def clipped_naively(given, kind, limit):
    if kind == "clip_grad_value":
        return [np.array([max(-limit, min(limit, x)) for x in g.reshape(-1)]).reshape(g.shape) for g in given]
    norms = [norm(given)] * len(given) if kind == "clip_grad_norm" else [norm([g]) for g in given]
    return [g * (limit / n if n > limit else 1.0) for g, n in zip(given, norms, strict=True)]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("kind", "limit"),
    [("clip_grad_value", 2.0), ("clip_grad_norm_per_variable", 5.0), ("clip_grad_norm", 4.0)],
)
def test_limits_and_statistics(kind, limit, shared, trainer):
    made = built(SGD(1.0, **{kind: limit}), trainer, shared)
    values = list(START.values())
    # 2 elements of 3.5 (norm 4.9), 6 of them (8.6), 4 small ones.
    large = [np.array([3.5, -3.5]), np.full((3, 2), -3.5), np.array([0.1, -0.2, 0.3, -0.4])]
    fractions = {
        "clip_grad_value": 8 / 12,
        "clip_grad_norm_per_variable": 6 / 12,
        "clip_grad_norm": 1.0,
    }
    for scale, fraction in ((1.0, fractions[kind]), (0.1, 0.0)):
        given = [scale * g for g in large]
        statistics = made.execute("look", *given)
        np.testing.assert_allclose(statistics["global_norm"], norm(given), rtol=1e-12)
        np.testing.assert_allclose(statistics["clipped"], fraction, rtol=1e-12)
        assert statistics["norms"].keys() == {"pair/left", "pair/right"}
        np.testing.assert_allclose(statistics["norms"]["pair/left"], norm(given[:2]), rtol=1e-12)
        np.testing.assert_allclose(statistics["norms"]["pair/right"], norm(given[2:]), rtol=1e-12)
        made.execute("learn", *given)
        values = [w - g for w, g in zip(values, clipped_naively(given, kind, limit), strict=True)]
        for w, expected in zip(weights_of(made), values, strict=True):
            # The 1e-6 in the divisors of norms.
            np.testing.assert_allclose(w, expected, rtol=0, atol=2e-6)


def test_l2_penalty(trainer):
    """Its gradient comes after the limit: that of ``0.1 * sum(w ** 2) / 2``."""
    steep = [np.full(w.shape, 5.0) for w in START.values()]
    made = built(SGD(1.0, clip_grad_value=2.0, l2_penalty=0.1), trainer)
    made.execute("learn", *steep)
    assert_weights(made, [w - 2.0 - 0.1 * w for w in START.values()])
    made = built(Adam(0.1, clip_grad_value=2.0, l2_penalty=0.1, **MOMENTS), trainer)
    made.execute("learn", *steep)
    assert_weights(made, [w + adam(w, [2.0 + 0.1 * w], []) for w in START.values()])
    with pytest.raises(SpecError, match="optimizer.l2_penalty: expected a number >= 0, given -1"):
        Adam(l2_penalty=-1)


class StepsFirst(Learner):
    @rlgraph_api
    def look(self, bias, weights, other):
        variables = self.pair.variables()
        grads = self.optimizer.calculate_gradients(variables, self.get_loss(bias, weights, other))
        self.optimizer.apply_gradients(variables, grads)
        return self.optimizer.get_gradient_statistics(grads)


def test_a_step_leaves_the_gradients_as_they_are(trainer):
    """What looks at them behind the step sees them before they are clipped."""
    made = GraphExecutor(StepsFirst(Adam(0.1, clip_grad_norm=0.1)), SPACES, backend=trainer)
    given = gradients(1)[0]
    np.testing.assert_allclose(made.execute("look", *given)["global_norm"], norm(given), rtol=1e-5)


class Measuring(Learner):
    @rlgraph_api
    def look(self, bias, weights, other):
        loss = self.get_loss(bias, weights, other)
        return self.optimizer.measured_step(self.pair.variables(), loss)


@pytest.mark.parametrize("limit", [0.1, 1e3, None])
def test_a_measured_step(limit, trainer):
    """It is a step, and returns the norm before clipping, where that is needed anyway."""
    given = gradients(1)[0]
    made = GraphExecutor(Measuring(Adam(0.1, clip_grad_norm=limit)), SPACES, backend=trainer)
    plain = GraphExecutor(Learner(Adam(0.1, clip_grad_norm=limit)), SPACES, backend=trainer)
    measured = made.execute("look", *given)
    assert measured == ({} if limit is None else {"gradient_norm": pytest.approx(norm(given), rel=1e-5)})
    plain.execute("learn", *given)
    for one, other in zip(weights_of(made), weights_of(plain), strict=True):
        np.testing.assert_array_equal(one, other)


def test_statistics_without_a_limit(trainer):
    given = gradients(1)[0]
    statistics = built(SGD(0.1), trainer).execute("look", *given)
    np.testing.assert_allclose(statistics["global_norm"], norm(given), rtol=1e-12)
    assert statistics["clipped"] == 0.0


# Gradients that are not finite.


@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_skipped_steps(rule, use_kernels, trainer):
    """As if these steps had never been, whichever variable it is."""
    optimizer, history = RULES[rule](non_finite="skip"), gradients(2)
    made = built(optimizer, trainer, use_kernels=use_kernels)
    made.execute("learn", *history[0])
    before = made.get_weights()
    for number, bad in enumerate((math.nan, math.inf, -math.inf)):
        spoiled = [g.copy() for g in history[1]]
        spoiled[number].reshape(-1)[-1] = bad
        made.execute("learn", *spoiled)
    after = made.get_weights()
    assert int(after.pop("optimizer/skipped")) == 3
    assert int(before.pop("optimizer/skipped")) == 0
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)
    made.execute("learn", *history[1])
    assert_weights(made, expected_of(rule, history))
    assert int(made.get_weights()["optimizer/skipped"]) == 3


@pytest.mark.parametrize("rule", [momentum, adadelta], ids=lambda rule: rule.__name__)
def test_an_error_names_component_and_variable(rule, trainer):
    made, history = built(RULES[rule](non_finite="error"), trainer), gradients(2)
    made.execute("learn", *history[0])
    before = made.get_weights()
    spoiled = [history[1][0], np.full((3, 2), np.nan), history[1][2] * np.inf]
    with pytest.raises(NumericalError) as error:
        made.execute("learn", *spoiled)
    message = str(error.value)
    assert (
        "the gradient by pair/left/weights (component pair/left) is not finite; 2 of 3 variables" in message
    )
    assert "pair/left/weights, pair/right/weights. The step was skipped. Lower the learning rate" in message
    for name, value in made.get_weights().items():
        if name != "optimizer/skipped":
            np.testing.assert_array_equal(value, before[name], err_msg=name)
    made.execute("learn", *history[1])
    assert_weights(made, expected_of(rule, history))


def test_by_default_nothing_is_looked_at(trainer):
    made = built(SGD(0.1), trainer)
    made.execute("learn", np.full(2, np.nan), *gradients(1)[0][1:])
    assert np.isnan(made.get_weights()["pair/left/bias"]).all()


# Checkpoints and schedules.


@pytest.mark.parametrize(
    "rule", [momentum, adagrad, adadelta, nadam, rmsprop_of_graves], ids=lambda rule: rule.__name__
)
def test_slots_are_saved(rule, trainer, tmp_path):
    history = gradients(3)
    made, restored = built(RULES[rule](), trainer), built(RULES[rule](), trainer)
    for step in history[:2]:
        made.execute("learn", *step)
    made.save(tmp_path / "checkpoint")
    restored.execute("learn", *gradients(1, seed=5)[0])
    restored.load(tmp_path / "checkpoint")
    restored.execute("learn", *history[2])
    assert_weights(restored, expected_of(rule, history))


@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize("kind", [SGD, Adam])
def test_a_scheduled_rate(kind, use_kernels, trainer):
    """Each step is that of the rate 1, times the rate."""
    made = built(kind([0.1, 0.0]), trainer, use_kernels=use_kernels, progress=FloatBox())
    whole = built(kind(1.0), trainer, use_kernels=use_kernels)
    rates = ((0.0, 0.1), (0.25, 0.075), (1.0, 0.0), (0.5, 0.05))
    for step, (time, rate) in zip(gradients(4), rates, strict=True):
        before, start = weights_of(made), weights_of(whole)
        made.execute("learn", *step, time)
        whole.execute("learn", *step)
        changes = [after - old for after, old in zip(weights_of(whole), start, strict=True)]
        assert_weights(made, [w + rate * change for w, change in zip(before, changes, strict=True)])


def test_a_scheduled_rate_needs_the_time(trainer):
    with pytest.raises(AssemblyError, match="optimizer needs progress, the fraction of training done"):
        built(RMSProp([0.1, 0.0]), trainer)
    for space in (int, FloatBox(add_batch_rank=True), FloatBox(0.0, 100.0)):
        with pytest.raises(SpaceError, match="progress: expected the fraction of training"):
            built(RMSProp([0.1, 0.0]), trainer, progress=space)


def test_a_constant_rate_does_without_the_time(trainer):
    """It may be given all the same, and the plan is what it was: nothing is computed of it."""
    for spaces in ({}, {"progress": FloatBox()}):
        nodes = built(Adam(), trainer, **spaces).plan("learn").nodes
        calls = {node.function: dict(node.arguments) for node in nodes if hasattr(node, "function")}
        assert set(calls) == {"_loss", "_sum", "_apply"}
        assert set(calls["_apply"]) == {"variables", "gradients"}


# Wrong arguments.


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            SGD,
            {"clip_grad_norm": 1.0, "clip_grad_value": 0.5},
            "optimizer: expected one of clip_grad_norm, clip_grad_norm_per_variable and clip_grad_value, "
            "given 1.0, None and 0.5",
        ),
        (
            Adam,
            {"clip_grad_norm": 1.0, "clip_grad_norm_per_variable": 1.0},
            "optimizer: expected one of clip_grad_norm",
        ),
        (
            RMSProp,
            {"clip_grad_value": 0.0},
            "optimizer.clip_grad_value: expected a number > 0, or None, given 0.0",
        ),
        (
            RMSProp,
            {"clip_grad_norm_per_variable": -1},
            "optimizer.clip_grad_norm_per_variable: expected a number > 0, or None, given -1",
        ),
        (
            AdamW,
            {"non_finite": "skipp"},
            "optimizer.non_finite: expected one of ignore, skip, error, given 'skipp'",
        ),
        (Adagrad, {"learning_rate": -0.1}, "optimizer.learning_rate: expected a number >= 0, given -0.1"),
        (
            Adagrad,
            {"initial_accumulator_value": -1.0},
            "optimizer.initial_accumulator_value: expected a number >= 0, given -1.0",
        ),
        (Adadelta, {"rho": 1.0}, "optimizer.rho: expected a number in [0, 1), given 1.0"),
        (Adadelta, {"epsilon": True}, "optimizer.epsilon: expected a number >= 0, given True"),
        (Nadam, {"momentum_decay": -1.0}, "optimizer.momentum_decay: expected a number >= 0, given -1.0"),
        (AdamW, {"weight_decay": "some"}, "optimizer.weight_decay: expected a number >= 0, given 'some'"),
        (RMSProp, {"decay": 1}, "optimizer.decay: expected a number in [0, 1), given 1"),
        (RMSProp, {"momentum": 1.5}, "optimizer.momentum: expected a number in [0, 1), given 1.5"),
        (SGD, {"nesterov": True}, "optimizer.nesterov: expected a momentum above 0, given 0.0"),
    ],
)
def test_wrong_arguments(kind, options, message):
    with pytest.raises(SpecError) as error:
        kind(**options)
    assert message in str(error.value)


def test_a_spec_without_type_is_that_of_the_default(tmp_path):
    file = tmp_path / "optimizer.json"
    file.write_text('{"learning_rate": 0.5}')
    for spec, rate in ((None, 1e-3), ({"learning_rate": 0.5}, 0.5), (str(file), 0.5)):
        optimizer = Optimizer.from_spec(spec)
        assert type(optimizer) is Adam
        assert optimizer.learning_rate.value(0.0) == rate
    assert type(Optimizer.from_spec(str(file), default="rmsprop", scope="own")) is RMSProp
    assert type(Optimizer.from_spec({"type": "sgd"}, default="rmsprop")) is SGD
    assert type(Optimizer.from_spec("nadam", default="rmsprop")) is Nadam
    assert type(SGD.from_spec(None)) is SGD


# Optimizers of others.


class SignDescent(Optimizer):
    """With a rule, and a slot that may be left out."""

    def __init__(self, counts=True, **kwargs):
        self.counts = counts
        super().__init__(**kwargs)

    def declare_slots(self):
        return {"counts": 1.0 if self.counts else None}

    def rule(self, ops, rate, variable, gradient, count):
        return variable - rate * ops.sign(gradient), None if count is None else count + 1.0


class ByBlocks(Optimizer):
    """With a graph function of all blocks, and a method that happens to be called as a rule is."""

    def create_slots(self, variables):
        self.kept = self.get_slots("kept", variables)

    @graph_fn(returns=0)
    def _apply(self, ops, variables, gradients, learning_rate=None, finite=None):
        gradients, rate = self.prepared(ops, variables, gradients, learning_rate)
        for variable, gradient, kept in zip(variables, gradients, self.kept, strict=True):
            self.write(ops, finite, kept, gradient)
            self.write(ops, finite, variable, self.rule(variable, gradient, rate))

    def rule(self, variable, gradient, rate):
        return variable - rate * gradient


class ByBlocksAgain(ByBlocks):
    def rule(self, variable, gradient, rate):
        return variable + rate * gradient


class Uphill(Adam):
    def rule(self, ops, rate, variable, gradient, *state):
        return super().rule(ops, -rate, variable, gradient, *state)


class Slow(Adam):
    def advance(self, ops, finite):
        return tuple(10.0 * step for step in super().advance(ops, finite))


def test_an_optimizer_with_a_rule(trainer):
    step = gradients(1)[0]
    for optimizer in (SignDescent(learning_rate=0.5), SignDescent(counts=False, learning_rate=0.5)):
        made = built(optimizer, trainer)
        made.execute("learn", *step)
        expected = [w - 0.5 * np.sign(g) for w, g in zip(START.values(), step, strict=True)]
        assert_weights(made, expected)
        counts = [value for name, value in made.get_weights().items() if "/counts/" in name]
        assert len(counts) == (3 if optimizer.counts else 0) and all((value == 2.0).all() for value in counts)


def test_an_optimizer_with_a_graph_function(trainer):
    step = gradients(1)[0]
    for optimizer, sign in ((ByBlocks, -1.0), (ByBlocksAgain, 1.0)):
        made = built(optimizer(learning_rate=0.5), trainer)
        made.execute("learn", *step)
        assert_weights(made, [w + sign * 0.5 * g for w, g in zip(START.values(), step, strict=True)])
        np.testing.assert_array_equal(made.get_weights()["optimizer/kept/pair/left/bias"], step[0])


def test_a_kernel_does_not_replace_the_rule_of_a_subclass(trainer):
    step = gradients(1)[0]
    made = built(Uphill(0.1, **MOMENTS), trainer)
    made.execute("learn", *step)
    assert_weights(made, [w - adam(w, [g], []) for w, g in zip(START.values(), step, strict=True)])
    made = built(Slow(0.1, **MOMENTS), trainer)
    made.execute("learn", *step)
    first, second = 0.2 / (1 - 0.8**10), 0.1 / (1 - 0.9**10)
    expected = [
        w - 0.1 * first * g / (math.sqrt(second) * np.abs(g) + 1e-3)
        for w, g in zip(START.values(), step, strict=True)
    ]
    assert_weights(made, expected)


def test_an_optimizer_without_a_rule(trainer):
    message = "Optimizer has no rule: add a method rule, or a graph function _apply"
    with pytest.raises(NotImplementedError, match=message):
        built(Optimizer(), trainer)
