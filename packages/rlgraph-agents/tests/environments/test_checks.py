"""check_finite."""

import numpy as np
import pytest

from rlgraph.environments import EnvironmentFault, check_finite


def describe(row):
    return f"CartPole-v1, environment {row % 2}, step {row // 2}"


def test_finite_rows_and_integers_pass():
    check_finite(np.zeros((4, 3), np.float32), describe)
    check_finite(np.full((4, 3), np.finfo(np.float32).max, np.float32), describe)
    check_finite(np.zeros((4, 3), np.uint8), describe)
    check_finite(np.zeros((0, 3), np.float32), describe)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_bad_row_is_named(value):
    rows = np.zeros((6, 2, 3), np.float32)
    rows[5, 0, 0] = rows[3, 1, 2] = value
    with pytest.raises(
        EnvironmentFault, match=rf"CartPole-v1, environment 1, step 1: state\[1, 2\] is {value}"
    ):
        check_finite(rows, describe)
    with pytest.raises(EnvironmentFault, match="environment 0, step 0: state is nan"):
        check_finite(np.array([np.nan, 0.0]), describe)
