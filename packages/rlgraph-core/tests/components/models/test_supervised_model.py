"""Predictors and their training, against NumPy, SciPy and labels that follow a rule."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax

from rlgraph.components import NeuralNetwork, SupervisedModel, SupervisedPredictor
from rlgraph.core import AssemblyError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

INPUTS = FloatBox(shape=(3,), add_batch_rank=True)
LAYERS = [{"type": "dense", "units": 4, "activation": "tanh"}]
X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
CLASSES = np.array([0, 2, 1, 1, 0])
DISTANCE = {"type": "euclidian_distance_loss"}


def model(label_space=None, network=LAYERS, **options):
    return SupervisedModel({"network_spec": network, "label_space": label_space}, **options)


def built(component, labels, backend, **more):
    spaces = {"inputs": INPUTS, "labels": labels, **more}
    return ComponentTest(component, spaces, backend=backend, seed=2)


def hidden(weights, name="predictor/network/dense-0"):
    return np.tanh(X @ weights[f"{name}/weights"] + weights[f"{name}/biases"])


def test_classes(backend):
    """Logits by hand: their largest is the prediction, the cross-entropy of the labels is the loss."""
    test = built(model(IntBox(3)), IntBox(3, add_batch_rank=True), backend)
    weights = test.read_variable_values()
    layer = "predictor/label-adapter/action-layer"
    logits = hidden(weights) @ weights[f"{layer}/weights"] + weights[f"{layer}/biases"]
    test.test(("get_distribution_parameters", [X]), expected_outputs=logits, decimals=5)
    test.test(("predict", [X]), expected_outputs=logits.argmax(-1))
    losses = -log_softmax(logits, axis=-1)[np.arange(5), CLASSES]
    expected = {"loss": losses.mean(), "loss_per_item": losses}
    test.test(("get_loss", [X, CLASSES]), expected_outputs=expected, decimals=5)


def test_labels_of_several_parts(backend):
    labels = Dict(broken=BoolBox(), place=FloatBox(shape=(2,)))
    test = built(model(labels), labels.with_batch_rank(), backend)
    parameters = test.test(("get_distribution_parameters", [X]))
    given = {"broken": np.array([True, False, True, True, False]), "place": X[:, :2]}
    expected = stats.bernoulli.logpmf(given["broken"], 1.0 / (1.0 + np.exp(-parameters["broken"])))
    expected = expected + stats.norm.logpdf(given["place"], *parameters["place"]).sum(-1)
    test.test(("get_loss", [X, given]), which="loss_per_item", expected_outputs=-expected, decimals=4)
    predicted = test.test(("predict", [X]))
    np.testing.assert_array_equal(predicted["broken"], parameters["broken"] > 0.0)
    np.testing.assert_allclose(predicted["place"], parameters["place"][0], rtol=1e-6)


def test_samples(backend):
    test = built(model(IntBox(3)), IntBox(3, add_batch_rank=True), backend, deterministic=BoolBox())
    drawn = [test.test(("predict", [X, False])) for _ in range(20)]
    assert len({tuple(sample) for sample in drawn}) > 1 and np.max(drawn) <= 2
    np.testing.assert_array_equal(test.test(("predict", [X, True])), test.test(("predict", [X, True])))


def test_outputs_that_are_the_predictions(backend):
    test = built(
        model(loss_spec=DISTANCE),
        FloatBox(shape=(4,), add_batch_rank=True),
        backend,
        weights=FloatBox(add_batch_rank=True),
    )
    outputs = hidden(test.read_variable_values())
    test.test(("predict", [X]), expected_outputs=outputs, decimals=5)
    losses, weights = (
        np.sqrt(np.square(outputs - 1.0).sum(-1)),
        np.array([1.0, 0.0, 0.0, 0.0, 2.0], np.float32),
    )
    labels = np.ones((5, 4), np.float32)
    expected = {"loss": (losses * weights).sum() / 2, "loss_per_item": losses * (weights > 0.0)}
    arguments = {"inputs": X, "labels": labels, "weights": weights}
    test.test(("get_loss", arguments), expected_outputs=expected, decimals=5)


def test_sequences_of_different_lengths(backend):
    inputs, lengths = (
        FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True, time_major=True),
        IntBox(add_batch_rank=True),
    )
    labels = IntBox(3, add_batch_rank=True, add_time_rank=True, time_major=True)
    spaces = {"inputs": inputs, "labels": labels, "sequence_length": lengths}
    test = ComponentTest(model(IntBox(3)), spaces, backend=backend)
    x, y = np.stack([X, -X]), np.stack([CLASSES, CLASSES])
    logits = test.test(("get_distribution_parameters", [x]))
    steps = -np.take_along_axis(log_softmax(logits, axis=-1), y[..., None], axis=-1)[..., 0]
    expected = steps * np.array([[1, 1, 1, 1, 1], [1, 0, 1, 1, 0]])
    given = [x, y, np.array([2, 1, 2, 2, 1])]
    test.test(("get_loss", given), which="loss_per_item", expected_outputs=expected, decimals=5)


def test_one_step_of_gradient_descent_by_hand(trainer):
    """A linear model: the derivative of the mean distance is the mean of x (w x - y) / |w x - y|."""
    component = model(
        loss_spec=DISTANCE,
        network=[{"type": "dense", "units": 1, "biases_spec": False, "scope": "line"}],
        optimizer_spec={"type": "sgd", "learning_rate": 0.5},
    )
    test = built(component, FloatBox(shape=(1,), add_batch_rank=True), trainer)
    weights = test.read_variable_values()["predictor/network/line/weights"]
    off = X @ weights - 3.0
    losses = test.test(("update", [X, np.full((5, 1), 3.0, np.float32)]))
    np.testing.assert_allclose(losses["loss_per_item"], np.abs(off)[:, 0], rtol=1e-5)
    expected = weights - 0.5 * (X * np.sign(off)).mean(0)[:, None]
    test.variable_test("predictor/network/line/weights", expected, decimals=5)


def test_learning(trainer):
    """Which of three numbers is the largest; 200 that were never shown are told right."""
    component = model(IntBox(3), optimizer_spec={"type": "adam", "learning_rate": 0.03})
    test = built(component, IntBox(3, add_batch_rank=True), trainer)
    rng = np.random.default_rng(1)
    for _ in range(300):
        x = rng.normal(size=(32, 3)).astype(np.float32)
        test.test(("update", [x, x.argmax(-1)]))
    x = rng.normal(size=(200, 3)).astype(np.float32)
    assert (test.test(("predict", [x])) == x.argmax(-1)).mean() > 0.94


def test_dropout_is_for_updates_only(trainer):
    layers = [{"type": "dense", "units": 64}, {"type": "dropout", "rate": 0.5}]
    still = {"type": "sgd", "learning_rate": 0.0}
    component = model(network=layers, loss_spec=DISTANCE, optimizer_spec=still)
    test = built(component, FloatBox(shape=(64,), add_batch_rank=True), trainer)
    zeros = np.zeros((5, 64), np.float32)
    fixed, again = (test.test(("get_loss", [X, zeros]), which="loss") for _ in range(2))
    drawn, other = (test.test(("update", [X, zeros]), which="loss") for _ in range(2))
    assert fixed == again and drawn != other and drawn > fixed
    for method in ("predict", "get_distribution_parameters"):
        np.testing.assert_array_equal(test.test((method, [X])), test.test((method, [X])))


def test_a_learning_rate_that_falls(trainer):
    scheduled = {"type": "sgd", "learning_rate": [1.0, 0.0]}
    component = model(IntBox(3), optimizer_spec=scheduled)
    spaces = {"progress": FloatBox()}
    test = built(component, IntBox(3, add_batch_rank=True), trainer, **spaces)
    before = test.read_variable_values()
    arguments = {"inputs": X, "labels": CLASSES}
    test.test(("update", {**arguments, "progress": 1.0}))
    test.variable_test(before)
    test.test(("update", {**arguments, "progress": 0.5}))
    name = "predictor/network/dense-0/weights"
    assert not np.allclose(test.read_variable_values()[name], before[name])
    with pytest.raises(AssemblyError, match="needs progress"):
        built(model(IntBox(3), optimizer_spec=scheduled), IntBox(3, add_batch_rank=True), trainer)


def test_specs():
    component = SupervisedModel.from_spec(
        {
            "type": "supervised_model",
            "predictor_spec": {"network_spec": LAYERS, "label_space": IntBox(2)},
            "loss_spec": "categorical_cross_entropy_loss",
            "optimizer_spec": {"type": "sgd", "learning_rate": 0.1},
        }
    )
    assert (component.loss.sparse, component.optimizer.scope) == (True, "optimizer")
    network = NeuralNetwork(LAYERS, scope="mine")
    assert SupervisedModel(SupervisedPredictor(network), DISTANCE).predictor.network is network


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: model(), "expected a loss_spec, .*or a predictor with a label_space"),
        (
            lambda: SupervisedPredictor(LAYERS, distributions_spec={}),
            "distributions_spec needs a label_space",
        ),
        (lambda: model(IntBox(3), [{"type": "dens"}]), r"predictor_spec.*dens.*Did you mean"),
        (
            lambda: model(IntBox(3), loss_spec="adam"),
            "loss_spec.type: 'adam' is a Adam, expected a SupervisedLoss",
        ),
        (
            lambda: SupervisedModel.from_spec({"predictor": {"network_spec": LAYERS}}),
            "SupervisedModel.predictor: .*It is 'predictor_spec' here",
        ),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(SpecError, match=message):
        make()


@pytest.mark.parametrize(
    ("component", "labels", "message"),
    [
        (
            model(loss_spec=DISTANCE),
            FloatBox(shape=(3,)),
            r"labels: expected the shape of parameters, \(4,\)",
        ),
        (model(IntBox(3)), FloatBox(shape=(3,)), "values: expected"),
        (model(IntBox(3), loss_spec=DISTANCE), IntBox(3), "labels: expected the shape of parameters"),
        (model(IntBox(3)), IntBox(5), r"labels: expected those of IntBox\(low=0, high=3\), given"),
        (model(Dict(a=IntBox(3))), Dict(a=IntBox(4)), "labels/a: expected those of"),
        (model(Dict(a=IntBox(3), b=BoolBox())), Dict(a=IntBox(3)), r"labels: expected those of Dict\("),
    ],
)
def test_labels_that_do_not_fit(component, labels, message):
    with pytest.raises(SpaceError, match=message):
        built(component, labels.with_batch_rank(), "numpy")


def test_what_does_not_train_is_left_alone(trainer):
    """Labels of which some elements have fewer categories than others, and a frozen layer."""
    space, network = IntBox([2, 3]), [{**LAYERS[0], "scope": "frozen", "trainable": False}]
    labels = np.array([[0, 2], [1, 1], [1, 0], [0, 0], [1, 2]])
    test = built(model(space, network), space.with_batch_rank(), trainer)
    before = test.read_variable_values()
    losses = [float(test.test(("update", [X, labels]))["loss"]) for _ in range(3)]
    assert losses[0] > losses[-1]
    after = test.read_variable_values()
    changed = {
        name
        for name in before
        if name.startswith("predictor") and not np.array_equal(before[name], after[name])
    }
    assert changed == {f"predictor/label-adapter/action-layer/{name}" for name in ("weights", "biases")}
