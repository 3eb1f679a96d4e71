"""Action adapters alone, and which of them an action Space gets."""

import numpy as np
import pytest

from rlgraph.components import (
    ActionAdapter,
    Bernoulli,
    BernoulliDistributionAdapter,
    Beta,
    BetaDistributionAdapter,
    Categorical,
    CategoricalDistributionAdapter,
    GumbelSoftmax,
    GumbelSoftmaxDistributionAdapter,
    JointCumulativeDistribution,
    LogNormal,
    LogNormalDistributionAdapter,
    MultivariateNormal,
    MultivariateNormalDistributionAdapter,
    Normal,
    NormalDistributionAdapter,
    SquashedNormal,
    SquashedNormalDistributionAdapter,
    choose_adapter,
)
from rlgraph.core import AssemblyError, BuildError, Component, SpecError, registry, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox, Tuple
from rlgraph.testing import ComponentTest

FEATURES = FloatBox(shape=(2,), add_batch_rank=True)


def parameters_of(adapter, outputs, backend, **more):
    """The parameters that `adapter` makes of the outputs of its layer."""
    outputs = np.asarray(outputs, "float32")
    spaces = {
        "nn_outputs": FEATURES,
        "adapter_outputs": FloatBox(shape=outputs.shape[1:], add_batch_rank=True),
    }
    spaces.update({name: BoolBox(shape=x.shape[1:], add_batch_rank=True) for name, x in more.items()})
    test = ComponentTest(adapter, spaces, backend=backend)
    return test.test("get_parameters_from_adapter_outputs", outputs, *more.values())


def same(given, expected):
    given, expected = (x if isinstance(x, tuple) else (x,) for x in (given, expected))
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_allclose(one, np.asarray(other, "float32"), rtol=1e-5, atol=1e-7)


# What the outputs mean.


def test_logits(backend):
    outputs = np.arange(6.0)[None]
    adapter = CategoricalDistributionAdapter(IntBox(3, shape=(2,)))
    same(parameters_of(adapter, outputs, backend), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]])
    same(parameters_of(CategoricalDistributionAdapter(IntBox(6)), outputs, backend), outputs)
    same(parameters_of(GumbelSoftmaxDistributionAdapter(IntBox(6)), outputs, backend), outputs)
    same(
        parameters_of(BernoulliDistributionAdapter(BoolBox(shape=(3, 2))), outputs, backend),
        outputs.reshape(1, 3, 2),
    )
    same(parameters_of(BernoulliDistributionAdapter(BoolBox()), [[7.0], [8.0]], backend), [7.0, 8.0])


def test_masked_logits(backend):
    mask = np.array([[[True, False], [True, True]]])
    adapter = CategoricalDistributionAdapter(IntBox(2, shape=(2,)))
    given = parameters_of(adapter, [[1.0, 2.0, 3.0, 4.0]], backend, action_mask=mask)
    same(given, [[[1.0, -1e30], [3.0, 4.0]]])


def test_normal(backend):
    outputs = [[1.0, 2.0, 0.0, np.log(3.0)], [3.0, 4.0, -100.0, 100.0]]
    expected = ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 3.0], [np.exp(-20.0), np.exp(2.0)]])
    same(parameters_of(NormalDistributionAdapter(FloatBox(shape=(2,))), outputs, backend), expected)
    same(
        parameters_of(SquashedNormalDistributionAdapter(FloatBox(-1.0, 1.0, shape=(2,))), outputs, backend),
        expected,
    )
    same(
        parameters_of(MultivariateNormalDistributionAdapter(FloatBox(shape=(2,))), outputs, backend), expected
    )
    square = parameters_of(NormalDistributionAdapter(FloatBox(shape=(1, 2))), outputs, backend)
    same(square, tuple(np.asarray(x)[:, None] for x in expected))
    single = parameters_of(NormalDistributionAdapter(FloatBox()), [[5.0, 0.0]], backend)
    same(single, ([5.0], [1.0]))


