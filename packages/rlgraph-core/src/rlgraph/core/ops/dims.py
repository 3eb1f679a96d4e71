"""Symbolic sizes, known only at run time: integer polynomials in named symbols.

`B` is the batch rank, `T` the time rank; outputs of host functions and data-dependent outputs introduce new symbols.
Sizes are plain integers wherever possible, so fixed shapes are tuples of integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

Monomial = tuple[str, ...]
Dim = "int | SymbolicDim"


class SymbolicDim:
    """An integer polynomial such as ``B*T`` or ``T + 1``; immutable, compared by value."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Mapping[Monomial, int]):
        self._terms = tuple(sorted((m, c) for m, c in terms.items() if c != 0))

    @staticmethod
    def symbol(name: str) -> SymbolicDim:
        """The polynomial that is just the symbol `name`."""
        return SymbolicDim({(name,): 1})

    @staticmethod
    def _terms_of(value: object) -> dict[Monomial, int] | None:
        if isinstance(value, SymbolicDim):
            return dict(value._terms)
        if isinstance(value, int) and not isinstance(value, bool):
            return {(): value}
        return None

    def _combine(self, other: object, sign: int) -> int | SymbolicDim:
        terms = self._terms_of(other)
        if terms is None:
            return NotImplemented
        result = dict(self._terms)
        for monomial, coefficient in terms.items():
            result[monomial] = result.get(monomial, 0) + sign * coefficient
        return _simplify(result, type(self))

    def __add__(self, other: object) -> int | SymbolicDim:
        return self._combine(other, 1)

    __radd__ = __add__

    def __sub__(self, other: object) -> int | SymbolicDim:
        return self._combine(other, -1)

    def __rsub__(self, other: object) -> int | SymbolicDim:
        return -self + other  # type: ignore[operator]

    def __neg__(self) -> int | SymbolicDim:
        return self * -1

    def __mul__(self, other: object) -> int | SymbolicDim:
        terms = self._terms_of(other)
        if terms is None:
            return NotImplemented
        result: dict[Monomial, int] = {}
        for left, a in self._terms:
            for right, b in terms.items():
                monomial = tuple(sorted(left + right))
                result[monomial] = result.get(monomial, 0) + a * b
        return _simplify(result, type(self))

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> int | SymbolicDim:
        if not isinstance(other, int) or isinstance(other, bool) or other <= 0:
            return NotImplemented
        if all(coefficient % other == 0 for _, coefficient in self._terms):
            return _simplify({m: c // other for m, c in self._terms}, type(self))
        text = repr(self) if repr(self).isidentifier() else f"({self})"
        return type(self)({(f"{text}//{other}",): 1})

    def divide_exactly(self, other: int | SymbolicDim) -> int | SymbolicDim | None:
        """``self / other`` if that is a polynomial and `other` a single term, else None."""
        divisor = self._terms_of(other)
        if divisor is None or len(divisor) != 1:
            return None
        (monomial, coefficient), *_ = divisor.items()
        result: dict[Monomial, int] = {}
        for term, c in self._terms:
            rest = list(term)
            for symbol in monomial:
                if symbol not in rest:
                    return None
                rest.remove(symbol)
            if coefficient == 0 or c % coefficient:
                return None
            result[tuple(rest)] = c // coefficient
        return _simplify(result)

    def part_of_symbols(self, other: int) -> int | SymbolicDim | None:
        """``self // other`` where the factor in front of the symbols divides `other`: ``3*B`` by 12 is ``B//4``.

        Whether the division is exact is known only at run time. None for other factors, which are mostly mistakes.
        """
        if len(self._terms) != 1:
            return None
        ((monomial, coefficient),) = self._terms
        if other % coefficient:
            return None
        return SymbolicDim({monomial: 1}) // (other // coefficient)

    @staticmethod
    def undivided(size: int | SymbolicDim) -> int | SymbolicDim:
        """`size` if its quotients by other symbols are exact: ``S*(T)//(S)`` is ``T``."""
        if not isinstance(size, SymbolicDim):
            return size
        undivided: int | SymbolicDim = 0
        for monomial, coefficient in size._terms:
            factors = list(monomial)
            for symbol in monomial:
                quotient = re.fullmatch(r"\((\w+)\)//\((\w+)\)", symbol)
                if quotient and quotient[2] in factors:
                    factors.remove(quotient[2])
                    factors[factors.index(symbol)] = quotient[1]
            undivided = SymbolicDim({tuple(sorted(factors)): coefficient}) + undivided
        return undivided

    @property
    def symbols(self) -> frozenset[str]:
        """The names of its symbols."""
        return frozenset(symbol for monomial, _ in self._terms for symbol in monomial)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicDim) and self._terms == other._terms

    def __hash__(self) -> int:
        return hash(self._terms)

    def __bool__(self) -> bool:
        raise TypeError(f"the size {self} is not known before run time: it cannot decide a Python `if`")

    def __repr__(self) -> str:
        parts: list[str] = []
        # The constant comes last, as usual: "T + 1".
        for monomial, coefficient in sorted(self._terms, key=lambda term: (term[0] == (), term[0])):
            factors = [str(abs(coefficient))] if abs(coefficient) != 1 or not monomial else []
            text = "*".join([*factors, *monomial])
            sign = ("-" if coefficient < 0 else "") if not parts else (" - " if coefficient < 0 else " + ")
            parts.append(sign + text)
        return "".join(parts)


class AskedSize(SymbolicDim):
    """A size that ``ops.shape`` returned to a graph function; comparing it in a Python `if` is an error."""

    __slots__ = ()

    def plain(self) -> SymbolicDim:
        """The size, for shapes."""
        return SymbolicDim(dict(self._terms))

    def _refuse(self, other: object) -> NoReturn:
        raise TypeError(
            f"the size {self} is not known before run time: whether it is {other!r} cannot decide a Python `if`. "
            "Give the Space a fixed size, or compute with it on tensors"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float | SymbolicDim):
            return NotImplemented
        return True if super().__eq__(other) else self._refuse(other)

    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = SymbolicDim.__hash__


class RankSize(int):
    """The fixed size of a batch or time rank: an integer that knows its rank."""

    rank: str

    def __new__(cls, size: int, rank: str = "batch") -> RankSize:
        """`rank` is ``batch`` or ``time``."""
        made = super().__new__(cls, size)
        made.rank = rank
        return made


def _simplify(terms: Mapping[Monomial, int], kind: type[SymbolicDim] = SymbolicDim) -> int | SymbolicDim:
    left = {m: c for m, c in terms.items() if c != 0}
    if not left:
        return 0
    if set(left) == {()}:
        return left[()]
    return kind(left)


def product(dims: tuple[int | SymbolicDim, ...]) -> int | SymbolicDim:
    """The number of elements of a shape."""
    result: int | SymbolicDim = 1
    for dim in dims:
        result = result * dim
    return result
