"""Contraction: edges through API methods disappear, so that no component call remains at run time.

Before::

    dqn.get_q_values(states)
      policy.get_q_values(features=states)
        %3 = policy._combine(parameter features of call 1)

After::

    %3 = policy._combine(states)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    ApiCall,
    Expression,
    Node,
    Pack,
    Parameter,
    Ref,
    Result,
    descend,
    label,
    with_expressions,
)


def contract(graph: ComponentGraph) -> ComponentGraph:
    """`graph` with every parameter and result of an API call replaced by its value.

    Raises:
        BuildError: a container literal lacks a part that is asked for.
    """
    calls = graph.calls

    def resolve(expression: Expression) -> Expression:
        if isinstance(expression, Pack):
            return Pack(expression.kind, tuple((key, resolve(item)) for key, item in expression.items))
        if isinstance(expression, Ref):
            source = expression.source
            if isinstance(source, Parameter):
                return resolve(descend(dict(calls[source.call].arguments)[source.name], expression.path))
            if isinstance(source, Result):
                return resolve(descend(calls[source.call].results, expression.path))
        return expression

    def checked(where: str, contracted: Callable[[Any], Any], item: Any) -> Any:
        try:
            return contracted(item)
        except KeyError as error:
            raise BuildError(f"{where}: {error.args[0]}") from None

    def contracted_node(node: Node) -> Node:
        return with_expressions(node, resolve)

    def contracted_call(call: ApiCall) -> ApiCall:
        arguments = tuple((name, resolve(e)) for name, e in call.arguments)
        return replace(call, arguments=arguments, results=resolve(call.results))

    # From the inside out, so that an error names the innermost node.
    nodes = {
        id_: checked(label(node), contracted_node, node)
        for id_, node in sorted(graph.nodes.items(), reverse=True)
    }
    return ComponentGraph(
        graph.root,
        graph.components,
        graph.methods,
        dict(sorted(nodes.items())),
        {id_: checked(f"{c.component}.{c.method}", contracted_call, c) for id_, c in graph.calls.items()},
    )
