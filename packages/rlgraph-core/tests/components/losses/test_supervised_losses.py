import math

import numpy as np
import pytest

from rlgraph.components import (
    CategoricalCrossEntropyLoss,
    ContainerLoss,
    EuclidianDistanceLoss,
    NegativeLogLikelihoodLoss,
    SupervisedLoss,
)
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

FLOATS, LENGTHS = FloatBox(add_batch_rank=True), IntBox(add_batch_rank=True)
LOGITS, CLASSES = FloatBox(shape=(3,), add_batch_rank=True), IntBox(3, add_batch_rank=True)


def sequences(space, time_major=False):
    return space.with_extra_ranks(True, True, time_major=time_major)


def cross_entropy(logits, label):
    return math.log(sum(math.exp(x) for x in logits)) - logits[label]


# Classes.


def test_classes(backend):
    spaces = {"parameters": LOGITS, "labels": CLASSES, "weights": FLOATS}
    test = ComponentTest(CategoricalCrossEntropyLoss(), spaces, backend=backend)
    logits, labels = [[0.0, 0.0, 0.0], [1.0, 2.0, -1.0]], [2, 0]
    items = [math.log(3.0), cross_entropy(logits[1], 0)]
    test.test(
        ("loss", {"parameters": logits, "labels": labels, "weights": [1.0, 0.5]}),
        expected_outputs={"loss": (items[0] + 0.5 * items[1]) / 2, "loss_per_item": items},
    )


def test_probabilities(backend):
    test = ComponentTest(
        CategoricalCrossEntropyLoss(sparse=False), {"parameters": LOGITS, "labels": LOGITS}, backend=backend
    )
    logits = [[0.0, 0.0, 0.0], [1.0, 2.0, -1.0]]
    expected = [math.log(3.0), 0.25 * cross_entropy(logits[1], 0) + 0.75 * cross_entropy(logits[1], 1)]
    labels = [[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]]
    test.test("loss_per_item", logits, labels, expected_outputs=expected)


def test_the_regularizer_adds_the_divergence_from_even(backend):
    spaces = {"parameters": LOGITS, "labels": CLASSES}
    test = ComponentTest(CategoricalCrossEntropyLoss(with_kl_regularizer=True), spaces, backend=backend)
    logits = [1.0, 2.0, -1.0]
    divergence = sum(cross_entropy(logits, label) / 3 for label in range(3)) - math.log(3.0)
    test.test("loss_per_item", [logits], [1], expected_outputs=[cross_entropy(logits, 1) + divergence])


@pytest.mark.parametrize("time_major", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_sequences_of_classes(time_major, average, backend):
    """Two classes per step; against a loop; padding does not count."""
    spaces = {
        "parameters": sequences(FloatBox(shape=(2, 3)), time_major),
        "labels": sequences(IntBox(3, shape=(2,)), time_major),
        "sequence_length": LENGTHS,
    }
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(2, 4, 2, 3)), rng.integers(0, 3, (2, 4, 2))
    expected = np.zeros((2, 4))
    for b, length in enumerate((3, 1)):
        for t in range(length):
            expected[b, t] = sum(cross_entropy(logits[b, t, i], labels[b, t, i]) for i in range(2))
    mean = expected.sum() / (4 if average else 2)
    logits[0, 3:] = logits[1, 1:] = np.nan
    if time_major:
        logits, labels, expected = logits.swapaxes(0, 1), labels.swapaxes(0, 1), expected.T
    test = ComponentTest(CategoricalCrossEntropyLoss(average_time_steps=average), spaces, backend=backend)
    batch = {"parameters": logits, "labels": labels, "sequence_length": [3, 1]}
    test.test(("loss", batch), expected_outputs={"loss": mean, "loss_per_item": expected}, decimals=5)


# Distances.


