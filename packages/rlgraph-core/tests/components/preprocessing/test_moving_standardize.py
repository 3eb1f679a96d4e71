import numpy as np
import pytest

from rlgraph.components import MovingStandardize, NeuralNetwork
from rlgraph.core import SpecError
from rlgraph.spaces import FloatBox, IntBox, SpaceError, TextBox
from rlgraph.testing import ComponentTest

SPACES = {"inputs": FloatBox(shape=(2,), add_batch_rank=True)}


def test_by_all_that_was_seen(backend):
    """NumPy's mean and variance of everything up to and with the batch."""
    test = ComponentTest(MovingStandardize(), SPACES, backend=backend, execution_spec={"dtype": "float64"})
    rng, seen = np.random.default_rng(0), []
    for size in (1, 4, 2, 64, 1):
        x = rng.normal([3.0, -100.0], [0.5, 20.0], (size, 2))
        seen.extend(x)
        expected = (x - np.mean(seen, axis=0)) / (np.std(seen, axis=0) if len(seen) > 1 else 1.0)
        test.test("call", x, expected_outputs=expected, decimals=8)


def test_a_reset_forgets_all_states(backend):
    """After it, a layer is as new: its results and its variables are those of another one."""
    x = np.float32([[1.0, 5.0], [3.0, 9.0]])
    test = ComponentTest(MovingStandardize(), SPACES, backend=backend)
    test.test("call", x + 100.0)
    assert test.test("reset") is None
    test.variable_test({"moving-standardize/count": 0, "moving-standardize/mean": [0, 0]})
    test.test("apply", x, expected_outputs=x)  # nothing was seen
    test.test("call", x, expected_outputs=[[-1.0, -1.0], [1.0, 1.0]])  # means 2 and 7, deviations 1 and 2


def test_numbers(backend):
    spaces = {"inputs": IntBox(256, dtype="uint8", add_batch_rank=True)}
    test = ComponentTest(MovingStandardize(), spaces, backend=backend)
    test.test("call", np.uint8([7]), expected_outputs=[0.0])
    test.test("call", np.uint8([9]), expected_outputs=[1.0])  # mean 8, deviation 1


def test_every_step_of_sequences_counts(backend):
    spaces = {"inputs": FloatBox(add_batch_rank=True, add_time_rank=True)}
    test = ComponentTest(MovingStandardize(), spaces, backend=backend)
    x = np.float32([[1.0, 3.0], [1.0, 3.0]])  # mean 2, deviation 1
    test.test("call", x, expected_outputs=x - 2.0)


def test_it_settles():
    """In single precision, too: after many states the mean and variance are still those of the states."""
    test = ComponentTest(MovingStandardize(), SPACES, backend="numpy")
    rng, x = np.random.default_rng(0), None
    for _ in range(2000):
        x = rng.normal(5.0, 3.0, (64, 2)).astype(np.float32)
        given = test.test("call", x)
    np.testing.assert_allclose(given, (x - 5.0) / 3.0, atol=0.03)


@pytest.mark.slow
def test_long_runs():
    """One by one, the mean of 80000 states moves on, and a small variance beside a large mean is kept."""
    states = np.repeat(np.float32([1000.0, 1001.0]), 40000)[:, None] * np.ones(2, np.float32)
    test = ComponentTest(MovingStandardize(), SPACES, backend="numpy")
    call = test.executor.program("call")
    for state in states:
        call(state[None])
    read = test.executor.storage.host
    np.testing.assert_allclose(read["moving-standardize/mean"], 1000.5, rtol=1e-12)
    np.testing.assert_allclose(read["moving-standardize/variance"], 0.25, rtol=1e-9)


def test_empty_batches(backend):
    """They teach nothing, not even as the first ones."""
    test = ComponentTest(MovingStandardize(), SPACES, backend=backend)
    empty = np.zeros((0, 2), np.float32)
    assert test.test("call", empty).shape == (0, 2)
    test.test("call", [[1.0, 10.0], [3.0, 30.0]], expected_outputs=[[-1.0, -1.0], [1.0, 1.0]])
    assert test.test("call", empty).shape == (0, 2)
    test.test("call", [[2.0, 20.0]], expected_outputs=[[0.0, 0.0]])


@pytest.mark.parametrize(("epsilon", "deviation"), [(0.0, 1.0), (1e-8, 0.1)])
def test_small_states_get_a_deviation_of_1_unless_epsilon_is_as_small(epsilon, deviation, backend):
    test = ComponentTest(MovingStandardize(epsilon), SPACES, backend=backend)
    rows = np.stack([1e-5 * np.random.default_rng(0).standard_normal(500), np.full(500, 0.1)], axis=1)
    standardized = test.test("call", rows.astype(np.float32))
    assert standardized[:, 0].std() == pytest.approx(deviation, rel=0.01)
    np.testing.assert_allclose(standardized[:, 1], 0.0, atol=1e-3)


def test_apply_does_not_count(backend):
    test = ComponentTest(MovingStandardize(), SPACES, backend=backend)
    test.test("apply", [[5.0, 6.0]], expected_outputs=[[5.0, 6.0]])  # nothing was seen
    test.test("call", [[1.0, 10.0], [3.0, 30.0]])
    for _ in range(3):
        test.test("apply", [[4.0, 40.0]], expected_outputs=[[2.0, 2.0]])
    test.test("call", [[2.0, 20.0]], expected_outputs=[[0.0, 0.0]])
    test.test("call", [[3.0, 30.0]], expected_outputs=[[0.75 / 0.6875**0.5] * 2])


def test_a_checkpoint_keeps_the_statistics(tmp_path, backend):
    made, other = (ComponentTest(MovingStandardize(), SPACES, backend=backend) for _ in range(2))
    made.test("call", [[1.0, 10.0], [3.0, 30.0]])
    made.executor.save(tmp_path / "checkpoint")
    other.executor.load(tmp_path / "checkpoint")
    other.test("apply", [[4.0, 40.0]], expected_outputs=[[2.0, 2.0]])


def test_wrong_use():
    with pytest.raises(SpecError, match="moving-standardize.epsilon: expected a number >= 0, given -1"):
        MovingStandardize(epsilon=-1)
    with pytest.raises(SpaceError, match="moving-standardize: expected numbers"):
        MovingStandardize().get_preprocessed_space(TextBox())
    with pytest.raises(SpecError, match="moving-standardize-0 keeps frames or statistics"):
        NeuralNetwork([{"type": "moving_standardize", "scope": "moving-standardize-0"}])
