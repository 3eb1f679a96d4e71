"""Space and BoxSpace: the base classes of all Spaces and of the leaves, which every Space consists of."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from rlgraph.spaces.bounds import Bound, bound_key
from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.ranked import Ranked
from rlgraph.spaces.ranks import Ranks, Size, is_fixed, leading_dims

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

__all__ = ["BoxSpace", "Space", "read_spec", "spec_readers"]

T = TypeVar("T")

#: Readers of specs, the last one counts. `rlgraph.spaces.spec` knows all classes and adds its own.
spec_readers: list[Callable[[Any, str], Space]] = []


def read_spec(spec: Any, path: str = "") -> Space:
    """`from_spec` for a spec at `path` inside another one."""
    return spec_readers[-1](spec, path)


class Space(Ranked):
    """Type, shape, bounds, batch rank and time rank of a value. Immutable.

    Equal Spaces have the same class, shape, dtype, bounds and ranks. `repr` can be read back.
    """

    type_name: ClassVar[str]

    # -- as a value ----------------------------------------------------------------------------

    @abstractmethod
    def _key(self) -> Hashable:
        """The values that two equal Spaces of one class share, without ranks."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Space):
            return NotImplemented
        # repr of the ranks: a fixed rank of 1 differs from an unknown one, but 1 == True.
        return (
            type(self) is type(other)
            and repr(self.ranks) == repr(other.ranks)
            and self._key() == other._key()
        )

    def __hash__(self) -> int:
        return hash((type(self), repr(self.ranks), self._key()))

    @abstractmethod
    def __repr__(self) -> str:
        """Python code that creates an equal Space."""

    @classmethod
    def from_spec(cls, spec: Any) -> Self:
        """Builds a Space from a Space, a type, a name or a (nested) dict, tuple or list; see `from_spec`.

        Raises SpaceError if the spec is not valid or describes another kind of Space than `cls`.
        """
        space = read_spec(spec)
        if not isinstance(space, cls):
            raise mismatch("", f"the spec of a {cls.__name__}", repr(space))
        return space

    @abstractmethod
    def to_spec(self) -> dict[str, Any]:
        """A JSON-serializable dict; `from_spec` turns it into an equal Space."""

    # -- structure -----------------------------------------------------------------------------

    @abstractmethod
    def get_shape(
        self,
        with_batch_rank: bool | int = False,
        with_time_rank: bool | int = False,
        time_major: bool | None = None,
        with_category_rank: bool = False,
    ) -> tuple[Any, ...]:
        """The shape of a leaf, the shapes of a container's children in order."""

    @property
    @abstractmethod
    def flat_dim(self) -> int:
        """The number of values in one element (ranks left out)."""

    @property
    @abstractmethod
    def flat_dim_with_categories(self) -> int:
        """`flat_dim` with every categorical value one-hot encoded."""

    def flatten(
        self, mapping: Any = None, custom_scope_separator: str = "/", scope_separator_at_start: bool = False
    ) -> dict[str, Any]:
        """The leaves by path ("a/b/0"), in the order of the structure; {"": self} for a leaf.

        Args:
            mapping: ``f(path, leaf)``, which gives what is returned in place of a leaf.
            custom_scope_separator: what stands between the names of a path.
            scope_separator_at_start: whether the path of a part begins with it.
        """
        leaves: dict[str, Any] = self._leaves()
        if custom_scope_separator != "/" or scope_separator_at_start:
            start = custom_scope_separator if scope_separator_at_start else ""
            leaves = {
                path and start + path.replace("/", custom_scope_separator): leaf
                for path, leaf in leaves.items()
            }
        return {path: mapping(path, leaf) for path, leaf in leaves.items()} if mapping else leaves

    @abstractmethod
    def _leaves(self) -> dict[str, BoxSpace]:
        """`flatten` without options."""

    @abstractmethod
    def flat_key_lookup(self, path: str) -> Space:
        """The Space at a path: a leaf ("a/b/0"), an inner container ("a/b"), or itself ("").

        Raises SpaceError for an unknown path, with the valid keys.
        """

    @abstractmethod
    def flatten_sample(self, sample: Any) -> dict[str, Any]:
        """The leaves of a sample by path. Raises SpaceError if its structure differs."""

    @abstractmethod
    def unflatten_sample(self, flat: dict[str, Any]) -> Any:
        """The inverse of `flatten_sample`. Raises SpaceError for missing or unknown paths."""

    def map_leaves(self, fn: Callable[[str, BoxSpace], T]) -> Any:
        """The results of `fn(path, leaf)`, in plain dicts and tuples of this Space's structure."""
        return self.unflatten_sample({path: fn(path, leaf) for path, leaf in self.flatten().items()})

    def map(self, fn: Callable[[str, BoxSpace], Any]) -> Space:
        """A Space of the same structure; `fn(path, leaf)` returns the new leaf, a Space or a spec.

        The ranks are those of the new leaves. Raises SpaceError with the path of an invalid spec.
        """
        if not self.flatten():
            return self
        return read_spec(self.map_leaves(lambda path, leaf: read_spec(fn(path, leaf), path)))

    # -- data ----------------------------------------------------------------------------------

    @abstractmethod
    def sample(
        self,
        size: Size = None,
        fill_value: Any = None,
        horizontal: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> Any:
        """Draws a sample: an array, a dict (of a Dict) or a tuple (of a Tuple).

        Args:
            size: leading dimensions; None: 1 for each unknown rank, none without ranks.
            fill_value: fills the sample instead of drawn values. A container passes it to all its
                leaves, or takes one value per child as a dict or tuple (None: that child is drawn).
            horizontal: a list of `size` samples without ranks, in place of one sample of all.
            rng: the random generator; None: a new one.

        Raises:
            SpaceError: for a size that does not fit the ranks, or a fill value outside the Space.
        """

    def _separate_samples(self, size: Size, fill_value: Any, rng: np.random.Generator | None) -> list[Any]:
        (number,) = leading_dims(Ranks(True, False, False), size)
        single, rng = self.without_ranks(), np.random.default_rng() if rng is None else rng
        return [single.sample(None, fill_value, rng=rng) for _ in range(number)]

    @abstractmethod
    def zeros(self, size: Size = None) -> Any:
        """A sample of zeros (False, ""), even if 0 is out of bounds; `size` as in `sample`."""

    @abstractmethod
    def explain(self, sample: Any, name: str = "") -> str | None:
        """None if the Space contains the sample, else the reason: path, expected, given."""

    def contains(self, sample: Any) -> bool:
        """True if the sample has this structure, dtype kind and shape and is within the bounds."""
        return self.explain(sample) is None

    def force_batch(self, sample: Any) -> tuple[Any, bool]:
        """Adds a batch rank of 1 to a sample without one.

        Returns:
            The sample with a batch rank, and whether it was added (to all leaves of a container).

        Raises:
            SpaceError: for a wrong number of axes, or if only some leaves have a batch rank.
        """
        flat, leaves = self.flatten_sample(sample), self.flatten()
        first: bool | None = None
        for path, value in flat.items():
            flat[path], added = leaves[path]._force_batch(value, path)
            if first is not None and added != first:
                words = {True: "no batch rank", False: "a batch rank"}
                raise mismatch(path, f"{words[first]} as in {next(iter(flat))!r}", words[added])
            first = added
        return self.unflatten_sample(flat), bool(first)


class BoxSpace(Space):
    """A Space whose elements are arrays of one shape and dtype.

    Attributes:
        shape: without batch and time rank.
        dtype: the name of the dtype ("float32", "int64", "bool", "str").
        low, high: a Python scalar if all elements share it, else a read-only array; None: unbounded on
            that side. The high of an IntBox is exclusive.
    """

    kinds: ClassVar[str]
    """The kinds of numpy dtypes that samples may have."""
    default_dtype: ClassVar[str]

    shape: tuple[int, ...]
    dtype: str
    low: Bound
    high: Bound

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # pickle forgets it
        self.__dict__.update(state)

    def _key(self) -> Hashable:
        return (self.shape, self.dtype, bound_key(self.low), bound_key(self.high))

    def _arguments(self) -> dict[str, Any]:
        """Constructor arguments without ranks and defaults; JSON-serializable except for the shape."""
        return self._shape_and_dtype()

    def __repr__(self) -> str:
        arguments = {**self._arguments(), **self.ranks.options()}
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"

    def _shape_and_dtype(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        if self.shape and not isinstance(self.low, np.ndarray) and not isinstance(self.high, np.ndarray):
            arguments["shape"] = self.shape
        if self.dtype != self.default_dtype:
            arguments["dtype"] = self.dtype
        return arguments

    def to_spec(self) -> dict[str, Any]:
        spec = {"type": self.type_name, **self._arguments(), **self.ranks.options()}
        if "shape" in spec:
            spec["shape"] = list(spec["shape"])
        return spec

    def _with_ranks(self, ranks: Ranks) -> Self:
        space = object.__new__(type(self))
        space._init(**{**self.__dict__, "ranks": ranks})
        return space

    # -- shape and bounds ----------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """The number of axes, without batch and time rank."""
        return len(self.shape)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The numpy dtype of samples (object for text)."""
        return np.dtype(self.dtype)

    @property
    def flat_dim(self) -> int:
        return math.prod(self.shape)

    @property
    def num_categories(self) -> int | None:
        """The number of values of a categorical Space that starts at 0, else None."""
        return None

    @property
    def flat_dim_with_categories(self) -> int:
        return self.flat_dim * (self.num_categories or 1)

    @property
    def bounded_below(self) -> bool:
        """True if every element has a lower bound."""
        return self.low is not None and bool(np.all(np.isfinite(self.low)))

    @property
    def bounded_above(self) -> bool:
        """True if every element has an upper bound."""
        return self.high is not None and bool(np.all(np.isfinite(self.high)))

    @property
    def bounded(self) -> bool:
        """True if every element is bounded on both sides."""
        return self.bounded_below and self.bounded_above

    @property
    def half_bounded(self) -> bool:
        """True if every element is bounded on exactly one side."""
        low = np.isfinite(-np.inf if self.low is None else self.low)
        high = np.isfinite(np.inf if self.high is None else self.high)
        return bool(np.all(low != high))

    @property
    def unbounded(self) -> bool:
        """True if no element has a bound on either side."""
        return self.low is None and self.high is None

    @property
    def bounds(self) -> tuple[Bound, Bound]:
        """(low, high)."""
        return self.low, self.high

    @property
    def global_bounds(self) -> tuple[Any, Any] | None:
        """(low, high) if all elements share both bounds, else None."""
        shared = not isinstance(self.low, np.ndarray) and not isinstance(self.high, np.ndarray)
        return (self.low, self.high) if shared and self.bounded else None

    def get_shape(
        self,
        with_batch_rank: bool | int = False,
        with_time_rank: bool | int = False,
        time_major: bool | None = None,
        with_category_rank: bool = False,
    ) -> tuple[int | None, ...]:
        """The shape, e.g. (None, 5, 2) for batch (unknown), time (5), shape (2,).

        Args:
            with_batch_rank, with_time_rank: prepend these ranks, if the Space has them; a number such as -1 stands in
                place of the rank.
            time_major: True if time comes first; None: the Space's own order.
            with_category_rank: append the number of categories, if the Space has them.
        """
        ranks = self.ranks.ordered(with_batch_rank, with_time_rank, time_major)
        front = tuple(int(rank) if is_fixed(rank) else None for rank in ranks)
        categories = self.num_categories if with_category_rank else None
        return front + self.shape + (() if categories is None else (categories,))

    # -- structure -----------------------------------------------------------------------------

    def _leaves(self) -> dict[str, BoxSpace]:
        return {"": self}

    def flat_key_lookup(self, path: str) -> Space:
        if path:
            raise mismatch("", "the end of the path (a leaf has no keys)", repr(path))
        return self

    def flatten_sample(self, sample: Any) -> dict[str, Any]:
        return {"": sample}

    def unflatten_sample(self, flat: dict[str, Any]) -> Any:
        if set(flat) != {""}:
            raise mismatch("", "the one path ''", sorted(flat))
        return flat[""]

    # -- data ----------------------------------------------------------------------------------

    @abstractmethod
    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
        """An array of the Space's dtype and the given full shape."""

    @abstractmethod
    def _explain_values(self, array: NDArray[Any]) -> tuple[str, str] | None:
        """(expected, given) for the first value that is out of bounds, else None."""

    def sample(
        self,
        size: Size = None,
        fill_value: Any = None,
        horizontal: bool = False,
        *,
        rng: np.random.Generator | None = None,
    ) -> Any:
        if horizontal:
            return self._separate_samples(size, fill_value, rng)
        shape = leading_dims(self.ranks, size) + self.shape
        if fill_value is not None:
            return self._fill(shape, fill_value)[()]
        return self._draw(shape, np.random.default_rng() if rng is None else rng)[()]

    def _fill(self, shape: tuple[int, ...], value: Any) -> NDArray[Any]:
        try:
            array = np.asarray(value)
        except ValueError:  # a ragged list
            raise mismatch("fill_value", f"{self.dtype} values", repr(value)) from None
        if self.kinds == "f" and array.dtype.kind in "iu":  # 0 is meant as 0.0
            array = array.astype(self.dtype)
        if array.dtype.kind not in self.kinds:
            raise mismatch("fill_value", f"{self.dtype} values", repr(value))
        try:
            array = np.broadcast_to(array, shape)
        except ValueError:
            expected = f"one value or an array that broadcasts to shape {shape}"
            raise mismatch("fill_value", expected, f"shape {array.shape}") from None
        problem = self._explain_values(array)
        if problem is not None:
            raise mismatch("fill_value", *problem)
        return array.astype(self.numpy_dtype)

    def zeros(self, size: Size = None) -> Any:
        return np.zeros(leading_dims(self.ranks, size) + self.shape, self.numpy_dtype)[()]

    def explain(self, sample: Any, name: str = "") -> str | None:
        wanted = self.get_shape(with_batch_rank=True, with_time_rank=True)
        problem: tuple[str, str] | None
        if not isinstance(sample, (np.ndarray, np.generic, bool, int, float, str)):
            problem = (f"{self.dtype} of shape {wanted}", f"a {type(sample).__name__}")
        else:
            array = np.asarray(sample)
            fits = len(array.shape) == len(wanted) and all(
                dim is None or dim == given for dim, given in zip(wanted, array.shape, strict=True)
            )
            if array.dtype.kind not in self.kinds or not fits:
                problem = (f"{self.dtype} of shape {wanted}", f"{array.dtype} of shape {array.shape}")
            else:
                problem = self._explain_values(array)
        return None if problem is None else f"{name or 'sample'}: expected {problem[0]}, given {problem[1]}"

    def _force_batch(self, value: Any, path: str) -> tuple[NDArray[Any], bool]:
        try:
            array = np.asarray(value)
        except ValueError:  # a ragged list
            raise mismatch(path, "an array", repr(value)) from None
        if not isinstance(value, (np.ndarray, np.generic)) and array.dtype.kind in self.kinds:
            array = array.astype(self.numpy_dtype)
        without = len(self.shape) + self.has_time_rank
        if array.ndim == without:
            return np.expand_dims(array, 1 if self.time_major else 0), True
        if array.ndim == without + 1:
            return array, False
        expected = f"{without} axes, or {without + 1} with a batch rank"
        raise mismatch(path, expected, f"an array of shape {array.shape}")
