"""What the operations refuse, several results, sizes that only values decide, and where derivatives end."""

import pytest

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops import OPERATIONS, EffectRecorder, SymbolicDim, SymbolicOps, SymbolicTensor, TensorSpec

B, T = SymbolicDim.symbol("B"), SymbolicDim.symbol("T")


def tensor(*shape, dtype="float32", low=None, high=None, carries=()):
    return SymbolicTensor(TensorSpec(shape, dtype, low, high), carries=frozenset(carries))


OPS = SymbolicOps(EffectRecorder(), "float32")
X, INT, M = tensor(B, 3), tensor(B, 3, dtype="int64"), tensor(B, 3, dtype="bool")
VECTOR, IMAGE, FILTERS = tensor(3), tensor(B, 8, 8, 3), tensor(3, 3, 3, 5)

REFUSED = {
    "sin of integers": (lambda: OPS.sin(INT), "ops.sin needs a float tensor, given int64[B, 3]"),
    "sign of bools": (lambda: OPS.sign(M), "ops.sign needs a numeric tensor, given bool[B, 3]"),
    "xor of numbers": (lambda: X ^ X, "ops.logical_xor needs a bool tensor"),
    "atan2 of integers": (lambda: OPS.atan2(INT, 1), "ops.atan2 needs a float tensor"),
    "any of numbers": (lambda: OPS.any(X), "ops.any needs a bool tensor"),
    "correction": (
        lambda: OPS.var(X, correction=-1),
        "correction must be an integer of at least 0, given -1",
    ),
    "fractional correction": (lambda: OPS.std(X, correction=0.5), "ops.std: correction must be an integer"),
    "cumulative axis": (lambda: OPS.cumulative_sum(X, axis=2), "axis 2 does not exist"),
    "@ of a number": (lambda: X @ 2.0, "float32[B, 3] @ 2.0: both operands must be tensors"),
    "@ of sizes": (lambda: X @ X, "the inner sizes of float32[B, 3] and float32[B, 3] differ: 3 and B"),
    "outer": (lambda: OPS.outer(X, VECTOR), "ops.outer needs a tensor x [M], given float32[B, 3]"),
    "vecdot": (
        lambda: OPS.vecdot(X, VECTOR),
        "two tensors of the same shape, given float32[B, 3] and float32[3]",
    ),
    "einsum of one": (
        lambda: OPS.einsum("ij->ji", X),
        "needs at least two tensors, given 1; for one use ops.sum",
    ),
    "einsum without result": (lambda: OPS.einsum("bi,ij", X, X), "needs an equation like 'bi,ij->bj'"),
    "einsum of a diagonal": (lambda: OPS.einsum("ii,i->i", X, VECTOR), "different letters per tensor, given"),
    "einsum ellipsis": (lambda: OPS.einsum("...i,i->...", X, VECTOR), "an equation like"),
    "einsum count": (lambda: OPS.einsum("bi,i,i->b", X, VECTOR), "names 3 tensors, but 2 were given"),
    "einsum rank": (
        lambda: OPS.einsum("b,i->b", X, VECTOR),
        "'b' in 'b,i->b' does not name the axes of (B, 3)",
    ),
    "einsum sizes": (lambda: OPS.einsum("bi,b->i", X, VECTOR), "'b' in 'bi,b->i' is both B and 3"),
    "einsum result": (lambda: OPS.einsum("bi,i->k", X, VECTOR), "has a letter that no tensor has"),
    "einsum of numbers": (lambda: OPS.einsum("bi,->b", X, 2.0), "tensors must be a tensor, given float 2.0"),
    "mask of numbers": (lambda: OPS.boolean_mask(X, X), "ops.boolean_mask needs a bool tensor"),
    "mask of another shape": (
        lambda: OPS.boolean_mask(X, tensor(3, dtype="bool")),
        "the mask bool[3] does not fit the first axes of float32[B, 3]",
    ),
    "scalar mask": (lambda: OPS.boolean_mask(X, tensor(dtype="bool")), "does not fit"),
    "segments": (lambda: OPS.segment_sum(X, INT, 4), "needs values [N, ...] and segment_ids [N], given"),
    "segment ids": (lambda: OPS.segment_sum(X, X[:, 0], 4), "ops.segment_sum needs int32 or int64 indices"),
    "number of segments": (
        lambda: OPS.segment_sum(X, INT[:, 0], -1),
        "num_segments must be an integer of at least 0",
    ),
    "sort bools": (lambda: OPS.sort(M), "ops.sort needs a numeric tensor"),
    "top 4 of 3": (lambda: OPS.top_k(X, 4), "axis -1 of float32[B, 3] has 3 elements, fewer than k=4"),
    "top 0": (lambda: OPS.top_k(X, 0), "k must be an integer of at least 1, given 0"),
    "search in a matrix": (
        lambda: OPS.searchsorted(X, X),
        "needs a tensor [N] to search in, given float32[B, 3]",
    ),
    "search promotes": (lambda: OPS.searchsorted(VECTOR, INT), "no implicit promotion"),
    "search side": (
        lambda: OPS.searchsorted(VECTOR, X, side="above"),
        "side must be 'left' or 'right', given 'above'",
    ),
    "moveaxis": (lambda: OPS.moveaxis(X, 0, 2), "axis 2 does not exist in a tensor of rank 2"),
    "flatten": (lambda: OPS.flatten(X, start_axis=2), "axis 2 does not exist"),
    "flip": (lambda: OPS.flip(X, axis=(0, 0)), "ops.flip: axis must be None, an axis, or different axes"),
    "roll": (lambda: OPS.roll(X, 0.5, axis=0), "shift must be an integer, given 0.5"),
    "tile": (
        lambda: OPS.tile(X, (2,)),
        "repetitions must have one entry for each axis of float32[B, 3], given (2,)",
    ),
    "repeat": (lambda: OPS.repeat(X, -1, axis=0), "repeats must be an integer of at least 0, given -1"),
    "pad axes": (lambda: OPS.pad(X, ((1, 1),)), "padding must have one entry for each axis"),
    "pad pairs": (lambda: OPS.pad(X, (1, 1)), "padding must be pairs (before, after), given (1, 1)"),
    "pad value": (lambda: OPS.pad(INT, ((0, 0), (0, 1)), value=0.5), "no implicit promotion"),
    "negative padding": (lambda: OPS.pad(X, ((0, 0), (-1, 0))), "integer of at least 0, given -1"),
    "split sizes": (
        lambda: OPS.split(X, (1, 1), axis=1),
        "(1, 1) add up to 2, axis 1 of float32[B, 3] has 3",
    ),
    "split number": (
        lambda: OPS.split(X, 3, axis=1),
        "sizes must be a list with the size of each part, given 3",
    ),
    "unstack": (lambda: OPS.unstack(X), "axis 0 of float32[B, 3] has the unknown size B"),
    "tril": (lambda: OPS.tril(VECTOR), "ops.tril needs a tensor [..., M, N], given float32[3]"),
    "full": (lambda: OPS.full((2,), 0.5, dtype="int64"), "no implicit promotion"),
    "full like": (
        lambda: OPS.full_like(INT, 0.5),
        "no implicit promotion: int64[B, 3] with the Python scalar 0.5",
    ),
    "full of a tensor": (
        lambda: OPS.full((2,), tensor()),
        "ops.full: value must be known at build time (float), given the tensor float32[]",
    ),
    "clip between tensors": (lambda: OPS.clip(X, tensor(), 1.0), "ops.clip: low must be known at build time"),
    "k of a tensor": (lambda: OPS.top_k(X, INT), "ops.top_k: k must be known at build time (int), given"),
    "eye": (lambda: OPS.eye(2.0), "rows must be an integer of at least 0, given 2.0"),
    "arange of fractions": (lambda: OPS.arange(0.5), "stop must be an integer, given 0.5"),
    "arange without steps": (lambda: OPS.arange(0, 3, 0), "a step other than 0"),
    "arange in steps to an open end": (
        lambda: OPS.arange(0, B, 2),
        "a step other than 1 needs fixed ends, given step=2",
    ),
    "linspace of one": (lambda: OPS.linspace(0.0, 1.0, 1), "num must be an integer of at least 2, given 1"),
    "linspace of integers": (lambda: OPS.linspace(0, 1, 3, dtype="int64"), "for integers use ops.arange"),
    "scale": (
        lambda: OPS.layer_norm(X, tensor(4)),
        "scale float32[4] does not fit the last axis of float32[B, 3]",
    ),
    "flat images": (
        lambda: OPS.conv2d(X, FILTERS),
        "ops.conv2d needs a tensor [N, H, W, C], given float32[B, 3]",
    ),
    "open images": (
        lambda: OPS.conv2d(tensor(B, T, 8, 3), FILTERS),
        "needs images [N, H, W, C] of a fixed height and width, given float32[B, T, 8, 3]",
    ),
    "flat filters": (
        lambda: OPS.conv2d(IMAGE, X),
        "ops.conv2d needs a tensor [h, w, C, O], given float32[B, 3]",
    ),
    "channels": (
        lambda: OPS.conv2d(IMAGE, tensor(3, 3, 4, 5)),
        "float32[B, 8, 8, 3] has 3 channels, the filters float32[3, 3, 4, 5] take 4",
    ),
    "channels of the transpose": (
        lambda: OPS.conv2d_transpose(IMAGE, FILTERS),
        "channels, the filters float32[3, 3, 3, 5] take 5",
    ),
    "padding": (
        lambda: OPS.conv2d(IMAGE, FILTERS, padding="SAME"),
        "must be 'valid' or 'same', given 'SAME'",
    ),
    "strides": (
        lambda: OPS.conv2d(IMAGE, FILTERS, strides=0),
        "strides must be an integer of at least 1, given 0",
    ),
    "three strides": (lambda: OPS.conv2d(IMAGE, FILTERS, (1, 2, 2)), "strides must be a number or a pair"),
    "window": (lambda: OPS.max_pool2d(IMAGE, 9), "a window of (9, 9) does not fit into the images of"),
    "integer images": (lambda: OPS.avg_pool2d(tensor(B, 8, 8, 3, dtype="uint8"), 2), "needs a float tensor"),
    "method": (
        lambda: OPS.resize(IMAGE, (4, 4), "cubic"),
        "must be 'bilinear', 'nearest' or 'area', given 'cubic'",
    ),
    "recurrence factors": (lambda: OPS.linear_recurrence(X, tensor(4)), "do not broadcast"),
    "recurrence rank": (
        lambda: OPS.linear_recurrence(VECTOR, X),
        "d float32[B, 3] does not broadcast to x float32[3]",
    ),
    "recurrence start": (
        lambda: OPS.linear_recurrence(X, 0.9, X),
        "initial float32[B, 3] must have the shape of x float32[B, 3] without axis 0",
    ),
    "recurrence start that would broadcast": (
        lambda: OPS.linear_recurrence(X, 0.9, tensor(1)),
        "initial float32[1] must have the shape of x float32[B, 3] without axis 0",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    run, message = REFUSED[case]
    with pytest.raises(InferenceError) as error:
        run()
    assert message in str(error.value)


def test_several_results():
    values, indices = OPS.top_k(tensor(B, 5, low=0.0, high=2.0, carries="x"), 2)
    assert values.spec == TensorSpec((B, 2), "float32", 0.0, 2.0)
    assert indices.spec == TensorSpec((B, 2), "int64", 0, 5)
    assert (values.carries, indices.carries) == ({"x"}, frozenset())
    sizes = [part.spec.shape for part in OPS.split(tensor(T + 1, 3), (T, 1))]
    assert sizes == [(T, 3), (1, 3)]
    assert [part.spec.shape for part in OPS.unstack(X, axis=1)] == [(B,)] * 3


def test_parts_share_the_memory_of_the_whole():
    source = SymbolicTensor(TensorSpec((2, 3), "float32"), frozenset({"v"}), EffectRecorder())
    for part in (*OPS.split(source, (1, 1)), *OPS.unstack(source), OPS.flip(source), OPS.flatten(source)):
        assert part.aliases == {"v"}
    for copy in (OPS.roll(source, 1, axis=0), OPS.sort(source), *OPS.top_k(source, 1)):
        assert not copy.aliases


def test_a_mask_has_a_size_of_its_own():
    ops = SymbolicOps(EffectRecorder(), "float32", "N7")
    mask, other = M[:, 0], tensor(B, dtype="bool")
    chosen, also, different = (
        ops.boolean_mask(X, mask),
        ops.boolean_mask(INT, mask),
        ops.boolean_mask(X, other),
    )
    assert chosen.spec.shape == also.spec.shape == (SymbolicDim.symbol("N7_0"), 3)
    assert different.spec.shape == (SymbolicDim.symbol("N7_1"), 3)
    assert (chosen * ops.astype(also, "float")).spec.shape == chosen.spec.shape
    with pytest.raises(InferenceError, match="do not broadcast: N7_0 against N7_1"):
        chosen + different
    assert ops.mean(chosen, axis=0).spec.shape == (3,)
    # In another call the same mask may be another one.
    assert (
        SymbolicOps(EffectRecorder(), "float32", "N8").boolean_mask(X, mask).spec.shape[0]
        != chosen.spec.shape[0]
    )


def test_where_derivatives_end():
    x = tensor(B, 3, carries="x")
    for name in ("sign", "floor", "ceil", "round", "trunc", "stop_gradient", "zeros_like", "ones_like"):
        assert not getattr(OPS, name)(x).carries
    for name in ("sin", "sort", "gelu", "var", "flip"):
        assert getattr(OPS, name)(x).carries == {"x"}
    for result in (OPS.argsort(x), OPS.argmin(x, axis=0), OPS.isnan(x), OPS.count_nonzero(x)):
        assert not result.carries
    y = tensor(3, 2, carries="y")
    assert (x @ y).carries == OPS.einsum("bi,ij->bj", x, y).carries == {"x", "y"}


@pytest.mark.parametrize(
    ("result", "low", "high"),
    [
        (OPS.floor(tensor(2, low=-1.5, high=1.5)), -2.0, 1.0),
        (OPS.round(tensor(2, low=0.5, high=1.5)), 0.0, 2.0),
        (OPS.sign(tensor(2, dtype="int32")), -1, 2),
        (OPS.pad(tensor(2, low=1.0, high=2.0), ((0, 1),)), 0, 2.0),
        (OPS.tril(tensor(2, 2, dtype="int32", low=3, high=5)), 0, 5),
        (OPS.arange(2, 9, 3), 2, 9),
        (OPS.arange(B), 0, None),
        (OPS.count_nonzero(tensor(2, 3)), 0, 7),
        (OPS.searchsorted(tensor(4), X), 0, 5),
        (OPS.full((2,), 7, dtype="int64"), 7, 8),
        (OPS.linspace(1.0, -1.0, 3), -1.0, 1.0),
        (OPS.resize(tensor(B, 2, 2, 1, low=0.0, high=1.0), (4, 4)), 0.0, 1.0),
    ],
)
def test_bounds(result, low, high):
    assert (result.spec.low, result.spec.high) == (low, high)


def test_open_sizes():
    batch, units = OPS.shape(X)
    assert OPS.arange(batch).spec.shape == (B,)
    assert OPS.arange(1, batch).spec.shape == (B - 1,)
    assert OPS.eye(batch, units).spec.shape == (B, 3)
    assert OPS.flatten(tensor(B, T, 3)).spec.shape == (3 * B * T,)
    assert OPS.tile(X, (2, batch)).spec.shape == (2 * B, 3 * B)
    assert OPS.pad(X, ((1, 2), (0, 0))).spec.shape == (B + 3, 3)
    assert OPS.segment_sum(X, INT[:, 0], batch).spec.shape == (B, 3)


def test_a_signature_is_made_once():
    assert OPERATIONS["conv2d"].signature is OPERATIONS["conv2d"].signature