def test_distances(backend):
    space = FloatBox(shape=(2, 2), add_batch_rank=True)
    test = ComponentTest(EuclidianDistanceLoss(), {"parameters": space, "labels": space}, backend=backend)
    parameters, labels = [[[3.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]], np.zeros((2, 2, 2))
    labels[0, 1, 0] = 4.0
    test.test("loss", parameters, labels, expected_outputs={"loss": 3.5, "loss_per_item": [5.0, 2.0]})


def test_bools_in_time(backend):
    spaces = {
        "parameters": sequences(FloatBox(shape=(2,)), True),
        "labels": sequences(BoolBox(shape=(2,)), True),
    }
    parameters = [[[3.0, 4.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, -1.0]]]
    labels = [[[False, False], [True, True]], [[True, False], [True, False]]]
    for average, mean in ((True, 1.5), (False, 3.0)):
        test = ComponentTest(EuclidianDistanceLoss(average_time_steps=average), spaces, backend=backend)
        expected = {"loss": mean, "loss_per_item": [[5.0, 0.0], [0.0, 1.0]]}
        test.test("loss", parameters, labels, expected_outputs=expected)


def test_a_distance_of_zero_has_no_gradient(derivative, trainer):
    space = FloatBox(shape=(2,), add_batch_rank=True)
    batch = {"parameters": [[3.0, 4.0], [1.0, 1.0]], "labels": [[0.0, 0.0], [1.0, 1.0]]}
    given = derivative(
        EuclidianDistanceLoss(), {"parameters": space, "labels": space}, batch, "parameters", trainer
    )
    np.testing.assert_allclose(given, [[0.3, 0.4], [0.0, 0.0]], rtol=1e-5)


# Likelihoods.


class Exponential(Component):
    """``p(x) = rate * exp(-rate * x)``."""

    @rlgraph_api
    @graph_fn
    def log_prob(self, ops, parameters, values):
        return ops.log(parameters) - parameters * values


def test_log_probabilities(backend):
    parts = Dict(a=FloatBox(), b=FloatBox(shape=(2,)), add_batch_rank=True)
    test = ComponentTest(NegativeLogLikelihoodLoss(), {"parameters": parts}, backend=backend)
    test.test(
        "loss",
        {"a": [-1.0, -2.0], "b": [[-0.5, -1.5], [0.0, 1.0]]},
        expected_outputs={"loss": 2.0, "loss_per_item": [3.0, 1.0]},
    )


def test_likelihoods_of_a_distribution(backend):
    spaces = dict.fromkeys(("parameters", "labels"), sequences(FLOATS))
    test = ComponentTest(NegativeLogLikelihoodLoss(Exponential(scope="exponential")), spaces, backend=backend)
    rates, values = [[1.0, 2.0], [4.0, 0.5]], [[3.0, 1.0], [0.5, 2.0]]
    expected = [[3.0, 2.0 - math.log(2.0)], [2.0 - math.log(4.0), 1.0 - math.log(0.5)]]
    test.test("loss_per_item", rates, values, expected_outputs=expected, decimals=5)


def test_likelihoods_of_a_normal_distribution(backend):
    parameters = Tuple(FloatBox(shape=(2,)), FloatBox(0.1, 2.0, shape=(2,)), add_batch_rank=True)
    spaces = {"parameters": parameters, "labels": FloatBox(shape=(2,), add_batch_rank=True)}
    test = ComponentTest(NegativeLogLikelihoodLoss({"type": "normal"}), spaces, backend=backend)
    # -log p(x) = ((x - mean) / deviation)^2 / 2 + log(deviation) + log(2 pi) / 2, per element.
    expected = 0.5 * (1.0 + 4.0) + math.log(2.0) + math.log(0.5) + math.log(2.0 * math.pi)
    mean, deviation = [[0.0, 1.0]], [[2.0, 0.5]]
    test.test("loss_per_item", (mean, deviation), [[2.0, 0.0]], expected_outputs=[expected], decimals=5)


# Several.

BOTH = Dict(distance=FloatBox(shape=(2,)), kind=FloatBox(shape=(3,)), add_batch_rank=True)
BOTH_LABELS = Dict(distance=FloatBox(shape=(2,)), kind=IntBox(3), add_batch_rank=True)
SPECS = {"distance": {"type": "euclidian_distance_loss"}, "kind": {"type": "categorical_cross_entropy_loss"}}


@pytest.mark.parametrize(
    ("specs", "weights", "expected"),
    [
        (SPECS, None, 5.0 + math.log(3.0)),
        (SPECS, {"distance": 2.0, "kind": 0.5}, 10.0 + 0.5 * math.log(3.0)),
        ({**SPECS, "distance": {**SPECS["distance"], "weight": 3}}, None, 15.0 + math.log(3.0)),
    ],
)
def test_weighted_sum(specs, weights, expected, backend):
    test = ComponentTest(
        ContainerLoss(specs, weights), {"parameters": BOTH, "labels": BOTH_LABELS}, backend=backend
    )
    parameters = {"distance": [[3.0, 0.0]], "kind": [[1.0, 1.0, 1.0]]}
    labels = {"distance": [[0.0, 4.0]], "kind": [1]}
    both = {"loss": expected, "loss_per_item": [expected]}
    test.test("loss", parameters, labels, expected_outputs=both, decimals=5)
    assert all("weight" not in spec for spec in SPECS.values())


def test_a_list_with_lengths(backend):
    spaces = {
        "parameters": Tuple(FloatBox(shape=(1,)), FloatBox(), add_batch_rank=True, add_time_rank=True),
        "labels": Tuple(FloatBox(shape=(1,)), FloatBox(), add_batch_rank=True, add_time_rank=True),
        "sequence_length": LENGTHS,
    }
    loss = ContainerLoss(["euclidian_distance_loss", "negative_log_likelihood_loss"], weights=[2.0, 1.0])
    parameters = ([[[1.0], [5.0]]], [[-1.0, -3.0]])
    labels = ([[[0.0], [0.0]]], [[0.0, 0.0]])
    test = ComponentTest(loss, spaces, backend=backend)
    # The mean distance, twice; the sum of what is unlikely.
    for length, mean, steps in (
        (2, 2.0 * 3.0 + 4.0, [3.0, 13.0]),
        (1, 3.0, [3.0, 0.0]),
        (0, 0.0, [0.0, 0.0]),
    ):
        batch = {"parameters": parameters, "labels": labels, "sequence_length": [length]}
        test.test(("loss", batch), expected_outputs={"loss": mean, "loss_per_item": [steps]})


# Mistakes.


TIME = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}