def test_log_normal(backend):
    adapter = LogNormalDistributionAdapter(FloatBox([0.0, None], [None, 1.0]))
    outputs = [[1.0, 2.0, 0.0, np.log(3.0)], [-100.0, 100.0, -100.0, 100.0]]
    expected = ([[1.0, 2.0], [-20.0, 20.0]], [[1.0, 3.0], [np.exp(-20.0), np.exp(2.0)]])
    same(parameters_of(adapter, outputs, backend), expected)


def test_outputs_over_time(backend):
    outputs = np.random.default_rng(0).normal(size=(3, 5, 4)).astype("float32")
    over_time = FloatBox(shape=(4,), add_batch_rank=True, add_time_rank=True, time_major=True)
    spaces = {"nn_outputs": FEATURES, "adapter_outputs": over_time}
    for adapter, expected in (
        (CategoricalDistributionAdapter(IntBox(2, shape=(2,))), outputs.reshape(3, 5, 2, 2)),
        (NormalDistributionAdapter(FloatBox(shape=(2,))), (outputs[..., :2], np.exp(outputs[..., 2:]))),
        (
            NormalDistributionAdapter(FloatBox(shape=(1, 2))),
            (outputs[..., None, :2], np.exp(outputs[..., None, 2:])),
        ),
    ):
        test = ComponentTest(adapter, spaces, backend=backend)
        same(test.test("get_parameters_from_adapter_outputs", outputs), expected)


def test_covariance(backend):
    adapter = MultivariateNormalDistributionAdapter(FloatBox(shape=(3,)), full_covariance=True)
    assert adapter.num_outputs() == 3 + 3 * 4 // 2
    mean, spread = parameters_of(adapter, [[1.0, 2.0, 3.0, 0.0, 0.0, np.log(2.0), 4.0, 5.0, 6.0]], backend)
    same(mean, [[1.0, 2.0, 3.0]])
    same(spread, [[[1.0, 0.0, 0.0], [4.0, 1.0, 0.0], [5.0, 6.0, 2.0]]])


def test_beta(backend):
    adapter = BetaDistributionAdapter(FloatBox(0.0, 1.0, shape=(2,)))
    softplus = np.log1p(np.exp([0.0, 1.0, -30.0, 2.0]))
    same(
        parameters_of(adapter, [[0.0, 1.0, -30.0, 2.0]], backend),
        (softplus[None, :2] + 1.0, softplus[None, 2:] + 1.0),
    )


def test_the_layer_and_the_network_before_it(backend):
    adapter = BernoulliDistributionAdapter(
        BoolBox(),
        weights_spec=2.0,
        biases_spec=1.0,
        activation="relu",
        pre_network_spec=[{"type": "dense", "units": 3, "weights_spec": 0.5}],
    )
    spaces = {"nn_outputs": FEATURES, "adapter_outputs": FloatBox(shape=(1,), add_batch_rank=True)}
    test = ComponentTest(adapter, spaces, backend=backend)
    # 3 units of (1 + 2) / 2, times 2, plus 1; the second row is cut off.
    features = np.array([[1.0, 2.0], [-1.0, -2.0]], "float32")
    test.test("get_adapter_outputs", features, expected_outputs=[[10.0], [0.0]])
    test.test("get_parameters", features, expected_outputs=[10.0, 0.0])
    scopes = {name.removeprefix("action-adapter/").split("/")[0] for name in test.read_variable_values()}
    assert scopes == {"pre-network", "action-layer"}


# Which adapter an action gets.


