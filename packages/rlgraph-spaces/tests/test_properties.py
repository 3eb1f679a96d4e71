"""Laws that hold for every Space."""

import copy
import json
import pickle

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rlgraph.spaces
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space, SpaceError, check_space_equivalence, from_spec
from rlgraph.spaces.testing import (
    DTYPES,
    box_spaces,
    float_boxes,
    int_boxes,
    shapes,
    spaces,
    spaces_and_samples,
)

NAMES = {name: getattr(rlgraph.spaces, name) for name in rlgraph.spaces.__all__}
SPACES_AND_SAMPLES = spaces_and_samples()

fast = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def same(one, other):
    """True if two samples are equal in structure, dtypes and values."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and bool(np.all(one == other))


@fast
@given(spaces())
def test_repr_reads_back(space):
    assert eval(repr(space), dict(NAMES)) == space


@fast
@given(spaces())
def test_spec_reads_back_through_strict_json(space):
    assert from_spec(json.loads(json.dumps(space.to_spec(), allow_nan=False))) == space


@fast
@given(spaces())
def test_specs_are_never_changed(space):
    spec = space.to_spec()
    before = copy.deepcopy(spec)
    assert from_spec(spec) == from_spec({"a": [spec]})["a"][0] == space
    assert spec == before


SHAPES = st.lists(st.integers(1, 3), max_size=2).map(tuple)


@fast
@given(float_boxes(shapes=SHAPES) | int_boxes(shapes=SHAPES))
def test_arrays_of_bounds_are_copied(space):
    low, high = (
        None if bound is None else np.array(np.broadcast_to(bound, space.shape)) for bound in space.bounds
    )
    made = type(space)(low, high, space.shape, space.dtype)
    assert made == space
    for bound in (low, high):
        if bound is not None:
            bound.fill(1)
    assert made == space


@fast
@given(spaces())
def test_pickle_gives_an_equal_read_only_space(space):
    loaded = pickle.loads(pickle.dumps(space))
    assert loaded is not space
    assert loaded == space
    assert hash(loaded) == hash(space)
    for leaf in loaded.flatten().values():
        for bound in (leaf.low, leaf.high):
            assert not isinstance(bound, np.ndarray) or not bound.flags.writeable


@fast
@given(spaces())
def test_copies_of_a_value_are_the_value(space):
    assert copy.deepcopy(space) is space
    assert copy.copy(space) is space


@fast
@given(spaces(), spaces())
def test_equality_is_that_of_the_repr(one, other):
    """`repr` holds all that a Space is, so that two Spaces are equal if and only if their texts are."""
    assert (one == other) == (repr(one) == repr(other))
    assert one != other or hash(one) == hash(other)


@fast
@given(
    st.sampled_from([FloatBox, IntBox]), shapes(), st.integers(-9, 9), st.integers(1, 9), st.integers(1, 9)
)
def test_spaces_with_other_bounds_are_unequal(box, shape, low, width, more):
    one, other, shifted = (
        box(low, low + width, shape),
        box(low, low + width + more, shape),
        box(low - more, low + width, shape),
    )
    assert len({one, other, shifted}) == 3


@fast
@given(spaces(), spaces())
def test_equivalent_spaces_describe_the_same_arrays(one, other):
    general = check_space_equivalence(one, other)
    assert check_space_equivalence(one, one) is one
    assert general is None or general is one or general is other
    assert (general is None) == (check_space_equivalence(other, one) is None)
    # A fixed batch is a special case of an unknown one, whatever the structure.
    unknown, fixed = one.with_extra_ranks(True, False), one.with_extra_ranks(3, False)
    if one.flatten():
        assert check_space_equivalence(fixed, unknown) is unknown


@fast
@given(SPACES_AND_SAMPLES)
def test_samples_are_contained(pair):
    space, sample = pair
    assert space.explain(sample) is None
    assert space.contains(sample)


@fast
@given(spaces(), st.integers(0, 2**32 - 1))
def test_sampling_is_determined_by_the_generator(space, seed):
    first = space.sample(rng=np.random.default_rng(seed))
    assert same(first, space.sample(rng=np.random.default_rng(seed)))
    assert space.contains(first)


@fast
@given(SPACES_AND_SAMPLES)
def test_unflatten_inverts_flatten(pair):
    space, sample = pair
    flat = space.flatten_sample(sample)
    assert list(flat) == list(space.flatten())
    assert same(space.unflatten_sample(flat), sample)


@fast
@given(SPACES_AND_SAMPLES)
def test_a_sample_is_contained_if_and_only_if_its_leaves_are(pair):
    space, sample = pair
    flat = space.flatten_sample(sample)
    for path, leaf in space.flatten().items():
        wrong = {**flat, path: np.zeros((*np.shape(flat[path]), 1), leaf.numpy_dtype)}
        problem = space.explain(space.unflatten_sample(wrong))
        assert problem is not None
        assert problem.startswith(f"{path or 'sample'}: expected ")


@fast
@given(spaces())
def test_zeros_have_the_shapes_and_dtypes_of_samples(space):
    zeros, sample = space.flatten_sample(space.zeros()), space.flatten_sample(space.sample())
    for path, leaf in space.flatten().items():
        assert np.shape(zeros[path]) == np.shape(sample[path])
        assert np.asarray(zeros[path]).dtype.kind == np.asarray(sample[path]).dtype.kind
        empty = "" if leaf.dtype == "str" else 0
        assert np.all(np.asarray(zeros[path]) == empty)


@fast
@given(box_spaces(), st.booleans(), st.booleans())
def test_shapes_of_samples_are_those_of_get_shape(space, batch, time):
    space = space.with_extra_ranks(5 if batch else False, 4 if time else False)
    assert np.shape(space.sample()) == space.get_shape(with_batch_rank=True, with_time_rank=True)


@fast
@given(spaces())
def test_ranks_reach_every_leaf_and_can_be_taken_away(space):
    ranked = space.with_extra_ranks("demo", 3, time_major=True)
    for leaf in ranked.flatten().values():
        assert (leaf.batch_rank, leaf.time_rank, leaf.time_major) == ("demo", 3, True)
    plain = ranked.without_ranks()
    assert plain == space.without_ranks()
    assert not any(leaf.has_batch_rank or leaf.has_time_rank for leaf in plain.flatten().values())


@fast
@given(spaces(batch_ranks=[False], time_ranks=[False]))
def test_force_batch_adds_one_axis_once(space):
    sample = space.sample()
    batched, added = space.force_batch(sample)
    again, added_again = space.force_batch(batched)
    assert added == bool(space.flatten())
    assert not added_again
    assert same(batched, again)
    batch_space = space.with_batch_rank(1)
    assert batch_space.explain(batched) is None


@fast
@given(spaces())
def test_every_path_leads_to_its_leaf(space):
    assert space.flat_key_lookup("") is space
    for path, leaf in space.flatten().items():
        assert space.flat_key_lookup(path) is leaf
        with pytest.raises(SpaceError, match="expected the end of the path"):
            space.flat_key_lookup(f"{path}/x" if path else "x")


@fast
@given(spaces())
def test_a_mapped_space_has_the_same_structure(space):
    assert space.map(lambda path, leaf: leaf) == space
    bools = space.map(lambda path, leaf: bool)
    assert all(leaf.dtype == "bool" for leaf in bools.flatten().values())
    assert list(bools.flatten()) == list(space.flatten())


@fast
@given(SPACES_AND_SAMPLES)
def test_a_sample_can_be_filled_with_a_sample(pair):
    space, sample = pair
    size = next(
        (np.shape(flat)[: len(space.ranks.ordered())] for flat in space.flatten_sample(sample).values()), None
    )
    assert same(space.sample(size or None, fill_value=sample), sample)


@fast
@given(spaces())
def test_map_leaves_keeps_the_structure(space):
    paths = space.map_leaves(lambda path, leaf: path)
    assert space.flatten_sample(paths) == {path: path for path in space.flatten()}


@fast
@given(spaces(batch_ranks=[False], time_ranks=[False]))
def test_flat_dim_counts_the_values_of_a_sample(space):
    flat = space.flatten_sample(space.sample())
    assert space.flat_dim == sum(np.size(leaf) for leaf in flat.values())


@fast
@given(box_spaces(dtypes=set(DTYPES) - {"str"}))
def test_bounds_are_told_consistently(space):
    assert isinstance(space, BoxSpace)
    assert space.bounded == (space.bounded_below and space.bounded_above)
    if space.global_bounds is not None:
        assert space.global_bounds == (space.low, space.high)
        assert space.bounded


@fast
@given(spaces())
def test_nothing_can_be_set(space):
    assert isinstance(space, Space)
    for name in ("ranks", "shape", "new"):
        with pytest.raises(AttributeError, match="is immutable: cannot set"):
            setattr(space, name, 1)
    with pytest.raises(AttributeError, match="cannot delete 'ranks'"):
        del space.ranks
