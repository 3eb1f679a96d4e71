"""Docstrings in Markdown become reStructuredText that means the same."""

from __future__ import annotations

import pytest

pytest.importorskip("sphinx")
from plain_docstrings import convert


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("Takes `x` and\n`a\nb`.", "Takes ``x`` and\n``a b``.\n"),
        ("The `state`s of :class:`Env`.", "The ``state``\\ s of :class:`Env`.\n"),
        ("``*args`` stay.", "``*args`` stay.\n"),
        ("2*x with *args, |y| and z_.", "2\\*x with \\*args, \\|y\\| and z\\_.\n"),
        ("**Ends.** The end.", "**Ends.** The end.\n"),
        ("x**2 and y**2", "x\\*\\*2 and y\\*\\*2\n"),
        ("Either:\n* `a`\n  and so on\n* b*", "Either:\n\n* ``a``\n  and so on\n\n* b\\*\n"),
        ("```python\nf(*x)\n\ng()\n```", ".. code-block:: python\n\n   f(*x)\n\n   g()\n"),
        ("As in::\n\n    f(*x)\n\nand *y", "As in::\n\n    f(*x)\n\nand \\*y\n"),
        (">>> f(*x)\n'`'", ">>> f(*x)\n'`'\n"),
    ],
)
def test_convert(docstring: str, expected: str) -> None:
    assert "\n".join(convert(docstring.split("\n"))) == expected
