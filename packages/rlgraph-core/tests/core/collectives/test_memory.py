"""Groups of learners in threads of this process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlgraph.core import CollectiveError, memory_group


def test_learners_get_the_sum_and_everyones_message():
    group = memory_group(3)
    with ThreadPoolExecutor(3) as pool:
        sums = list(pool.map(lambda each: each.all_reduce(np.full(4, 10.0**each.rank)), group))
        messages = list(pool.map(lambda each: each.all_gather(b"x" * each.rank), group))
    assert all(np.array_equal(each, np.full(4, 111.0)) for each in sums)
    assert messages == [[b"", b"x", b"xx"]] * 3


def test_a_learner_that_does_not_come_is_an_error_within_the_limit():
    first, _ = memory_group(2, timeout=0.05)
    with pytest.raises(CollectiveError, match="learner 0: .* did not come within 0.05 s"):
        first.all_reduce(np.ones(1))
