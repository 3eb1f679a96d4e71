"""What all distributions share: drawing, axes and ranks, derivatives of samples, bounds, errors."""

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import (
    Bernoulli,
    Beta,
    Categorical,
    Distribution,
    GumbelSoftmax,
    JointCumulativeDistribution,
    LogNormal,
    MixtureDistribution,
    MultivariateNormal,
    NegativeLogLikelihoodLoss,
    Normal,
    Policy,
    SquashedNormal,
)
from rlgraph.core import BuildError, Component, GraphExecutor, SpecError, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest
from rlgraph.testing.conformance.cases import Case
from rlgraph.testing.conformance.components import derived, samples

PAIR = FloatBox(shape=(2,), add_batch_rank=True)
NORMAL = Tuple(PAIR, PAIR)
ONE = FloatBox(add_batch_rank=True)


def make(distribution, parameters=NORMAL, values=PAIR, backend="numpy", **spaces):
    spaces = {"parameters": parameters, "other_parameters": parameters, "values": values, **spaces}
    return ComponentTest(distribution, spaces, backend=backend)


# Drawing.


def test_deterministic_is_a_bool_or_a_tensor(backend):
    parameters = (np.full((4, 2), 5.0, "float32"), np.ones((4, 2), "float32"))
    fixed = make(Normal(), backend=backend, deterministic=bool)
    fixed.test("draw", parameters, True, expected_outputs=parameters[0])
    assert (fixed.test("draw", parameters, False) != 5.0).all()
    values, log_probs = fixed.test("sample_and_log_prob", parameters, True)
    assert (values == 5.0).all()
    np.testing.assert_allclose(log_probs, 2.0 * stats.norm.logpdf(0.0), rtol=1e-6)

    by_row = make(SquashedNormal(0.0, 10.0), backend=backend, deterministic=FLAGS)
    flags = np.array([True, False, False, True])
    values = by_row.test("draw", parameters, flags)
    assert ((values == values[0]).all(axis=1) == flags).all()
    values, _ = by_row.test("sample_and_log_prob", parameters, flags)
    assert ((values == values[0]).all(axis=1) == flags).all()


FLAGS = Dict(x=bool, add_batch_rank=True)["x"]


class Wired(Component):
    """Draws with a bool of Python."""

    def __init__(self, distribution, deterministic):
        self.distribution, self.deterministic = distribution, deterministic
        super().__init__(distribution, scope="wired")

    @rlgraph_api
    def draw(self, parameters):
        return self.distribution.draw(parameters, self.deterministic)

    @rlgraph_api
    def draw_with_log_prob(self, parameters):
        return self.distribution.sample_and_log_prob(parameters, self.deterministic)


@pytest.mark.parametrize(
    "kind", [Normal, SquashedNormal, lambda: JointCumulativeDistribution(("normal", "normal"))]
)
@pytest.mark.parametrize("method", ["draw", "draw_with_log_prob"])
def test_a_bool_of_python_draws_only_what_is_asked_for(kind, method):
    parameters = NORMAL if kind in (Normal, SquashedNormal) else Tuple(NORMAL, NORMAL)
    for deterministic in (True, False):
        wired = Wired(kind(), deterministic)
        plan = GraphExecutor(wired, {"parameters": parameters}, backend="numpy").plan(method)
        called = {node.function for node in plan.nodes}
        assert ("_mode" in called or "_sample" not in str(called)) == deterministic
        assert any("_sample" in name for name in called) != deterministic


def test_without_a_word_a_draw_is_random():
    parameters = (np.zeros((4, 2), "float32"), np.ones((4, 2), "float32"))
    test = make(Normal())
    assert (test.test("draw", parameters) != 0.0).all()


# Axes and ranks.