ONE, MORE = Dict(a=float, add_batch_rank=True), Dict(a=float, b=float, add_batch_rank=True)
PAIR = Tuple(float, float, add_batch_rank=True)


@pytest.mark.parametrize(
    ("specs", "parameters", "labels", "name"),
    [
        ({"a": "euclidian_distance_loss"}, MORE, ONE, "parameters"),
        ({"a": "euclidian_distance_loss"}, ONE, MORE, "labels"),
        ({"a": "euclidian_distance_loss"}, FLOATS, FLOATS, "parameters"),
        (dict.fromkeys("abc", "euclidian_distance_loss"), MORE, MORE, "parameters"),
        (["euclidian_distance_loss"], PAIR, PAIR, "parameters"),
    ],
)
def test_parts_without_a_loss(specs, parameters, labels, name):
    with pytest.raises(SpaceError, match=f"{name}: expected a container with a part for each loss"):
        spaces = {"parameters": parameters, "labels": labels}
        ComponentTest(ContainerLoss(specs), spaces, backend="numpy")


STEPS = {**TIME, "add_time_rank": 2}


@pytest.mark.parametrize(
    ("loss", "parameters", "labels"),
    [
        (EuclidianDistanceLoss, FloatBox(shape=(2,), **STEPS), FloatBox(shape=(2,), **STEPS)),
        (CategoricalCrossEntropyLoss, FloatBox(shape=(2,), **STEPS), IntBox(**STEPS)),
        (NegativeLogLikelihoodLoss, FloatBox(shape=(2,), **STEPS), FloatBox(shape=(2,), **STEPS)),
    ],
)
def test_padding(loss, parameters, labels, padding_has_no_derivatives):
    batch = {"parameters": np.ones((2, 2, 2), "float32")}
    batch["parameters"][1, 0] = np.nan
    batch["labels"] = np.zeros((2, 2), int) if isinstance(labels, IntBox) else np.zeros((2, 2, 2), "float32")
    batch["labels"][1, 0] = -7
    padding_has_no_derivatives(loss, {"parameters": parameters, "labels": labels}, batch, "parameters")


class Absolute(SupervisedLoss):
    """The sum of absolute distances, a loss made of public names only."""

    def __init__(self, scope="absolute"):
        super().__init__(True, scope)

    @rlgraph_api
    def loss_per_item(self, parameters, labels):
        return self._distances(parameters, labels)

    @graph_fn
    def _distances(self, ops, parameters, labels):
        return self.sum_of_elements(ops, ops.abs(parameters - labels))


def test_a_loss_of_ones_own():
    vectors = FloatBox(shape=(2,), add_batch_rank=True)
    test = ComponentTest(Absolute(), {"parameters": vectors, "labels": vectors}, backend="numpy")
    parameters, labels = np.array([[1.0, 2.0], [3.0, 5.0]], "f"), np.array([[0.0, 4.0], [3.0, 4.0]], "f")
    np.testing.assert_allclose(test.test("loss_per_item", parameters, labels), [3.0, 1.0])
    unbatched = {"parameters": vectors, "labels": FloatBox(shape=(2,))}
    with pytest.raises(SpaceError, match="labels: expected the batch and time ranks of parameters"):
        ComponentTest(Absolute(), unbatched, backend="numpy")
