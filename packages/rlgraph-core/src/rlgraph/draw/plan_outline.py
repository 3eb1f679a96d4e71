"""The plan of one API method on a page: what runs, in order, with the insides of components folded."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from typing import Any

from rlgraph.core.errors import RLGraphError
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Collective,
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    Index,
    Loop,
    Output,
    Pack,
    Path,
    Ref,
    Source,
)
from rlgraph.core.graph.plan import Leaf, Plan
from rlgraph.core.graph.values import Value, part_at
from rlgraph.core.graph.variables import VariableList
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.draw.drawing import plan_of
from rlgraph.draw.plan_lines import Body, Folding, Line, leaves_of
from rlgraph.draw.value_names import names_of_values

#: How wide a page is.
COLUMNS = 88
#: A size that a build has made up; and those that arguments have.
_FRESH, _RANKS = re.compile(r"\b(([A-Z])\d+)\b"), "BT"
_SPACE = "\0"  # inside a shape


def plan_outline(built: Any, method: str, *, depth: int = 2) -> str:
    """What an API method runs, in order, with a line for each call of a component.

    A line has the component and the API method that was called, what runs inside, the values that it takes and makes,
    and the variables that it writes. Values have the names that API methods give them; a name that is made inside a
    loop or branch holds there only. Nothing is run, so plans that need gradients are shown too.

    Args:
        built: an agent, a `BuiltGraph` or a graph executor.
        method: name of an API method of the root.
        depth: components nested deeper are folded into those around them. Of agents, 1 shows the memory and the
            algorithm, and 2 the parts of the algorithm.

    Raises:
        RLGraphError: the graph is not built, the method is unknown, or `depth` is below 1.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise RLGraphError(f"depth: expected an integer >= 1, given {depth!r}")
    return "\n".join(_Outline(plan_of(getattr(built, "executor", built), method), depth).lines()) + "\n"