def test_all_axes_of_an_action_are_summed_and_no_rank(backend):
    rng = np.random.default_rng(0)
    mean, stddev, values = rng.normal(size=(3, 5, 4, 2, 3)).astype("float32")
    stddev = np.exp(stddev)
    box = FloatBox(shape=(2, 3), add_batch_rank=True, add_time_rank=True, time_major=True)
    test = make(Normal(), Tuple(box, box), box, backend)
    expected = stats.norm.logpdf(values, mean, stddev).sum(axis=(2, 3))
    assert expected.shape == (5, 4)
    test.test("log_prob", (mean, stddev), values, expected_outputs=expected, decimals=3)
    test.test(
        "entropy", (mean, stddev), expected_outputs=stats.norm.entropy(mean, stddev).sum((2, 3)), decimals=4
    )
    assert test.test("kl_divergence", (mean, stddev), (values, stddev)).shape == (5, 4)
    assert test.test("draw", (mean, stddev)).shape == (5, 4, 2, 3)


def test_without_axes_nothing_is_summed(backend):
    box = FloatBox(add_batch_rank=True)
    test = make(Normal(), Tuple(box, box), box, backend)
    mean, stddev, values = np.array([[0.0, 1.0], [1.0, 2.0], [0.5, 0.5]], "float32")
    test.test(
        "log_prob",
        (mean, stddev),
        values,
        expected_outputs=stats.norm.logpdf(values, mean, stddev),
    )


def test_categories_of_an_array_of_actions(backend):
    rng = np.random.default_rng(0)
    logits, actions = rng.normal(size=(5, 3, 4)).astype("float32"), rng.integers(0, 4, (5, 3)).astype("int32")
    actions_space = IntBox(4, shape=(3,), dtype="int32", add_batch_rank=True)
    test = make(
        Categorical(dtype="int32"), FloatBox(shape=(3, 4), add_batch_rank=True), actions_space, backend
    )
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = [sum(np.log(p[b, k, actions[b, k]]) for k in range(3)) for b in range(5)]
    test.test("log_prob", logits, actions, expected_outputs=np.array(expected, "float32"), decimals=5)
    test.test("entropy", logits, expected_outputs=-(p * np.log(p)).sum((1, 2)), decimals=5)
    for drawn in (test.test("draw", logits), test.test("sample_deterministic", logits)):
        assert (drawn.dtype, drawn.shape) == ("int32", (5, 3))


def test_vectors_of_correlated_elements_in_an_array(backend):
    """Two vectors of three elements make one action."""
    rng = np.random.default_rng(0)
    mean, values = rng.normal(size=(2, 4, 2, 3)).astype("float32")
    lower = (np.tril(rng.normal(size=(4, 2, 3, 3)), -1) + np.eye(3)).astype("float32")
    covariance = lower @ np.swapaxes(lower, -1, -2)
    expected = [
        sum(
            stats.multivariate_normal.logpdf(values[b, k], mean[b, k], covariance[b, k].astype("float64"))
            for k in (0, 1)
        )
        for b in range(4)
    ]
    box, square = (FloatBox(shape=shape, add_batch_rank=True) for shape in ((2, 3), (2, 3, 3)))
    for distribution, spread in (
        (MultivariateNormal(False), lower),
        (MultivariateNormal(False, True), covariance),
    ):
        test = make(distribution, Tuple(box, square), box, backend)
        test.test("log_prob", (mean, spread), values, expected_outputs=np.array(expected), decimals=3)
        assert test.test("draw", (mean, spread)).shape == (4, 2, 3)


# Derivatives of samples.


POSITIVE = FloatBox(0.5, 1.5, shape=(2,), add_batch_rank=True)


class Shaped(Component):
    """Samples of beta distributions, and the derivatives of their sum by the parameters, which are variables."""

    def __init__(self):
        self.beta = Beta(-1.0, 2.0, reparameterize=True)
        super().__init__(self.beta, scope="shaped")

    def create_variables(self, input_spaces, action_space=None):
        self.shapes = [
            self.get_variable(name, FloatBox(shape=(4, 2)), initializer=value)
            for name, value in (("alpha", 1.5), ("beta", 0.8))
        ]

    @rlgraph_api
    def draw(self):
        return self.beta.draw(self._parameters())

    @rlgraph_api
    def derive(self):
        values = self.draw()
        return values, self._as_they_are(gradients(self._sum(values), self.variables()))

    @graph_fn
    def _parameters(self, ops):
        return tuple(1.0 * shape for shape in self.shapes)

    @graph_fn
    def _sum(self, ops, values):
        return ops.sum(values)

    @graph_fn
    def _as_they_are(self, ops, derivatives):
        return ops.concat([ops.reshape(one, (-1,)) for one in derivatives])


