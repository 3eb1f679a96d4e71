"""Importance weights as Schaul et al. (2016), section 3.4, write them."""

import numpy as np
import pytest

from rlgraph.core.functional.prioritized_replay import importance_weights


@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
def test_against_the_formula(beta):
    """``(N P(i)) ** -beta``, divided by the largest of the batch or of the whole memory."""
    held = np.random.default_rng(0).exponential(size=20)
    batch = [3, 7, 7, 19]
    weights = [(len(held) * p / held.sum()) ** -beta for p in held]
    of_batch = [weights[i] / max(weights[j] for j in batch) for i in batch]
    of_memory = [weights[i] / max(weights) for i in batch]
    np.testing.assert_allclose(importance_weights(held[batch], beta), of_batch)
    np.testing.assert_allclose(importance_weights(held[batch], beta, held.min()), of_memory)


def test_of_no_records():
    assert importance_weights(np.zeros(0), 0.4).shape == (0,)
