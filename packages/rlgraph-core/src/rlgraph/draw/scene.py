"""The content of a drawing without geometry: a tree of elements, and the wires in each container.

A value that flows from a graph function deep inside one component to one deep inside another becomes a chain of
wires, each inside one container: out through the ports of the components it leaves, then in through the ports of
the components it enters. A port is named after the API method through which the value passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

#: Kinds of elements.
COMPONENT, FUNCTION, GRADIENTS, INPUT, OUTPUT = "component", "function", "gradients", "input", "output"
#: A loop, a branch or a side of a branch; and the border nodes where values enter and leave it.
REGION, ENTRY, EXIT = "region", "entry", "exit"


@dataclass
class Element:
    """A component, a graph function, a region of control flow, or an input or output of the root.

    Attributes:
        key: unique in the scene; a component's scope.
        kind: one of the constants above.
        title: its name.
        subtitle: class and parameter count of a component.
        lines: further texts: arguments of an input, graph functions of a component drawn closed.
        children: the elements inside it, in program order.
        level: nesting, 0 for the root.
        method: the root API method an input or output belongs to; empty for several.
        host: whether all its graph functions are host functions.
        frozen: whether its variables are not trainable.
        stateful: whether it has variables.
        device: device of its graph functions; empty if not set.
        storage: device of its variables.
        marked: whether it is the marked place, e.g. of an error.
    """

    key: str
    kind: str
    title: str
    subtitle: str = ""
    lines: tuple[str, ...] = ()
    children: list[Element] = field(default_factory=list)
    level: int = 0
    method: str = ""
    host: bool = False
    frozen: bool = False
    stateful: bool = False
    device: str = ""
    storage: str = ""
    marked: bool = False

    def walk(self) -> Iterator[Element]:
        """This element and all inside it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, order=True)
class End:
    """One end of a wire: the port `port` of the element `key`; functions, inputs and outputs have one port."""

    key: str
    port: str = ""


@dataclass
class Wire:
    """All values that flow from one port to another inside one container.

    Attributes:
        container: key of the container.
        source, target: its ends; an end at the container itself is a port in its border.
        methods: the root API methods that use it.
        variables: whether it carries only lists of variables.
    """

    container: str
    source: End
    target: End
    methods: set[str] = field(default_factory=set)
    variables: bool = True


@dataclass
class Scene:
    """The content of a drawing.

    Attributes:
        root: the root component.
        wires: by container, in program order.
        labels: a source end -> description of its values, e.g. ``float32[B, 4]``; empty before a build.
        methods: the root API methods shown.
        all_methods: all API methods of the root, which determine the colours.
    """

    root: Element
    wires: dict[str, list[Wire]]
    labels: dict[End, str]
    methods: list[str]
    all_methods: list[str]

    @property
    def elements(self) -> dict[str, Element]:
        """All elements by key."""
        return {element.key: element for element in self.root.walk()}