def test_samples_of_beta_are_differentiable(trainer):
    """With the probability of each sample fixed: by SciPy's quantile function."""
    executor = GraphExecutor(Shaped(), {}, backend=trainer, execution_spec={"dtype": "float64"})
    values, derivatives = executor.execute("derive")
    probability, h = stats.beta.cdf((values + 1.0) / 3.0, 1.5, 0.8), 1e-5
    by_alpha, by_beta = (
        3.0
        * (stats.beta.ppf(probability, 1.5 + a, 0.8 + b) - stats.beta.ppf(probability, 1.5 - a, 0.8 - b))
        / (2.0 * h)
        for a, b in ((h, 0.0), (0.0, h))
    )
    np.testing.assert_allclose(
        derivatives, np.concatenate([by_alpha.ravel(), by_beta.ravel()]), rtol=1e-5, atol=1e-6
    )


def test_who_learns_through_samples_is_told_which_have_no_derivatives():
    box = {"low": -1.0, "high": 1.0, "shape": (2,)}
    space = Dict(arm=FloatBox(**box), speed=FloatBox(), gear=IntBox(3))
    policy = Policy([{"type": "dense", "units": 2}], space)
    with pytest.raises(
        SpecError,
        match=r"^sac: .* which \S*arm, \S*gear cannot draw: .*'squashed_normal'.*'gumbel_soft",
    ):
        policy.distribution.check_reparameterized("sac")
    chosen = {"bounded_distribution_type": "squashed_normal", "discrete_distribution_type": "gumbel_softmax"}
    Policy(
        [{"type": "dense", "units": 2}], space, distributions_spec=chosen
    ).distribution.check_reparameterized("sac")
    with pytest.raises(SpecError, match="which beta cannot draw: "):
        Beta().check_reparameterized("sac")


def test_what_is_not_reparameterized_says_so(trainer):
    kinds = (Normal, SquashedNormal, GumbelSoftmax, LogNormal)
    assert [kind.reparameterized for kind in kinds] == [True] * 4
    assert [kind.reparameterized for kind in (Categorical, Bernoulli, MixtureDistribution)] == [False] * 3
    assert [Beta(reparameterize=flag).reparameterized for flag in (True, False)] == [True, False]
    joint = [
        JointCumulativeDistribution(specs).reparameterized for specs in (("normal", "beta"), ("normal",))
    ]
    assert joint == [False, True]
    spaces = {"parameters": Tuple(POSITIVE, POSITIVE)}
    case = Case(Beta, spaces, ("sample_stochastic",), by=("parameters",))
    executor = GraphExecutor(derived(case), spaces, backend=trainer)
    with pytest.raises(BuildError, match="the loss does not depend on any of the variables"):
        executor.execute("derivatives", **samples(case, "float32"))


# Bounds.


