"""Policies for every action Space, against SciPy on the same parameters."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax

from rlgraph.components import Policy, SharedValueFunctionPolicy, ValueFunction
from rlgraph.core import AssemblyError, BuildError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

STATES = FloatBox(shape=(3,), add_batch_rank=True)
NETWORK = [{"type": "dense", "units": 5, "activation": "tanh"}]
ACTIONS = Dict(
    jump=BoolBox(), move=Tuple(IntBox(3), FloatBox(-1.0, 2.0, shape=(2,))), turn=FloatBox(shape=(2,))
)
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def built(policy, backend, **spaces):
    return ComponentTest(policy, {"observations": STATES, **spaces}, backend=backend, seed=3)


def everything(backend):
    return built(Policy(NETWORK, ACTIONS), backend, actions=ACTIONS.with_batch_rank())


def test_the_likelihood_of_a_container_is_the_product_over_its_parts(backend):
    test = everything(backend)
    parameters = test.test(("get_adapter_outputs_and_parameters", X), which="parameters")
    actions = ACTIONS.with_batch_rank().sample(4, rng=np.random.default_rng(1))
    jump, (step, size), turn = actions["jump"], actions["move"], actions["turn"]
    logits, scores = parameters["jump"], parameters["move"][0]
    expected = stats.bernoulli.logpmf(jump, 1.0 / (1.0 + np.exp(-logits)))
    expected = expected + (scores - np.log(np.exp(scores).sum(-1, keepdims=True)))[np.arange(4), step]
    alpha, beta = parameters["move"][1]
    expected += stats.beta.logpdf(size, alpha, beta, loc=-1.0, scale=3.0).sum(-1)
    expected += stats.norm.logpdf(turn, *parameters["turn"]).sum(-1)
    test.test(
        ("get_log_likelihood", [X, actions]), which="log_likelihood", expected_outputs=expected, decimals=4
    )


def test_samples_come_with_their_likelihood(backend):
    test = everything(backend)
    drawn = test.test(("get_action_and_log_likelihood", [X]))
    assert ACTIONS.with_batch_rank().contains(drawn["action"])
    test.test(
        ("get_log_likelihood", [X, drawn["action"]]),
        which="log_likelihood",
        expected_outputs=drawn["log_likelihood"],
        decimals=4,
    )


def test_modes_by_default_and_samples_if_wanted(backend):
    test = built(
        Policy(NETWORK, IntBox(4)), backend, actions=IntBox(4, add_batch_rank=True), deterministic=BoolBox()
    )
    logits = test.test(("get_adapter_outputs_and_parameters", X), which="parameters")
    best = logits.argmax(-1)
    test.test(("get_deterministic_action", X), which="action", expected_outputs=best)
    test.test(("get_action", [X, True]), which="action", expected_outputs=best)
    many = np.repeat(X[:1], 4000, axis=0)
    counts = np.bincount(test.test(("get_action", [many, False]), which="action"), minlength=4)
    probabilities = softmax(logits[0].astype(np.float64))
    assert stats.chisquare(counts, 4000 * probabilities).pvalue > 1e-3
    assert np.bincount(test.test(("get_stochastic_action", many), which="action"), minlength=4).min() > 0


def test_impossible_actions_are_never_taken(backend):
    mask = BoolBox(shape=(4,), add_batch_rank=True)
    test = built(
        Policy(NETWORK, IntBox(4), deterministic=False),
        backend,
        actions=IntBox(4, add_batch_rank=True),
        observations=Dict(states=STATES, action_mask=mask),
    )
    allowed = np.tile([False, True, False, True], (2000, 1))
    many = np.repeat(X[:1], 2000, axis=0)
    taken = test.test(
        ("get_action", {"observations": {"states": many, "action_mask": allowed}}), which="action"
    )
    assert set(taken.tolist()) == {1, 3}
    entropy = test.test(
        ("get_entropy", {"observations": {"states": many, "action_mask": allowed}}), which="entropy"
    )
    assert np.all(entropy <= np.log(2.0) + 1e-6)


def test_values_beside_the_policy(backend):
    """The value of a state is the linear layer behind the network that the policy has, too."""
    test = built(
        SharedValueFunctionPolicy(NETWORK, IntBox(4)), backend, actions=IntBox(4, add_batch_rank=True)
    )
    weights = test.read_variable_values()
    features = np.tanh(X @ weights["network/dense-0/weights"] + weights["network/dense-0/biases"])
    expected = (features @ weights["value-layer/weights"] + weights["value-layer/biases"])[:, 0]
    test.test(("get_state_values", X), which="state_values", expected_outputs=expected, decimals=5)
    both = test.test(("get_state_values_adapter_outputs_and_parameters", X))
    np.testing.assert_allclose(both["state_values"], expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(both["nn_outputs"], features, rtol=1e-5, atol=1e-6)


def test_a_value_function_of_its_own(backend):
    layers = [{"type": "dense", "units": 2, "weights_spec": 0.5}]
    test = built(ValueFunction(layers, weights_spec=2.0, biases_spec=1.0), backend)
    # Two units of (1 + 2 + 3) / 2, twice each, and one.
    test.test(("value_output", [[[1.0, 2.0, 3.0]]]), expected_outputs=[13.0])


def test_the_layer_of_values_as_it_is_described(backend):
    """One feature x, and tanh(2 x + 1/2)."""
    layers = [{"type": "dense", "units": 1, "weights_spec": 1.0}]
    described = {"value_weights_spec": 2.0, "value_biases_spec": 0.5, "value_activation": "tanh"}
    alone = {name.removeprefix("value_"): value for name, value in described.items()}
    x = np.float32([[-1.0], [-0.25], [0.1]])
    for component in (
        SharedValueFunctionPolicy(layers, IntBox(2), **described),
        ValueFunction(layers, **alone),
    ):
        component.switched_off_apis = {"get_log_likelihood", "get_log_likelihood_per_part"} & (
            component.api_methods().keys()
        )
        test = ComponentTest(
            component, {"observations": FloatBox(shape=(1,), add_batch_rank=True)}, backend=backend
        )
        expected = np.tanh(2.0 * x[:, 0] + 0.5)
        test.test(("get_state_values", x), which="state_values", expected_outputs=expected, decimals=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"action_space": "text"}, "policy.action_space|action-adapter.action_space"),
        (
            {"action_space": IntBox(2), "deterministic": 1},
            "policy.deterministic: expected true or false, given 1",
        ),
        (
            {"action_space": IntBox(2), "distributions_spec": {"discrete_distribution_type": "categorial"}},
            "unknown distribution 'categorial'. Did you mean 'categorical'?",
        ),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(SpecError, match=message):
        Policy(NETWORK, **arguments)


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        (
            IntBox(3),
            IntBox(7),
            r"policy/actions: expected those of IntBox\(low=0, high=3\), given IntBox\(.*high=7",
        ),
        (IntBox(3), IntBox(-1, 3), "policy/actions: expected those of"),
        (IntBox([3, 5]), IntBox([4, 5]), "policy/actions: expected those of"),
        (Dict(a=IntBox(3)), Dict(a=IntBox(4)), "policy/actions/a: expected those of"),
        (Dict(a=IntBox(3)), IntBox(3), r"policy/actions: expected those of Dict\("),
        (Dict(a=IntBox(3)), Dict(a=IntBox(3), b=IntBox(3)), "policy/actions: expected those of"),
    ],
)
def test_actions_of_another_space(wanted, given, said):
    with pytest.raises(SpaceError, match=said):
        built(Policy(NETWORK, wanted), "numpy", actions=given.with_batch_rank())


@pytest.mark.parametrize(
    ("wanted", "given"),
    [(IntBox(3), IntBox(2)), (IntBox(3), IntBox()), (IntBox([3, 5]), IntBox([3, 4])), (BoolBox(), BoolBox())],
)
def test_actions_that_fit(wanted, given):
    actions = given.with_batch_rank()
    test = built(Policy(NETWORK, wanted), "numpy", actions=actions)
    values = np.zeros((1, *wanted.shape), "bool" if isinstance(wanted, BoolBox) else "int64")
    assert test.test("get_log_likelihood", X[:1], values)["log_likelihood"].shape == (1,)


@pytest.mark.parametrize(
    ("actions", "mask", "said"),
    [
        (
            IntBox(4),
            BoolBox(shape=(3,), add_batch_rank=True),
            r"expected a BoolBox of shape \[4\], given BoolBox",
        ),
        (
            IntBox(4),
            FloatBox(shape=(4,), add_batch_rank=True),
            r"expected a BoolBox of shape \[4\], given FloatBox",
        ),
        (
            Dict(a=IntBox(4)),
            BoolBox(shape=(4,), add_batch_rank=True),
            "expected a container of masks .*, a, given one",
        ),
    ],
)
def test_masks_that_do_not_fit(actions, mask, said):
    with pytest.raises((AssemblyError, BuildError, SpaceError), match=f"action_mask: {said}"):
        built(
            Policy(NETWORK, actions),
            "numpy",
            actions=actions.with_batch_rank(),
            observations=Dict(states=STATES, action_mask=mask),
        )


def test_actions_that_are_no_integers():
    with pytest.raises((BuildError, SpaceError), match="values: expected int, given float32"):
        built(Policy(NETWORK, IntBox(4)), "numpy", actions=FloatBox(add_batch_rank=True))