@pytest.mark.parametrize(
    ("space", "options", "adapter", "distribution"),
    [
        (IntBox(3), {}, CategoricalDistributionAdapter, Categorical),
        (BoolBox(), {}, BernoulliDistributionAdapter, Bernoulli),
        (FloatBox(-1.0, 1.0), {}, BetaDistributionAdapter, Beta),
        (FloatBox(shape=(2,)), {}, NormalDistributionAdapter, Normal),
        (FloatBox(0.0, None, shape=(2,)), {}, LogNormalDistributionAdapter, LogNormal),
        (FloatBox(high=3.0), {"half_bounded_distribution_type": "normal"}, NormalDistributionAdapter, Normal),
        (
            FloatBox(-1.0, [1.0, 2.0]),
            {"bounded_distribution_type": "squashed"},
            SquashedNormalDistributionAdapter,
            SquashedNormal,
        ),
        (
            IntBox(3),
            {"discrete_distribution_type": "gumbel_softmax", "gumbel_softmax_temperature": 0.5},
            GumbelSoftmaxDistributionAdapter,
            GumbelSoftmax,
        ),
        (
            FloatBox(shape=(2,)),
            {
                "unbounded_distribution_type": {
                    "type": "multivariate_normal_distribution_adapter",
                    "full_covariance": True,
                }
            },
            MultivariateNormalDistributionAdapter,
            MultivariateNormal,
        ),
    ],
)
def test_choice(space, options, adapter, distribution):
    chosen = choose_adapter(space, options)
    made = chosen.make_distribution()
    assert (type(chosen), type(made)) == (adapter, distribution)
    if options.get("gumbel_softmax_temperature"):
        assert made.temperature == 0.5
    if distribution in (Beta, SquashedNormal):
        np.testing.assert_array_equal(made.low, np.broadcast_to(space.low, space.shape))
        np.testing.assert_array_equal(made.high, space.high)


class Policy(Component):
    """What a policy does with an adapter."""

    def __init__(self, action_space, **options):
        self.adapter = choose_adapter(action_space, **options)
        self.distribution = self.adapter.make_distribution()
        super().__init__(self.adapter, self.distribution, scope="policy")

    @rlgraph_api
    def act(self, features, deterministic):
        return self.distribution.draw(self.adapter.get_parameters(features), deterministic)

    @rlgraph_api
    def act_masked(self, features, masks=None):
        return self.distribution.draw(self.adapter.get_parameters(features, masks))

    @rlgraph_api
    def evaluate(self, features, actions):
        parameters = self.adapter.get_parameters(features)
        return self.distribution.log_prob(parameters, actions), self.distribution.entropy(parameters)


ACTIONS = Dict(
    aim=Tuple(FloatBox(-1.0, 1.0, shape=(2,)), FloatBox([-1.0, -2.0], [1.0, 3.0])),
    jump=BoolBox(),
    move=IntBox(3),
    push=FloatBox(shape=(2, 2)),
    throttle=FloatBox([0.0, None], [None, 1.0]),
    type=IntBox(2, shape=(2,), dtype="int32"),
)


def test_a_policy_of_everything(backend):
    masks = Dict(move=BoolBox(shape=(3,)), type=BoolBox(shape=(2, 2)), add_batch_rank=True)
    spaces = {
        "features": FEATURES,
        "deterministic": bool,
        "actions": ACTIONS.with_batch_rank(),
        "masks": masks,
    }
    test = ComponentTest(
        Policy(ACTIONS, distributions_spec={"bounded_distribution_type": "squashed"}), spaces, backend=backend
    )
    assert type(test.component.distribution) is JointCumulativeDistribution
    features = np.random.default_rng(0).normal(size=(5, 2)).astype("float32")
    for deterministic in (True, False):
        actions = test.test("act", features, deterministic)
        assert ACTIONS.with_batch_rank().contains(actions)
        log_probs, entropies = test.test("evaluate", features, actions)
        assert np.isfinite([log_probs, entropies]).all()
        assert log_probs.shape == entropies.shape == (5,)
    mask = {"move": np.tile([False, True, False], (5, 1)), "type": np.tile([True, False], (5, 2, 1))}
    actions = test.test("act_masked", features, mask)
    assert (actions["move"] == 1).all()
    assert (actions["type"] == 0).all()