def test_a_bound_for_each_element(backend):
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 6.0])
    rng = np.random.default_rng(0)
    mean, stddev = rng.normal(size=(50, 2)).astype("float32"), np.full((50, 2), 0.5, "float32")
    test = make(SquashedNormal(low, [1.0, 6.0]), backend=backend)
    values, log_probs = test.test("sample_and_log_prob", (mean, stddev))
    assert ((values > low) & (values < high)).all()
    unit = 2.0 * (values.astype("float64") - low) / (high - low) - 1.0
    expected = stats.norm.logpdf(np.arctanh(unit), mean, stddev) - np.log(
        (1.0 - unit**2) * (high - low) / 2.0
    )
    np.testing.assert_allclose(log_probs, expected.sum(1), atol=1e-3)
    test.test(
        "sample_deterministic",
        (mean, stddev),
        expected_outputs=low + (np.tanh(mean) + 1) * (high - low) / 2,
        decimals=5,
    )

    test = make(Beta(low, high), backend=backend)
    shapes = (np.full((50, 2), 2.0, "float32"), np.full((50, 2), 3.0, "float32"))
    values = test.test("draw", shapes)
    assert ((values > low) & (values < high)).all()
    expected = stats.beta.logpdf(values.astype("float64"), 2.0, 3.0, loc=low, scale=high - low).sum(1)
    test.test("log_prob", shapes, values, expected_outputs=expected, decimals=4)


def test_far_out_nothing_is_infinite(backend):
    """In float32 the tanh of 20 is 1; its log-derivative is -38.6 nevertheless."""
    test = make(SquashedNormal(), backend=backend)
    mean, stddev = np.array([[20.0, -20.0]], "float32"), np.ones((1, 2), "float32")
    values, log_probs = test.test("sample_and_log_prob", (mean, stddev))
    np.testing.assert_array_equal(values, [[1.0, -1.0]])
    assert 70.0 < log_probs[0] < 80.0
    assert np.isfinite(test.test("log_prob", (mean, stddev), values)).all()
    assert np.isfinite(test.test("entropy", (mean, stddev))).all()
    beta = make(Beta(-1.0, 1.0), backend=backend)
    assert np.isfinite(beta.test("log_prob", (stddev + 1.0, stddev), values)).all()


def test_likelihoods_of_samples_and_of_their_values_near_the_bounds(backend):
    """They agree while values tell what was squashed; beyond, that of the sample is the right one."""
    test = make(SquashedNormal(), Tuple(ONE, ONE), ONE, backend)
    ratios = {}
    for mean in (-2.0, 0.0, 2.0, 8.0):
        parameters = (np.full(5000, mean, "float32"), np.full(5000, 0.5, "float32"))
        values, log_probs = test.test("sample_and_log_prob", parameters)
        ratios[mean] = np.abs(test.test("log_prob", parameters, values) - log_probs).max()
    assert max(ratios[mean] for mean in (-2.0, 0.0, 2.0)) < 1e-3
    assert ratios[8.0] > 1.0
    # The mean of -log p is the entropy, by the quadrature.
    np.testing.assert_allclose(
        -log_probs.mean(), test.test("entropy", parameters)[0], atol=5.0 * log_probs.std() / np.sqrt(5000)
    )


def test_one_bound_for_each_element(backend):
    """The first from 2 on, the second up to -1."""
    rng = np.random.default_rng(0)
    mean, stddev = rng.normal(size=(50, 2)).astype("float32"), np.full((50, 2), 0.5, "float32")
    test = make(LogNormal([2.0, None], [np.inf, -1.0]), backend=backend)
    values, log_probs = test.test("sample_and_log_prob", (mean, stddev))
    distances = np.stack([values[:, 0] - 2.0, -1.0 - values[:, 1]], 1).astype("float64")
    assert (distances > 0.0).all()
    expected = stats.lognorm.logpdf(distances, stddev, scale=np.exp(mean)).sum(1)
    np.testing.assert_allclose(log_probs, expected, atol=1e-4)
    test.test("log_prob", (mean, stddev), values, expected_outputs=expected, decimals=4)
    fixed = np.stack([2.0 + np.exp(mean[:, 0]), -1.0 - np.exp(mean[:, 1])], 1)
    test.test("sample_deterministic", (mean, stddev), expected_outputs=fixed, decimals=5)


