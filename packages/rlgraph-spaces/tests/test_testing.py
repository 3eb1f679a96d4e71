"""The strategies keep to their options and reach all that the options allow."""

import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, Phase, find, given, settings

from rlgraph.spaces import BoxSpace, ContainerSpace, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.spaces.testing import (
    DTYPES,
    FLOATS,
    RANKS,
    bool_boxes,
    box_spaces,
    float_boxes,
    int_boxes,
    samples,
    shapes,
    spaces,
    spaces_and_samples,
    text_boxes,
)

fast = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
# Where a search ends depends on the modules that happen to be loaded: Hypothesis takes constants from them.
search = settings(fast, max_examples=20_000, phases=[Phase.generate], database=None)


def depth(space):
    return 1 + max(map(depth, space._spaces), default=0) if isinstance(space, ContainerSpace) else 0


@fast
@given(
    spaces(
        dtypes=["float32", "uint8"],
        shapes=shapes(max_rank=1, max_side=2),
        batch_ranks=[True],
        time_ranks=[False, 4],
        containers=[Dict],
        max_depth=1,
        max_children=2,
    )
)
def test_spaces_keep_to_their_options(space):
    assert depth(space) <= 1
    assert space.batch_rank is True
    assert space.time_rank in (False, 4)
    if isinstance(space, ContainerSpace):
        assert isinstance(space, Dict)
        assert len(space) <= 2
    for leaf in space.flatten().values():
        assert leaf.dtype in ("float32", "uint8")
        assert leaf.rank <= 1
        assert max(leaf.shape, default=0) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        *((spaces(), lambda space, dtype=dtype: getattr(space, "dtype", None) == dtype) for dtype in DTYPES),
        *((box_spaces(), lambda space, rank=rank: repr(space.time_rank) == repr(rank)) for rank in RANKS),
        (spaces(), lambda space: isinstance(space, Tuple) and any(isinstance(each, Dict) for each in space)),
        (spaces(max_depth=3), lambda space: depth(space) == 3),
        (spaces(), lambda space: isinstance(space, Dict) and not space),
        (float_boxes(), lambda space: space.unbounded),
        (float_boxes(), lambda space: space.bounded and not space.global_bounds),
        (float_boxes(), lambda space: space.bounded_below and not space.bounded_above),
        (int_boxes(), lambda space: space.num_categories is not None),
        (int_boxes(), lambda space: space.unbounded),
        (bool_boxes(), lambda space: 0 in space.shape),
        (text_boxes(), lambda space: space.charset is not None and space.max_length == 0),
    ],
)
def test_what_the_strategies_reach(strategy, wanted):
    assert wanted(find(strategy, wanted, settings=search))


@fast
@given(spaces(max_depth=0) | spaces(containers=[]))
def test_leaves_alone(space):
    assert isinstance(space, BoxSpace)


@fast
@given(spaces_and_samples(dtypes=FLOATS, batch_ranks=[True], time_ranks=[False]))
def test_pairs_take_the_options_of_spaces(pair):
    space, sample = pair
    assert space.contains(sample)
    assert all(isinstance(leaf, FloatBox) for leaf in space.flatten().values())


@fast
@given(samples(FloatBox(add_batch_rank=True, add_time_rank=4), min_size=2, max_size=3))
def test_sizes_of_samples(sample):
    assert sample.shape in {(2, 4), (3, 4)}


def test_samples_reach_both_bounds():
    space = IntBox(-1000, 1000)
    assert find(samples(space), lambda sample: sample == -1000, settings=search) == -1000
    assert find(samples(space), lambda sample: sample == 999, settings=search) == 999


@pytest.mark.parametrize("dtypes", [["int8"], []])
def test_unknown_dtypes_are_refused(dtypes):
    with pytest.raises(SpaceError) as caught:
        box_spaces(dtypes=dtypes)
    assert str(caught.value) == f"dtypes: expected some of {', '.join(DTYPES)}, given {dtypes}"