def test_masks_of_some_parts(backend):
    class Some(Policy):
        @rlgraph_api
        def act_masked(self, features, masks=None):
            return self.distribution.draw(self.adapter.get_parameters(features, {"move": masks}))

    spaces = {"features": FEATURES, "deterministic": bool, "actions": ACTIONS.with_batch_rank()}
    spaces["masks"] = BoolBox(shape=(3,), add_batch_rank=True)
    test = ComponentTest(Some(ACTIONS), spaces, backend=backend)
    actions = test.test("act_masked", np.zeros((4, 2), "float32"), np.tile([False, False, True], (4, 1)))
    assert (actions["move"] == 2).all()


def test_arguments_for_all_adapters():
    chosen = choose_adapter(
        Tuple(IntBox(2), BoolBox()), action_adapter_spec={"pre_network_spec": [{"type": "dense", "units": 3}]}
    )
    assert [adapter.pre_network.layers[0].units for adapter in chosen.adapters] == [3, 3]
    assert [adapter.scope for adapter in chosen.adapters] == ["0", "1"]


def test_an_adapter_of_somebody_else(monkeypatch):
    """It is found by its name alone, as all others are."""

    class FixedDistributionAdapter(NormalDistributionAdapter):
        def distribution_spec(self):
            return {"type": "squashed_normal", "low": -9.0, "high": 9.0}

    known = registry("rlgraph.components")
    for names in ("_plugins", "_objects"):
        monkeypatch.setattr(known, names, getattr(known, names).copy())
    known.register("fixed_distribution_adapter", FixedDistributionAdapter)
    chosen = choose_adapter(FloatBox(shape=(2,)), {"unbounded_distribution_type": "fixed"})
    assert type(chosen) is FixedDistributionAdapter
    assert chosen.make_distribution().high == 9.0


# Mistakes.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: CategoricalDistributionAdapter(IntBox(0, None)),
            r"action-adapter.action_space: expected an IntBox with both bounds",
        ),
        (
            lambda: GumbelSoftmaxDistributionAdapter(IntBox([3, 5])),
            r"0 to n - 1 \(else a Tuple of IntBoxes\), given IntBox",
        ),
        (
            lambda: BetaDistributionAdapter(FloatBox()),
            r"expected a FloatBox with both bounds, given FloatBox\(\)",
        ),
        (lambda: SquashedNormalDistributionAdapter(IntBox(3)), r"expected a FloatBox with both bounds"),
        (lambda: NormalDistributionAdapter(IntBox(3)), r"expected a FloatBox, given IntBox"),
        (lambda: BernoulliDistributionAdapter(IntBox(2)), r"expected a BoolBox"),
        (lambda: MultivariateNormalDistributionAdapter(FloatBox()), r"expected a FloatBox of shape \[D\]"),
        (
            lambda: NormalDistributionAdapter(ACTIONS),
            r"expected a Space without parts, .*choose_adapter takes any",
        ),
        (lambda: NormalDistributionAdapter(object()), r"action-adapter.action_space: "),
        (
            lambda: choose_adapter(TextBox()),
            r"action-adapter.action_space: expected numbers or bools, given TextBox",
        ),
        (lambda: choose_adapter(object()), r"action-adapter.action_space: "),
        (
            lambda: choose_adapter(Dict(a=Tuple(FloatBox([0.0, 1.0], [1.0, None])))),
            r"action_space, part 'a/0': expected both bounds in every element, or one .*make it a Dict or Tuple",
        ),
        (
            lambda: LogNormalDistributionAdapter(FloatBox()),
            r"expected a FloatBox with one bound, low or high, in every element, given FloatBox\(\)",
        ),
        (
            lambda: choose_adapter(IntBox()),
            r"action_space: expected an IntBox with both bounds",
        ),
        (
            lambda: choose_adapter(BoolBox(), {"bool_type": "x"}),
            r"distributions_spec: unknown argument 'bool_type'. Known: bool_dis",
        ),
        (
            lambda: choose_adapter(FloatBox(0.0, 1.0), {"bounded_distribution_type": "bta"}),
            r"distributions_spec.bounded_distribution_type: unknown distribution 'bta'. Did you mean 'beta'",
        ),
        (
            lambda: choose_adapter(FloatBox(0.0, 1.0), {"bounded_distribution_type": "squash"}),
            r"unknown distribution 'squash'. Did you mean 'squashed'",
        ),
        (
            lambda: choose_adapter(BoolBox(), None, {"weight_spec": 1.0}),
            r"no such key. Did you mean 'weights_spec'",
        ),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_wrong_outputs():
    spaces = {"nn_outputs": FEATURES, "adapter_outputs": FloatBox(shape=(5,), add_batch_rank=True)}
    for actions, number in ((IntBox(4), 4), (BoolBox(shape=(2,)), 2)):
        adapter = choose_adapter(actions)
        given = {**spaces, "action_mask": BoolBox(shape=(4,), add_batch_rank=True)} if number == 4 else spaces
        with pytest.raises(SpaceError, match=f"adapter_outputs: expected {number} numbers for each item"):
            ComponentTest(adapter, given, backend="numpy")