def test_half_bounded_values_stay_within_and_finite_as_far_as_adapters_go(backend):
    """Means of 20 with a standard deviation of e^2, and values on the bound."""
    test = make(LogNormal(5.0), backend=backend)
    mean = np.tile(np.array([[20.0, -20.0]], "float32"), (5000, 1))
    stddev = np.full_like(mean, np.exp(2.0))
    values, log_probs = test.test("sample_and_log_prob", (mean, stddev))
    assert np.isfinite(values).all()
    assert np.isfinite(log_probs).all()
    assert (values >= 5.0).all()
    assert (values[:, 1] == 5.0).any()  # in single precision
    for spread in (stddev, np.full_like(mean, np.exp(-20.0))):
        assert np.isfinite(test.test("log_prob", (mean, spread), values)).all()
        assert np.isfinite(test.test("entropy", (mean, spread))).all()
    # What is on the bound counts as e^-20 away from it.
    at_the_bound = np.full((1, 2), 5.0, "float32")
    given = test.test("log_prob", (mean[:1], stddev[:1]), at_the_bound)
    expected = stats.lognorm.logpdf(np.exp(-20.0), np.exp(2.0), scale=np.exp([20.0, -20.0])).sum()
    np.testing.assert_allclose(given, expected, rtol=1e-5)


# Mistakes.


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (
            lambda: SquashedNormal(1.0, -1.0),
            r"squashed-normal: expected finite bounds low < high, given 1.0, -1",
        ),
        (lambda: SquashedNormal(0.0, np.inf), r"expected finite bounds"),
        (lambda: Beta([0.0, 0.0], [1.0, 1.0, 1.0]), r"beta: expected low and high to be numbers"),
        (
            lambda: LogNormal(0.0, 1.0),
            r"log-normal: expected one bound for each element, low or high, given 0.0",
        ),
        (lambda: LogNormal([0.0, None], [None, None]), r"log-normal: expected one bound for each element"),
        (
            lambda: LogNormal([0.0, 1.0], [np.inf] * 3),
            r"log-normal: expected low and high to be numbers of one",
        ),
        (lambda: LogNormal({}), r"log-normal: expected low and high to be numbers"),
        (lambda: Beta("a", 1.0), r"beta: expected low and high to be numbers"),
        (lambda: GumbelSoftmax(0.0), r"gumbel-softmax.temperature: expected a number > 0, given 0.0"),
        (lambda: GumbelSoftmax("hot"), r"gumbel-softmax.temperature: expected a number > 0, given 'hot'"),
        (lambda: Categorical("float32"), r"categorical.dtype: unknown 'float32'"),
        (lambda: MultivariateNormal(True, True), r"multivariate-normal: expected .* given both"),
        (lambda: MixtureDistribution([]), r"mixture.sub_distributions: expected a list of distributions"),
        (
            lambda: MixtureDistribution(["norml"]),
            r"sub_distributions\[0\].*unknown component 'norml'",
        ),
        (
            lambda: JointCumulativeDistribution({}),
            r"distribution_specs: expected a dict or tuple of distributions",
        ),
        (
            lambda: JointCumulativeDistribution({"a": {"b": "dense"}}),
            r"distribution_specs.a.b.type: 'dense' is a Dense",
        ),
        (
            lambda: JointCumulativeDistribution([JointCumulativeDistribution(["normal"], per_part=True)]),
            r"one number per part, but joint-cumulative-distribution has per_part=True",
        ),
    ],
)
def test_wrong_arguments(make_it, message):
    with pytest.raises(SpecError, match=message):
        make_it()


@pytest.mark.parametrize(
    ("distribution", "parameters", "message"),
    [
        (
            Normal(),
            PAIR,
            r"normal: parameters: expected a Tuple \(mean, stddev\) of FloatBoxes, given FloatBox",
        ),
        (
            Normal(),
            Tuple(PAIR, FloatBox(add_batch_rank=True)),
            r"mean, stddev of one shape, given \[2\], \[\]",
        ),
        (Categorical(), FloatBox(add_batch_rank=True), r"logits of shape \[..., categories\], given \[\]"),
        (Categorical(), IntBox(3, add_batch_rank=True), r"expected a FloatBox of logits, given IntBox"),
        (Beta([0.0] * 3, 1.0), NORMAL, r"expected shape \[3\], as low and high have, given \[2\]"),
        (LogNormal([0.0, 1.0, 2.0]), NORMAL, r"expected shape \[3\], as low and high have, given \[2\]"),
        (
            MultivariateNormal(False),
            NORMAL,
            r"expected mean \[..., D\] and spread \[..., D, D\], given \[2\] and",
        ),
        (MixtureDistribution(["normal"]), NORMAL, r"expected a Dict of \['categorical', 'parameters0'\]"),
    ],
)
def test_wrong_parameters(distribution, parameters, message):
    with pytest.raises((SpaceError, BuildError), match=message):
        make(distribution, parameters)


