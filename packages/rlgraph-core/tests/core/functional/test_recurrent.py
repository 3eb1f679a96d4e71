import numpy as np
import pytest

from rlgraph.core.functional.recurrent import gru_step, lstm_step, project, unroll
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def test_an_lstm_step_by_hand():
    # One unit, one sequence: z = (z_i, z_f, z_g, z_o) = (0.1, 0.2, 0.3, 0.4) + 0.5 * (1, -1, 2, -2)
    projected, c, h = np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[2.0]]), np.array([[0.5]])
    weights = np.array([[1.0, -1.0, 2.0, -2.0]])
    c_t = sigmoid(-0.3) * 2.0 + sigmoid(0.6) * np.tanh(1.3)
    given = lstm_step(OPS, projected, c, h, weights)
    np.testing.assert_allclose(given, ([[c_t]], [[sigmoid(-0.6) * np.tanh(c_t)]]))


def test_peepholes_see_the_cell_and_the_output_gate_sees_the_new_clipped_one():
    projected, c, h = np.zeros((1, 4)), np.array([[2.0]]), np.zeros((1, 1))
    weights, peepholes = np.zeros((1, 4)), np.array([[3.0], [1.0], [-2.0]])
    c_t = sigmoid(2.0) * 2.0  # the new value, tanh(0), is 0
    given = lstm_step(OPS, projected, c, h, weights, peepholes)
    np.testing.assert_allclose(given, ([[c_t]], [[sigmoid(-2.0 * c_t) * np.tanh(c_t)]]))
    given = lstm_step(OPS, projected, c, h, weights, peepholes, cell_clip=0.5)
    np.testing.assert_allclose(given, ([[0.5]], [[sigmoid(-1.0) * np.tanh(0.5)]]))


def test_the_input_gate_has_the_first_peephole():
    projected, c, h = np.array([[0.0, -50.0, 1.0, 0.0]]), np.array([[2.0]]), np.zeros((1, 1))
    given = lstm_step(OPS, projected, c, h, np.zeros((1, 4)), np.array([[0.7], [0.0], [0.0]]))
    np.testing.assert_allclose(given[0], [[sigmoid(1.4) * np.tanh(1.0)]])


def test_a_gru_step_by_hand():
    # One unit: u = 0.5 * (1, -1, 2) + (0, 0, 0.1)
    projected, h = np.array([[0.1, 0.2, 0.3]]), np.array([[0.5]])
    r, z = sigmoid(0.1 + 0.5), sigmoid(0.2 - 0.5)
    n = np.tanh(0.3 + r * 1.1)
    given = gru_step(OPS, projected, h, np.array([[1.0, -1.0, 2.0]]), np.array([0.0, 0.0, 0.1]))
    np.testing.assert_allclose(given, [[(1.0 - z) * n + z * 0.5]])


def test_unroll_sums_up_to_the_length_of_each_sequence():
    xs = np.arange(1.0, 7.0).reshape(3, 2, 1)  # sequences 1, 3, 5 and 2, 4, 6

    def add(x_t, states):
        return (states[0] + x_t,)

    start = (np.array([[100.0], [200.0]]),)
    ys, (last,) = unroll(OPS, add, xs, start)
    np.testing.assert_array_equal(ys[..., 0], [[101, 202], [104, 206], [109, 212]])
    np.testing.assert_array_equal(last, [[109], [212]])
    ys, (last,) = unroll(OPS, add, xs, start, np.array([2, 0], np.int32))
    np.testing.assert_array_equal(ys[..., 0], [[101, 0], [104, 0], [0, 0]])
    np.testing.assert_array_equal(last, [[104], [200]])


@pytest.mark.parametrize("leading", [(4,), (2, 4)])
def test_project(leading):
    x, weights, biases = np.random.default_rng(0).normal(size=(*leading, 3)), np.eye(3, 5), np.arange(5.0)
    np.testing.assert_allclose(
        project(OPS, x, weights, biases), np.pad(x, [(0, 0)] * len(leading) + [(0, 2)]) + biases
    )
