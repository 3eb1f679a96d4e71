"""Python source in the making, registered with `linecache` so that tracebacks show it."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from types import CodeType
from typing import Any

from rlgraph.core.graph.nodes import Carried, Index, Input, Output, Packed, Ref
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.graph.values import Value, is_leaf

_serial = count()


class SourceFunction:
    """A function in the making: its lines, and the names they use.

    No two things share a name, whatever a user's arguments, keys and scopes are called.

    Args:
        name: the function's name.
        parameters: names its callers use.
        namespace: what its lines refer to by fixed names.
    """

    def __init__(self, name: str, parameters: Sequence[str] = (), namespace: Mapping[str, Any] | None = None):
        self.name = name
        self.parameters = list(parameters)
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = dict(namespace or {})
        self._taken = {name, *self.parameters, *self.namespace}
        self._leaves: dict[Leaf, str] = {}

    def fresh(self, wanted: str) -> str:
        """`wanted`, or `wanted` with a number if that name is taken."""
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}_{number}", number + 1
        self._taken.add(name)
        return name

    def bind(self, wanted: str, value: Any) -> str:
        """The name, at best `wanted`, by which the lines can refer to `value`."""
        name = self.fresh(wanted)
        self.namespace[name] = value
        return name

    def share(self, wanted: str, value: Any) -> str:
        """As `bind`; the same value again has the same name."""
        known = (name for name, other in self.namespace.items() if other is value)
        return next(known, None) or self.bind(wanted, value)

    def local(self, leaf: Leaf) -> str:
        """The local name of a tensor."""
        if leaf not in self._leaves:
            self._leaves[leaf] = self.fresh(leaf_name(leaf))
        return self._leaves[leaf]

    def adopt(self, leaf: Leaf, name: str) -> None:
        """Give a tensor an existing name."""
        self._leaves[leaf] = name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines that are written inside are indented below `head`."""
        around, self.lines = self.lines, []
        try:
            yield
            around.append(head)
            around.extend(f"    {line}" for line in self.lines or ["pass"])
        finally:
            self.lines = around

    def call(self, function: Any, name: str, arguments: Sequence[tuple[str, str]]) -> str:
        """Source of a call of a graph function bound to `name`."""
        texts = (f"{key}={text}" if key in function.keywords else text for key, text in arguments)
        return f"{name}({', '.join(texts)})"

    @property
    def source(self) -> str:
        body = "\n".join(f"    {line}" for line in self.lines or ["pass"])
        return f"def {self.name}({', '.join(self.parameters)}):\n{body}\n"

    def compile(self) -> Callable[..., Any]:
        """The function, with its source attached as ``__source__``."""
        source, scope = self.source, dict(self.namespace)
        exec(_compiled(self.name, source), scope)
        function: Callable[..., Any] = scope[self.name]
        function.__source__ = source  # type: ignore[attr-defined]
        return function


@cache
def _compiled(name: str, source: str) -> CodeType:
    """The code of a source: one, since TensorFlow keeps the stacks of operations by their code forever."""
    filename = f"<rlgraph plan {name} #{next(_serial)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec")


def identifier(scope: str, function: str) -> str:
    """``policy/dense-0`` and ``_dense`` become ``policy__dense_0__dense``."""
    name = re.sub(r"\W", "_", scope.replace("/", "__")) + "__" + function.lstrip("_")
    return f"_{name}" if name[0].isdigit() else name


def leaf_name(leaf: Leaf) -> str:
    """What a tensor is called in emitted source, unless the name is taken there."""
    source = leaf.source
    if isinstance(source, Input):
        base = source.name
    elif isinstance(source, Carried):
        base = f"c{source.loop}"
    elif isinstance(source, Index):
        base = f"i{source.loop}"
    elif isinstance(source, Packed):
        base = f"{leaf_name(Leaf(source.parts[0].source, source.parts[0].path))}_and_others"
    else:
        assert isinstance(source, Output)
        base = f"v{source.node}" + (f"_{source.index}" if source.index else "")
    return "_".join([base, *(re.sub(r"\W", "_", str(key)) for key in leaf.path)])


def literal(kind: type, items: Sequence[tuple[Any, str]]) -> str:
    """Source of a dict or tuple of the given parts."""
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {text}" for key, text in items) + "}"
    return "(" + "".join(f"{text}, " for _, text in items).rstrip() + ")" if items else "()"


def from_leaves(value: Value, ref: Ref, function: SourceFunction) -> str:
    """A value whose leaves have names: a container is a literal of them."""
    if is_leaf(value):
        return function.local(Leaf(ref.source, ref.path))
    kind, keys = (dict, list(value)) if isinstance(value, dict) else (tuple, list(range(len(value))))
    return literal(
        kind, [(k, from_leaves(value[k], Ref(ref.source, (*ref.path, k)), function)) for k in keys]
    )