COLUMN = FloatBox(shape=(1,), add_batch_rank=True)
TRIPLE = FloatBox(shape=(3,), add_batch_rank=True)
STEPS = FloatBox(shape=(2,), add_batch_rank=True, add_time_rank=True, time_major=True)
DECIDED = "defined by the parameters, given"


@pytest.mark.parametrize(
    ("distribution", "parameters", "spaces", "message"),
    [
        (Normal(), Tuple(ONE, ONE), {"values": COLUMN}, rf"values: .* \[B\], {DECIDED} \[B, 1\]"),
        (Normal(), Tuple(ONE, ONE), {"values": FloatBox()}, rf"values: .* \[B\], {DECIDED} \[\]"),
        (Normal(), NORMAL, {"values": COLUMN}, rf"values: .* \[B, 2\], {DECIDED} \[B, 1\]"),
        (Normal(), NORMAL, {"values": STEPS}, rf"values: .* \[B, 2\], {DECIDED} \[T, B, 2\]"),
        (SquashedNormal(), Tuple(ONE, ONE), {"values": COLUMN}, rf"values: .* {DECIDED}"),
        (LogNormal(), Tuple(ONE, ONE), {"values": COLUMN}, rf"values: .* {DECIDED}"),
        (Beta(), Tuple(ONE, ONE), {"values": COLUMN}, rf"values: .* {DECIDED}"),
        (MultivariateNormal(), NORMAL, {"values": COLUMN}, rf"values: .* {DECIDED}"),
        (Bernoulli(), PAIR, {"values": BoolBox(add_batch_rank=True)}, rf"values: .* {DECIDED} \[B\]"),
        (
            Categorical(),
            PAIR,
            {"values": IntBox(2, shape=(1,), add_batch_rank=True)},
            rf"values: .* \[B\], {DECIDED} \[B, 1\]",
        ),
        (GumbelSoftmax(), PAIR, {"values": COLUMN}, rf"values: .* \[B, 2\], {DECIDED} \[B, 1\]"),
        (
            Categorical(),
            TRIPLE,
            {"values": IntBox(3, add_batch_rank=True), "other_parameters": COLUMN},
            rf"other_parameters: .* \[B, 3\], {DECIDED} \[B, 1\]",
        ),
        (
            GumbelSoftmax(),
            TRIPLE,
            {"values": TRIPLE, "other_parameters": COLUMN},
            rf"other_parameters: .* {DECIDED}",
        ),
        (Bernoulli(), PAIR, {"other_parameters": ONE}, rf"other_parameters: .* {DECIDED}"),
        *(
            (kind(), NORMAL, {"other_parameters": Tuple(PAIR, COLUMN)}, rf"other_parameters: .* {DECIDED}")
            for kind in (Normal, SquashedNormal, LogNormal, Beta, MultivariateNormal)
        ),
        (Normal(), NORMAL, {"other_parameters": PAIR}, "other_parameters: expected mean, stddev, given 1"),
    ],
)
def test_other_shapes_are_not_spread_over_all_pairs(distribution, parameters, spaces, message):
    values = (
        {"values": BoolBox(shape=(2,), add_batch_rank=True)} if isinstance(distribution, Bernoulli) else {}
    )
    with pytest.raises(SpaceError, match=f"{distribution.scope}: {message}"):
        make(distribution, parameters, **{**values, **spaces})


