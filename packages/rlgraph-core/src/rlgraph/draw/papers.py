"""The papers that docstrings cite."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SURNAME = r"(?:(?:van|von|de|der) )*[A-Z][\w'’-]+"
_CITATION = re.compile(
    rf"(?P<authors>{_SURNAME}(?: and {_SURNAME}| et al\.)?)(?: \((?P<year>(?:19|20)\d\d)|,? (?P<later>(?:19|20)\d\d)\b)"
)
_ADDRESS = re.compile(r"https?://[^\s)>\]`]+")


@dataclass(frozen=True)
class Paper:
    """A citation such as ``Mnih et al. (2015)``, with its address if the docstring gives one."""

    authors: str
    year: str
    address: str = ""

    def __str__(self) -> str:
        return f"{self.authors} ({self.year})" + (f", {self.address}" if self.address else "")


def cited(docstrings: Iterable[str]) -> tuple[Paper, ...]:
    """The papers that `docstrings` cite as ``Author (year)`` or ``(Author, year)``, each once, in order.

    The address of a paper is the one between its citation and the next, in any of the docstrings.
    """
    found: dict[tuple[str, str], str] = {}
    for docstring in docstrings:
        text = " ".join(docstring.split())
        citations = list(_CITATION.finditer(text))
        ends = [*(citation.start() for citation in citations), len(text)][1:]
        for citation, end in zip(citations, ends, strict=False):
            key = citation["authors"], citation["year"] or citation["later"]
            address = _ADDRESS.search(text, citation.end(), end)
            found[key] = found.get(key) or (address[0].rstrip(".,;:") if address else "")
    return tuple(Paper(*key, address) for key, address in found.items())
