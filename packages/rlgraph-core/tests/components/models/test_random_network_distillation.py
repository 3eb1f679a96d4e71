"""Random network distillation against its formulas in NumPy, and on states that are seen and that are not."""

import numpy as np
import pytest

from rlgraph.components import RandomNetworkDistillation
from rlgraph.core import SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

STATES = FloatBox(shape=(3,), add_batch_rank=True)
PER_ITEM = FloatBox(add_batch_rank=True)
SPACES = {"states": STATES, "observations": STATES, "weights": PER_ITEM}
LAYERS = [{"type": "dense", "units": 6, "activation": "tanh"}]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3)).astype(np.float32)


def built(backend, spaces=SPACES, layers=LAYERS, **options):
    component = RandomNetworkDistillation(layers, num_features=4, **options)
    return ComponentTest(component, spaces, backend=backend, seed=1)


def errors_by_hand(test, x):
    weights = test.read_variable_values()

    def dense(scope, inputs):
        return inputs @ weights[f"{scope}/weights"] + weights[f"{scope}/biases"]

    features = dense("target/features", np.tanh(dense("target/network/dense-0", x)))
    hidden = np.maximum(dense("predictor/hidden", np.tanh(dense("predictor/network/dense-0", x))), 0.0)
    return np.square(dense("predictor/features", hidden) - features).mean(-1)


def test_errors(backend):
    test = built(backend)
    expected = errors_by_hand(test, X)
    assert expected.min() > 1e-3, "target and predictor are the same network"
    test.test(("get_intrinsic_rewards", [X]), expected_outputs=expected, decimals=5)
    weights = np.array([1, 0, 1, 1, 0], np.float32)
    counted = {"loss": expected[weights > 0].mean()}
    test.test(("get_loss", [X, weights]), expected_outputs=counted, decimals=5)


def test_only_the_predictor_learns(trainer):
    test = built(trainer, optimizer_spec={"type": "adam", "learning_rate": 0.01})
    before = test.read_variable_values()
    weights = np.array([1, 1, 1, 1, 0], np.float32)
    garbage = np.where(weights[:, None] > 0, X, 7.0).astype(np.float32)
    for _ in range(100):
        test.test(("update", [garbage, weights]))
    after = test.read_variable_values()
    for name in before:
        if name.startswith(("target", "predictor")):
            assert np.array_equal(before[name], after[name]) == name.startswith("target"), name
    seen, new = (test.test(("get_intrinsic_rewards", [x])) for x in (X[:4], -3 * X[:4]))
    assert seen.max() < 0.05 < 0.3 < new.min()


def test_states_are_standardized_by_all_so_far(backend):
    spaces = Dict({"x": FloatBox(shape=(2,)), "n": IntBox(7)}, add_batch_rank=True)
    layers = [{"type": "reshape", "flatten": True}, {"type": "convert_type", "to_dtype": "float"}]
    layers += [{"type": "concat"}, *LAYERS]
    test = built(backend, {"states": spaces, "observations": spaces, "weights": PER_ITEM}, layers)
    seen = []
    for scale in (1.0, 100.0):
        states = {"x": RNG.normal(3.0, scale, (8, 2)).astype(np.float32), "n": np.arange(8) % 7}
        weights = np.array([1, 1, 1, 0, 1, 1, 1, 1], np.float32)
        seen.append(states["x"][weights > 0])
        states["x"][3] = np.inf
        found = test.test(("standardize", [states, weights]))
        rows = np.concatenate(seen)
        expected = np.clip((states["x"] - rows.mean(0)) / rows.std(0), -5, 5)
        np.testing.assert_allclose(found["x"], expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(found["n"], states["n"])
    assert found["x"][3].tolist() == [5.0, 5.0]


def test_mistakes():
    with pytest.raises(SpecError, match=r"random-network-distillation.num_features: .*given 0"):
        RandomNetworkDistillation(LAYERS, 0)
    with pytest.raises(SpecError, match=r"random-network-distillation.limit: .*given 0"):
        RandomNetworkDistillation(LAYERS, limit=0)
    pictures = Dict(camera=IntBox(256, shape=(8, 8, 1), dtype="uint8"), add_batch_rank=True)
    with pytest.raises(SpaceError, match="states/camera: expected floats, given .*: divide them by 255"):
        built("numpy", {**SPACES, "states": pictures})
    built(
        "numpy", {**SPACES, "states": IntBox(2, shape=(8,), dtype="uint8", add_batch_rank=True)}
    )  # as other integers