@pytest.mark.parametrize(
    ("distribution", "parameters", "values", "kind"),
    [
        (Normal(), NORMAL, IntBox(3, shape=(2,), add_batch_rank=True), "float"),
        (Categorical(), TRIPLE, FloatBox(add_batch_rank=True), "int"),
        (Bernoulli(), PAIR, PAIR, "bool"),
    ],
)
def test_values_of_another_kind(distribution, parameters, values, kind):
    """No category is 2.7, and 0.3 is not true."""
    with pytest.raises(
        SpaceError, match=f'{distribution.scope}: values: expected {kind}.*"to_dtype": "{kind}"'
    ):
        make(distribution, parameters, values=values)


def test_users_of_distributions_refuse_them_too():
    policy = Policy([{"type": "dense", "units": 3}], FloatBox())
    spaces = {"observations": PAIR, "actions": COLUMN, "deterministic": bool}
    with pytest.raises(SpaceError, match=rf"distribution: values: .* {DECIDED} \[B, 1\]"):
        ComponentTest(policy, spaces, backend="numpy")
    spaces = {"parameters": Tuple(ONE, ONE), "labels": COLUMN}
    with pytest.raises(SpaceError, match=rf"normal: values: .* {DECIDED} \[B, 1\]"):
        ComponentTest(NegativeLogLikelihoodLoss("normal"), spaces, backend="numpy")


def test_found_by_name():
    assert type(Distribution.from_spec({"type": "squashed-normal", "low": 0.0})) is SquashedNormal
    joint = Distribution.from_spec({"type": "joint-cumulative", "distribution_specs": ["normal"]})
    assert type(joint) is JointCumulativeDistribution
    with pytest.raises(SpecError, match="'dense' is a Dense, expected a Distribution"):
        Distribution.from_spec("dense", units=3)


# Joint distributions.


def test_parts_are_added_or_not(backend):
    specs = {"type": {"type": "categorical"}, "move": ("normal", {"type": "normal", "scope": "other"})}
    parameters = {
        "type": np.array([[0.0, 1.0], [2.0, 0.0]], "float32"),
        "move": ((np.zeros((2, 2), "float32"), np.ones((2, 2), "float32")),) * 2,
    }
    space = Dict(type=PAIR, move=Tuple(NORMAL, NORMAL))
    values = {"type": np.array([0, 1]), "move": (np.ones((2, 2), "float32"), np.zeros((2, 2), "float32"))}
    values_space = Dict(type=IntBox(2, add_batch_rank=True), move=Tuple(PAIR, PAIR))
    by_part = {
        "type": np.array([-np.log1p(np.exp(1.0)), -np.log1p(np.exp(2.0))]),
        "move": (np.full(2, 2.0 * stats.norm.logpdf(1.0)), np.full(2, 2.0 * stats.norm.logpdf(0.0))),
    }
    test = make(JointCumulativeDistribution(specs, per_part=True), space, values_space, backend)
    test.test("log_prob", parameters, values, expected_outputs=by_part)
    assert test.test("sample_and_log_prob", parameters)[1]["type"].shape == (2,)
    test = make(JointCumulativeDistribution(specs), space, values_space, backend)
    total = by_part["type"] + by_part["move"][0] + by_part["move"][1]
    test.test("log_prob", parameters, values, expected_outputs=total)
    entropy = test.test("entropy", parameters)
    p = np.array([[1.0, np.e], [np.e**2, 1.0]]) / np.array([[1.0 + np.e], [1.0 + np.e**2]])
    np.testing.assert_allclose(entropy, -(p * np.log(p)).sum(1) + 4 * stats.norm.entropy(), rtol=1e-5)
    drawn = test.test("draw", parameters)
    assert drawn["type"].shape == (2,)
    assert [part.shape for part in drawn["move"]] == [(2, 2)] * 2
    assert (drawn["move"][0] != drawn["move"][1]).all()  # streams of their own
