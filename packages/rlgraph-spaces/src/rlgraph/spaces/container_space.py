"""ContainerSpace: the base class of Dict and Tuple."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.spaces.errors import SpaceError, join, mismatch, nearest
from rlgraph.spaces.ranks import Rank, Ranks, Size, leading_dims, read_ranks
from rlgraph.spaces.space import BoxSpace, Space

if TYPE_CHECKING:
    from typing import Self

__all__ = ["ContainerSpace"]


class ContainerSpace(Space):
    """A Space of Spaces. All its leaves share its batch and time rank."""

    _names: tuple[str, ...]
    _spaces: tuple[Space, ...]

    def _init_children(
        self, children: dict[str, Space], add_batch_rank: Rank, add_time_rank: Rank, time_major: bool
    ) -> None:
        ranks = _common_ranks(
            children.items(), read_ranks(add_batch_rank, add_time_rank, time_major), bool(time_major)
        )
        spaces = tuple(child._with_ranks(ranks) for child in children.values())
        self._init(ranks=ranks, _names=tuple(children), _spaces=spaces)

    def _with_ranks(self, ranks: Ranks) -> Self:
        space = object.__new__(type(self))
        spaces = tuple(child._with_ranks(ranks) for child in self._spaces)
        space._init(**{**self.__dict__, "ranks": ranks, "_spaces": spaces})
        return space

    @abstractmethod
    def _pack(self, values: Sequence[Any]) -> Any:
        """A plain dict or tuple of one value per child."""

    @abstractmethod
    def _unpack(self, sample: Any, path: str) -> Sequence[Any]:
        """One value per child. Raises SpaceError if the sample has another structure."""

    def _key(self) -> Hashable:
        return (self._names, self._spaces)

    def __repr__(self) -> str:
        # The ranks are shown here once, and not on the children.
        children = self._pack([child.without_ranks() for child in self._spaces])
        ranks = "".join(f", {key}={value!r}" for key, value in self.ranks.options().items())
        return f"{type(self).__name__}({children!r}{ranks})"

    def to_spec(self) -> dict[str, Any]:
        children = self._pack([child.without_ranks().to_spec() for child in self._spaces])
        spaces = children if isinstance(children, dict) else list(children)
        return {"type": self.type_name, "spaces": spaces, **self.ranks.options()}

    # -- structure -----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shapes of the children, in order."""
        return tuple(child.shape for child in self._spaces)  # type: ignore[attr-defined]

    @property
    def rank(self) -> tuple[Any, ...]:
        """The ranks (numbers of axes) of the children, in order."""
        return tuple(child.rank for child in self._spaces)  # type: ignore[attr-defined]

    @property
    def dtype(self) -> tuple[Any, ...]:
        """The dtypes of the children, in order."""
        return tuple(child.dtype for child in self._spaces)  # type: ignore[attr-defined]

    def get_shape(
        self,
        with_batch_rank: bool | int = False,
        with_time_rank: bool | int = False,
        time_major: bool | None = None,
        with_category_rank: bool = False,
    ) -> tuple[Any, ...]:
        """The shapes of the children, in order; see `BoxSpace.get_shape`."""
        options = (with_batch_rank, with_time_rank, time_major, with_category_rank)
        return tuple(child.get_shape(*options) for child in self._spaces)

    @property
    def flat_dim(self) -> int:
        return sum(child.flat_dim for child in self._spaces)

    @property
    def flat_dim_with_categories(self) -> int:
        return sum(child.flat_dim_with_categories for child in self._spaces)

    def _leaves(self) -> dict[str, BoxSpace]:
        return {
            join(name, path): leaf
            for name, child in zip(self._names, self._spaces, strict=True)
            for path, leaf in child._leaves().items()
        }

    def flat_key_lookup(self, path: str) -> Space:
        if not path:
            return self
        name, _, rest = path.partition("/")
        if name not in self._names:
            hint = nearest(name, self._names)
            raise mismatch("", f"one of the keys {list(self._names)}", repr(name), hint)
        try:
            return self._spaces[self._names.index(name)].flat_key_lookup(rest)
        except SpaceError as error:
            raise error.under(name) from None

    def flatten_sample(self, sample: Any) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        values = self._unpack(sample, "")
        for name, child, value in zip(self._names, self._spaces, values, strict=True):
            try:
                leaves = child.flatten_sample(value)
            except SpaceError as error:
                raise error.under(name) from None
            flat.update({join(name, path): leaf for path, leaf in leaves.items()})
        return flat

    def unflatten_sample(self, flat: dict[str, Any]) -> Any:
        expected = self.flatten()
        if flat.keys() != expected.keys():
            missing, unknown = sorted(expected.keys() - flat.keys()), sorted(flat.keys() - expected.keys())
            raise mismatch("", f"the paths {list(expected)}", f"missing {missing}, unknown {unknown}")
        return self._nest(flat, "")

    def _nest(self, flat: dict[str, Any], prefix: str) -> Any:
        values = []
        for name, child in zip(self._names, self._spaces, strict=True):
            path = join(prefix, name)
            values.append(child._nest(flat, path) if isinstance(child, ContainerSpace) else flat[path])
        return self._pack(values)

    # -- data ----------------------------------------------------------------------------------

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
        leading_dims(self.ranks, size)  # checked once, and for an empty container too
        rng = np.random.default_rng() if rng is None else rng
        fills: Sequence[Any] = [fill_value] * len(self._spaces)
        if isinstance(fill_value, (Mapping, tuple, list)):
            fills = self._unpack(fill_value, "fill_value")
        values = []
        for name, child, fill in zip(self._names, self._spaces, fills, strict=True):
            try:
                values.append(child.sample(size, fill, rng=rng))
            except SpaceError as error:
                raise error.under(name) from None
        return self._pack(values)

    def zeros(self, size: Size = None) -> Any:
        leading_dims(self.ranks, size)
        return self._pack([child.zeros(size) for child in self._spaces])

    def explain(self, sample: Any, name: str = "") -> str | None:
        try:
            values = self._unpack(sample, name or "sample")
        except SpaceError as error:
            return str(error)
        for key, child, value in zip(self._names, self._spaces, values, strict=True):
            problem = child.explain(value, join(name, key))
            if problem is not None:
                return problem
        return None


def _common_ranks(children: Iterable[tuple[str, Space]], given: Ranks, time_major: bool) -> Ranks:
    """The ranks of a container: its own arguments and the ranks of its children.

    `time_major` is the argument of the container; False leaves the order to the children.

    Raises SpaceError with the child's name if two ranks differ.
    """
    batch, time, major = given.batch, given.time, time_major
    batch_from = time_from = major_from = "the container"
    major_known = time_major
    for key, child in children:
        ranks = child.ranks
        if ranks.batch is not False:
            if batch is False:
                batch, batch_from = ranks.batch, repr(key)
            elif repr(ranks.batch) != repr(batch):  # repr: 1 is not True here
                raise mismatch(key, f"add_batch_rank={batch!r} as {batch_from} has", repr(ranks.batch))
        if ranks.time is not False:
            if time is False:
                time, time_from = ranks.time, repr(key)
            elif repr(ranks.time) != repr(time):
                raise mismatch(key, f"add_time_rank={time!r} as {time_from} has", repr(ranks.time))
        if ranks.batch is not False and ranks.time is not False:
            # The order of axes matters only with both ranks.
            if major_known and ranks.time_major != major:
                raise mismatch(key, f"time_major={major} as {major_from} has", repr(ranks.time_major))
            if not major_known:
                major, major_known, major_from = ranks.time_major, True, repr(key)
    return read_ranks(batch, time, major)
