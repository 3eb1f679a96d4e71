"""Space: the abstract base class of all Spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.ranks import Rank, Ranks, Size, read_ranks

if TYPE_CHECKING:
    from typing import Self

    from rlgraph.spaces.box_space import BoxSpace

__all__ = ["Space"]

T = TypeVar("T")


class Space(ABC):
    """Type, shape, bounds, batch rank and time rank of a value. Immutable.

    Equal Spaces have the same class, shape, dtype, bounds and ranks. `repr` can be read back.
    """

    type_name: ClassVar[str]
    ranks: Ranks

    def _init(self, **values: Any) -> None:
        # __setattr__ refuses, so this is the only way.
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}; make a new Space")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

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
        from rlgraph.spaces.spec import from_spec  # the spec reader knows all classes, so it comes last

        space = from_spec(spec)
        if not isinstance(space, cls):
            raise mismatch("", f"the spec of a {cls.__name__}", repr(space))
        return space

    @abstractmethod
    def to_spec(self) -> dict[str, Any]:
        """A JSON-serializable dict; `from_spec` turns it into an equal Space."""

    # -- ranks ---------------------------------------------------------------------------------

    @property
    def batch_rank(self) -> Rank:
        """False, True (unknown size), an int (fixed size) or a name (unknown size, independent of other batches)."""
        return self.ranks.batch

    @property
    def time_rank(self) -> Rank:
        """False, True (unknown size), an int (fixed size) or a name."""
        return self.ranks.time

    @property
    def time_major(self) -> bool:
        """True if the time axis comes first: always with only a time rank, never without a time rank."""
        return self.ranks.time_major

    @property
    def has_batch_rank(self) -> bool:
        return self.ranks.batch is not False

    @property
    def has_time_rank(self) -> bool:
        return self.ranks.time is not False

    @abstractmethod
    def _with_ranks(self, ranks: Ranks) -> Self: ...

    def with_batch_rank(self, rank: Rank = True) -> Self:
        """This Space with another batch rank. A time-major Space stays time-major."""
        return self.with_extra_ranks(rank, self.ranks.time)

    def with_time_rank(self, rank: Rank = True) -> Self:
        """This Space with another time rank."""
        return self.with_extra_ranks(self.ranks.batch, rank)

    def with_extra_ranks(
        self, add_batch_rank: Rank = True, add_time_rank: Rank = True, time_major: bool | None = None
    ) -> Self:
        """This Space with other ranks; `time_major=None` keeps the order of the axes."""
        major = self.ranks.time_major if time_major is None else time_major
        ranks = read_ranks(add_batch_rank, add_time_rank, major)
        return self if repr(ranks) == repr(self.ranks) else self._with_ranks(ranks)

    def without_ranks(self) -> Self:
        """This Space without batch and time rank."""
        return self.with_extra_ranks(False, False)

    # -- structure -----------------------------------------------------------------------------

    @abstractmethod
    def get_shape(
        self,
        with_batch_rank: bool = False,
        with_time_rank: bool = False,
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

    @abstractmethod
    def flatten(self) -> dict[str, BoxSpace]:
        """The leaves by path ("a/b/0"), in the order of the structure; {"": self} for a leaf."""

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
        from rlgraph.spaces.spec import build  # the spec reader knows all classes, so it comes last

        if not self.flatten():
            return self
        return build(self.map_leaves(lambda path, leaf: build(fn(path, leaf), path)), "")

    # -- data ----------------------------------------------------------------------------------

    @abstractmethod
    def sample(
        self, size: Size = None, fill_value: Any = None, *, rng: np.random.Generator | None = None
    ) -> Any:
        """Draws a sample: an array, a dict (of a Dict) or a tuple (of a Tuple).

        Args:
            size: leading dimensions; None: 1 for each unknown rank, none without ranks.
            fill_value: fills the sample instead of drawn values. A container passes it to all its
                leaves, or takes one value per child as a dict or tuple (None: that child is drawn).
            rng: the random generator; None: a new one.

        Raises:
            SpaceError: for a size that does not fit the ranks, or a fill value outside the Space.
        """

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