def test_a_mask_that_allows_nothing_allows_what_exists(backend):
    spaces = {
        "nn_outputs": FEATURES,
        "adapter_outputs": FloatBox(shape=(10,), add_batch_rank=True),
        "action_mask": BoolBox(shape=(2, 5), add_batch_rank=True),
    }
    test = ComponentTest(choose_adapter(IntBox([3, 5])), spaces, backend=backend)
    outputs, mask = np.arange(10.0)[None], np.zeros((1, 2, 5), bool)
    mask[0, 1, [0, 4]] = True
    logits = test.test("get_parameters_from_adapter_outputs", outputs, mask)[0]
    np.testing.assert_array_equal(logits > -1e29, [[1, 1, 1, 0, 0], [1, 0, 0, 0, 1]])


def test_wrong_masks():
    spaces = {"features": FEATURES, "deterministic": bool, "masks": BoolBox(shape=(3,), add_batch_rank=True)}
    with pytest.raises(AssemblyError, match="action_mask needs categorical actions.* has no categories"):
        ComponentTest(Policy(BoolBox()), {**spaces, "actions": BoolBox(add_batch_rank=True)}, backend="numpy")
    # Logits of -1e30 for what is masked would make entropies of 1e30.
    gumbel = Policy(IntBox(3), distributions_spec={"discrete_distribution_type": "gumbel_softmax"})
    with pytest.raises(
        AssemblyError, match="a GumbelSoftmaxDistributionAdapter of IntBox.* has no categories"
    ):
        ComponentTest(
            gumbel, {**spaces, "actions": FloatBox(shape=(3,), add_batch_rank=True)}, backend="numpy"
        )
    joint = {**spaces, "actions": ACTIONS.with_batch_rank()}
    for part, message in (
        ("mov", "action_mask has a part 'mov', which the action does not have. Did you mean 'move'"),
        ("jump", "action-adapter/jump: action_mask needs categorical actions"),
    ):
        masks = Dict({part: BoolBox(shape=(3,), add_batch_rank=True)})
        with pytest.raises(AssemblyError, match=message):
            ComponentTest(Policy(ACTIONS), {**joint, "masks": masks}, backend="numpy")
    with pytest.raises(
        (SpaceError, BuildError), match=r"action_mask: expected a BoolBox of shape \[4\], given"
    ):
        ComponentTest(
            Policy(IntBox(4)), {**spaces, "actions": IntBox(4, add_batch_rank=True)}, backend="numpy"
        )


def test_found_by_name():
    adapter = ActionAdapter.from_spec({"type": "categorical-distribution-adapter", "action_space": IntBox(3)})
    assert type(adapter) is CategoricalDistributionAdapter