class _Outline:
    """Writes an outline from top to bottom; values get their names where they are made."""

    def __init__(self, plan: Plan, depth: int):
        self.plan, self.built = plan, plan.built
        self.folding = Folding(plan.built, depth)
        self.body = self.folding.body(plan.steps, plan.results)
        self.candidates = names_of_values(plan)
        self.names: dict[Leaf, str] = {}
        self.sizes: dict[str, str] = {}
        self.uses: dict[Leaf, list[int]] = {}
        for position, expression in self.body.uses:
            for _, leaf, _ in leaves_of(self.built, expression):
                self.uses.setdefault(leaf, []).append(position)
        self.made = {leaf: line.position for line in self.body.walk() for leaf in self._leaves(*line.outputs)}
        #: What is returned under a key has this name.
        self.returned = {path[-1]: leaf for path, leaf, _ in leaves_of(self.built, plan.results) if path}

    def lines(self) -> Iterator[str]:
        arguments = [leaf for leaf, _ in self.plan.inputs]
        self._name(arguments, -1, self.body.end)
        for leaf in arguments:  # outside loops and branches, nothing else has an argument's name
            self.uses[leaf].append(self.body.end)
        yield from _wrapped(f"{self.built.graph.root}.{self.plan.name}({self._shown(arguments)}):", 0)
        yield from self._body(self.body, 1)
        if results := self._assigned(self.body.results):
            yield from _wrapped(f"return {results}", 1)

    # What runs.

    def _body(self, body: Body, indent: int) -> Iterator[str]:
        for line in body.lines:
            node = line.nodes[0]
            if isinstance(node, Loop):
                yield from self._loop(node, line, body.end, indent)
            elif isinstance(node, Branch):
                yield from self._branch(node, line, body.end, indent)
            else:
                yield from _wrapped(self._line(line, body.end), indent)

    def _line(self, line: Line, end: int) -> str:
        effects = [self.built.effects[node.id] for node in line.nodes]
        written = frozenset[str]().union(*(each.writes - each.draws for each in effects))
        given = dict.fromkeys(leaf for e in line.operands for _, leaf, _ in leaves_of(self.built, e))
        inputs = [
            leaf
            for leaf in given
            if leaf.source not in line.outputs
            and not (self._variables_in(leaf) and self._variables_in(leaf) <= written)
        ]
        outputs = [
            leaf for leaf in self._leaves(*line.outputs) if {*self.uses.get(leaf, ())} - {line.position}
        ]
        if isinstance(line.nodes[0], Gradients):
            loss, variables = inputs
            self.candidates[outputs[0]] = [f"gradients of {self.names[loss]}"]
            self._name(outputs[:1], line.position, end)
            return f"{self.names[outputs[0]]} by {self._shown([variables])}"
        if isinstance(line.nodes[0], Collective):
            self.candidates[outputs[0]] += [self.names[inputs[0]]]
        self._name(outputs, line.position, end)
        left = f"{self._title(line)}: {self._shown(inputs)}" if inputs else self._title(line)
        right = [self._shown(outputs)] if outputs else []
        right += [f"writes {self._variables(written)}"] if written else []
        return f"{left} -> {'; '.join(right)}" if right else left

    def _title(self, line: Line) -> str:
        node = line.nodes[0]
        if isinstance(node, Collective):
            return f"{'sum' if node.number == Const(None) else 'mean'} over all learners"
        host = "host: " if isinstance(node, GraphFunctionCall) and node.host else ""
        parts = f" ({', '.join(line.parts)})" if line.parts else ""
        return host + line.title + parts

    def _loop(self, node: Loop, line: Line, end: int, indent: int) -> Iterator[str]:
        (body,) = line.bodies
        starts = {path: [name] for path, name, _ in self._sources(node.carried)}
        carried, index = self._leaves(Carried(node.id)), Leaf(Index(node.id))
        for leaf in carried:  # the value after the loop has the same name
            after = Leaf(Output(node.id), leaf.path)
            self.candidates[after] = [
                *self.candidates[leaf],
                *self.candidates[after],
                *starts.get(leaf.path, ()),
            ]
            self._name([after], line.position, end)
            self.names[leaf] = self.names[after]
        self._name([index], line.position, body.end)
        targets = {leaf.path: self.names[leaf] for leaf in carried}
        number = self._scalar(node.count)
        head = (
            f"for {self.names[index]} in range({number})" if index in self.uses else f"repeat {number} times"
        )
        start = f", from {self._assigned(node.carried, targets)}" if carried else ""
        yield from _wrapped(f"{head}{start}:", indent)
        yield from self._body(body, indent + 1)
        if carried:
            yield from _wrapped(f"next {self._assigned(node.leaving, targets)}", indent + 1)
        if node.collected is not None:
            collected = self._leaves(Output(node.id, 1))
            self._name(collected, body.end, end)
            targets = {leaf.path: self.names[leaf] for leaf in collected}
            yield from _wrapped(f"collect {self._assigned(node.collected, targets)}", indent + 1)
        if node.stop is not None:
            yield from _wrapped(f"stop if {self._scalar(node.stop)}", indent + 1)

    def _branch(self, node: Branch, line: Line, end: int, indent: int) -> Iterator[str]:
        given = self._leaves(Output(node.id))
        self._name(given, line.bodies[-1].end, end)
        targets = {leaf.path: self.names[leaf] for leaf in given}
        for head, body in zip((f"if {self._scalar(node.predicate)}:", "else:"), line.bodies, strict=True):
            if body.lines or given:
                yield from _wrapped(head, indent)
                yield from self._body(body, indent + 1)
            if given:
                yield from _wrapped(f"give {self._assigned(body.results, targets)}", indent + 1)

    # Values and variables.

    def _name(self, made: Iterable[Leaf], position: int, end: int) -> None:
        """Name values that are made on a line, so that nobody takes them for others that are used before `end`."""
        for leaf in made:
            candidates = self.candidates[leaf] or ["value"]
            numbered = (f"{candidates[0]}_{number}" for number in count(2))
            free = (name for name in chain(candidates, numbered) if self._is_free(name, leaf, position, end))
            self.names[leaf] = next(free)

    def _is_free(self, name: str, leaf: Leaf, position: int, end: int) -> bool:
        others = (self.uses.get(other, ()) for other, known in self.names.items() if known == name)
        if any(position < use <= end for uses in others for use in uses):
            return False
        returned = self.returned.get(name, leaf)
        return returned == leaf or self.made.get(returned, end) >= max(self.uses.get(leaf, [position]))

    def _leaves(self, *sources: Source) -> list[Leaf]:
        return [leaf for source in sources for _, leaf, _ in leaves_of(self.built, Ref(source))]

    def _variables_in(self, leaf: Leaf) -> frozenset[str]:
        """The names of a list of variables; empty for other values."""
        value = self._value(leaf)
        return frozenset(v.name for v in value) if isinstance(value, VariableList) else frozenset()

    def _value(self, leaf: Leaf) -> Value:
        return part_at(self.built.values[leaf.source], leaf.path)

    def _sources(self, expression: Expression, path: Path = ()) -> Iterator[tuple[Path, str, Value]]:
        """What an expression consists of, each with its place and name; a constant is written out."""
        if isinstance(expression, Pack):
            for key, item in expression.items:
                yield from self._sources(item, (*path, key))
        elif isinstance(expression, Const):
            yield path, repr(expression.value), expression.value
        else:
            for inner, leaf, value in leaves_of(self.built, expression):
                yield (*path, *inner), self.names[leaf], value

    def _scalar(self, expression: Expression) -> str:
        return next(name for _, name, _ in self._sources(expression))

    def _assigned(self, expression: Expression, targets: Mapping[Path, str] | None = None) -> str:
        """``target=value``, or the value alone where that is its name; default: a key of a dict is a target."""
        shown = []
        for path, name, value in self._sources(expression):
            keys = [key for key in path if isinstance(key, str)]
            default = keys[-1] if keys else name
            target = default if targets is None else targets.get(path, name)
            shown.append((name if target == name else f"{target}={name}", value))
        return self._by_shape(shown)

    def _shown(self, given: Iterable[Leaf]) -> str:
        """Names and shapes of values; lists of variables say whose these are."""
        return self._by_shape((self._text(leaf), self._value(leaf)) for leaf in given)

    def _text(self, leaf: Leaf) -> str:
        variables = self._variables_in(leaf)
        return self._variables(variables) if variables else self.names[leaf]

    def _by_shape(self, named: Iterable[tuple[str, Value]]) -> str:
        groups: dict[str, list[str]] = {}
        for name, value in named:
            groups.setdefault(self._shape(value), []).append(name)
        return ", ".join(", ".join(names) + shape for shape, names in groups.items())

    def _shape(self, value: Value) -> str:
        """``" [B, 4]"``; sizes that the build has numbered are numbered as they appear."""
        if not isinstance(value, TensorSpec):
            return ""
        text = _FRESH.sub(self._size, repr(value).removeprefix(value.dtype))
        return " " + text.replace(" ", _SPACE)

    def _size(self, found: re.Match[str]) -> str:
        size, letter = found.groups()
        if size not in self.sizes:
            number = 1 + sum(name[0] == letter for name in self.sizes.values())
            number += letter in _RANKS
            self.sizes[size] = letter if number == 1 else f"{letter}{number}"
        return self.sizes[size]

    def _variables(self, names: Iterable[str]) -> str:
        """``6 variables of policy, 1 of sac``."""
        (first, number), *others = Counter(map(self._owner, sorted(names))).items()
        rest = "".join(f", {each} of {owner}" for owner, each in others)
        return f"{number} variable{'s' * (number > 1)} of {first}{rest}"

    def _owner(self, variable: str) -> str:
        parts = variable.split("/")
        scopes = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
        root = self.built.graph.root
        return self.folding.name(next((s for s in scopes if s in self.built.graph.components), root))


def _wrapped(text: str, indent: int) -> Iterator[str]:
    """Lines as long as the page is wide; a shape stays on one."""
    lines = textwrap.wrap(
        text,
        COLUMNS,
        initial_indent=" " * 4 * indent,
        subsequent_indent=" " * (4 * indent + 6),
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from (line.replace(_SPACE, " ") for line in lines)
