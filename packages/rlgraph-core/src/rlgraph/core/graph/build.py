"""Phase three: let Spaces flow through the contracted graph, create variables, lay them out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlgraph.core.errors import BuildError, nearest
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.inference import infer, tensor_arguments
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    Index,
    Input,
    Loop,
    Node,
    Output,
    Pack,
    Ref,
    Source,
    VariablesOf,
    arguments_of,
    label,
    outputs_of,
    references,
    walk_nodes,
)
from rlgraph.core.graph.passes.contraction import contract
from rlgraph.core.graph.regions import check_reach, enter_loop, join_branch, leave_loop
from rlgraph.core.graph.values import Value, compatible, describe, leaves, part_at, space_of
from rlgraph.core.graph.variables import GradientList, Layout, Variable, VariableList, lay_out
from rlgraph.core.ops import Effects, TensorSpec, to_specs
from rlgraph.spaces import Space, SpaceError, from_spec


@dataclass(frozen=True)
class BuiltGraph:
    """A component graph in which every Space is known.

    Attributes:
        graph: the contracted graph.
        input_spaces: root method -> argument -> Space.
        values: what every input and node output is.
        effects: node id -> recorded effects.
        variables: all declared variables by scoped name.
        layout: where the tensor variables live.
        float_dtype: the floating dtype of the execution.
        action_space: the action Space given to the build.
        statistics: seconds spent and sizes.
    """

    graph: ComponentGraph
    input_spaces: Mapping[str, Mapping[str, Space]]
    values: Mapping[Source, Value]
    effects: Mapping[int, Effects]
    variables: Mapping[str, Variable]
    layout: Layout
    float_dtype: str
    action_space: Space | None
    statistics: Mapping[str, float | int]

    def value_of(self, expression: Expression) -> Value:
        """What is known of `expression`."""
        value = _value_of(expression, self.values)
        assert value is not _UNKNOWN
        return value


class _Unknown:
    pass


_UNKNOWN = _Unknown()


def _value_of(expression: Expression, values: Mapping[Source, Value]) -> Value:
    if isinstance(expression, Const):
        return expression.value
    if isinstance(expression, Pack):
        items = {key: _value_of(item, values) for key, item in expression.items}
        if any(item is _UNKNOWN for item in items.values()):
            return _UNKNOWN
        return items if expression.kind is dict else tuple(items.values())
    value = values.get(expression.source, _UNKNOWN)
    return value if value is _UNKNOWN else part_at(value, expression.path)


def build(
    graph: ComponentGraph,
    input_spaces: Mapping[str, Any],
    *,
    action_space: Space | None = None,
    float_dtype: str = "float32",
) -> BuiltGraph:
    """Build an assembled graph. Nothing is executed and no framework is needed.

    Args:
        graph: what `assemble` gave.
        input_spaces: argument name -> Space (or spec of one) of the root's API methods; ``method.argument`` where
            two methods give one name different Spaces.
        action_space: handed to `check_input_spaces` and `create_variables`.
        float_dtype: ``float32`` or ``float64``.

    Raises:
        BuildError: a Space is missing or does not fit, a graph function fails, or components wait for each other;
            names the component, its argument and what would supply it.
    """
    return _Worklist(graph, input_spaces, action_space, float_dtype).run()


@dataclass
class _Worklist:
    graph: ComponentGraph
    given_spaces: Mapping[str, Any]
    action_space: Space | None
    float_dtype: str
    values: dict[Source, Value] = field(default_factory=dict)
    effects: dict[int, Effects] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)

    def run(self) -> BuiltGraph:
        started = time.perf_counter()
        self.graph = contract(self.graph)
        check_reach(self.graph)
        for component in self.graph.components.values():
            if component.declared_variables:
                raise BuildError(
                    f"{component.scope_path} is built already; build a copy: component.copy() before the first build"
                )
            component._float_dtype = self.float_dtype
        input_spaces = self._take_input_spaces()
        pending = dict(sorted(self.graph.nodes.items()))
        waiting = {scope: c for scope, c in self.graph.components.items() if self._is_reached(scope)}
        progress = True
        while progress and (pending or waiting):
            progress = False
            for scope in [s for s in waiting if self._try_create(s)]:
                del waiting[scope]
                progress = True
            known = len(self.values)
            for id_ in [i for i, node in pending.items() if self._try_infer(node)]:
                del pending[id_]
                progress = True
            progress = progress or len(self.values) > known  # a loop was entered
        if pending or waiting:
            raise BuildError(self._stuck(pending, waiting))
        for method in self.graph.methods:
            where = f"{self.graph.root}.{method}"
            results = self._known(where, {"results": self.graph.results_of(method)})
            if any(isinstance(leaf, VariableList | GradientList) for _, leaf in leaves(results)):
                raise BuildError(
                    f"{where} returns {describe(results['results'])}: only tensors leave the graph; "
                    "return what a graph function computes of them, or use GraphExecutor.get_weights"
                )
        variables = {
            name: variable
            for component in self.graph.components.values()
            for name, variable in component.declared_variables.items()
        }
        layout = lay_out(list(variables.values()), self._steppers())
        statistics = {
            "build_seconds": time.perf_counter() - started,
            "components": len(self.graph.components),
            "nodes": len(self.graph.nodes),
            "variables": len(variables),
            "trainable_parameters": sum(v.size for v in variables.values() if v.trainable),
        }
        return BuiltGraph(
            self.graph,
            input_spaces,
            self.values,
            self.effects,
            dict(sorted(variables.items())),
            layout,
            self.float_dtype,
            self.action_space,
            statistics,
        )

    # Inputs.

    def _take_input_spaces(self) -> dict[str, dict[str, Space]]:
        known = {
            key for m in self.graph.methods.values() for p in m.parameters for key in (p, f"{m.name}.{p}")
        }
        for key in self.given_spaces:
            if key not in known:
                names = ", ".join(sorted(n for n in known if "." not in n))
                raise BuildError(
                    f"input_spaces[{key!r}]: no API method of {self.graph.root} has that argument. "
                    f"{nearest(key, known)} All arguments: {names}."
                )
        spaces: dict[str, dict[str, Space]] = {}
        for method in self.graph.methods.values():
            spaces[method.name] = {}
            for name in method.parameters:
                key = f"{method.name}.{name}"
                given = self.given_spaces.get(key, self.given_spaces.get(name))
                if given is None:
                    raise BuildError(
                        f"argument {name!r} of {self.graph.root}.{method.name} has no Space: "
                        f"give input_spaces[{name!r}] (or [{key!r}])"
                    )
                space = from_spec(given)
                spaces[method.name][name] = space
                self.values[Input(method.name, name)] = to_specs(space, self.float_dtype)
        self._input_spaces = spaces
        return spaces

    # Components.

    def _is_reached(self, scope: str) -> bool:
        component = self.graph.components[scope]
        return not component.needs_input_spaces() or any(True for _ in self.graph.calls_of(scope))

    def _arguments(self, scope: str) -> Iterator[tuple[str, str, Expression]]:
        """(method, argument, expression) of all calls of a component that its completeness depends on."""
        component = self.graph.components[scope]
        for call in self.graph.calls_of(scope):
            if component.api_method(call.method).must_be_complete:
                for name, expression in call.arguments:
                    yield call.method, name, expression

    def _try_create(self, scope: str) -> bool:
        component = self.graph.components[scope]
        if component.needs_input_spaces():
            arguments = list(self._arguments(scope))
            known = [self._known(f"{scope}.{method}", {name: e})[name] for method, name, e in arguments]
            if any(value is _UNKNOWN for value in known):
                return False
            spaces = self._component_spaces(scope, arguments)
            try:
                component.check_input_spaces(spaces, self.action_space)
                component.create_variables(spaces, self.action_space)
            except SpaceError as error:
                if scope in str(error):
                    raise
                raise error.under(scope) from error
        self.created.add(scope)
        return True

    def _component_spaces(self, scope: str, arguments: list[tuple[str, str, Expression]]) -> dict[str, Any]:
        seen: dict[str, Value] = {}
        spaces: dict[str, Any] = {}
        for method, name, expression in arguments:
            if isinstance(expression, Const):
                continue
            value, key = _value_of(expression, self.values), f"{method}.{name}"
            if key in seen and not compatible(seen[key], value):
                raise BuildError(
                    f"{scope}.{method} is called with two different Spaces for {name!r}: "
                    f"{describe(seen[key])} and {describe(value)}"
                )
            seen.setdefault(key, value)
            try:
                space = self._space_of(expression, value)
            except ValueError as error:
                raise BuildError(f"{scope}.{method}: argument {name!r}: {error}") from error
            spaces.setdefault(key, space)
            spaces.setdefault(name, space)
        return spaces

    def _space_of(self, expression: Expression, value: Value) -> Any:
        # An input that arrives unchanged keeps its own Space: per-element bounds do not fit into a TensorSpec.
        if isinstance(expression, Ref) and isinstance(expression.source, Input) and not expression.path:
            return self._input_spaces[expression.source.method][expression.source.name]
        return space_of(value)

    # Nodes.

    def _try_infer(self, node: Node) -> bool:
        if isinstance(node, VariablesOf):
            return self._try_variables(node)
        if isinstance(node, Loop):
            return self._try_loop(node)
        if isinstance(node, Branch):
            return self._try_branch(node)
        arguments = self._known(label(node), dict(arguments_of(node)))
        if any(value is _UNKNOWN for value in arguments.values()) or node.component not in self.created:
            return False
        if isinstance(node, Gradients):
            self._infer_gradients(node, arguments)
            return True
        try:
            outputs, effects = infer(self.graph.components[node.component], node, arguments, self.float_dtype)
        except BuildError as error:
            raise BuildError(f"{error}\n  called by {self._call_chain(node)}") from error.__cause__
        self._keep(node, outputs, effects)
        return True

    def _keep(self, node: Node, outputs: Sequence[Value], effects: Effects) -> None:
        self.values.update(zip(outputs_of(node), outputs, strict=True))
        self.effects[node.id] = effects

    def _known(self, where: str, expressions: Mapping[str, Expression]) -> dict[str, Value]:
        """What is known of the operands of `where`.

        Raises:
            BuildError: one of them is a part that is not there.
        """
        try:
            return {name: _value_of(e, self.values) for name, e in expressions.items()}
        except KeyError as error:
            raise BuildError(f"{where}: there is no part {error.args[0]}") from None

    def _call_chain(self, node: Node) -> str:
        chain, caller = [], node.caller
        while caller is not None:
            call = self.graph.calls[caller]
            chain.append(f"{call.component}.{call.method}")
            caller = call.caller
        return " -> ".join(reversed(chain))

    def _try_variables(self, node: VariablesOf) -> bool:
        below = [s for s in self.graph.below(node.component) if self._is_reached(s)]
        if not all(scope in self.created for scope in below):
            return False
        found = [v for s in below for v in self.graph.components[s].declared_variables.values() if not v.host]
        self.values[Output(node.id)] = VariableList(sorted(found, key=lambda v: v.name))
        self.effects[node.id] = Effects(aliases=(frozenset(),))
        return True

    def _try_loop(self, node: Loop) -> bool:
        entry = self._known(label(node), {"count": node.count, "carried": node.carried})
        if any(value is _UNKNOWN for value in entry.values()):
            return False
        if Carried(node.id) not in self.values:
            inside, index = enter_loop(node, entry["count"], entry["carried"], self.float_dtype)
            self.values.update({Carried(node.id): inside, Index(node.id): index})
        iteration = self._known(label(node), {"results": node.region.results})["results"]
        if iteration is _UNKNOWN or not self._is_inferred(node):
            return False
        entering = self.values[Carried(node.id)]
        outcome = leave_loop(node, entry["count"], entering, iteration, self.effects, self.float_dtype)
        self._keep(node, *outcome)
        return True

    def _try_branch(self, node: Branch) -> bool:
        expressions = {"if": node.predicate, "then": node.then.results, "otherwise": node.otherwise.results}
        values = self._known(label(node), expressions)
        if any(value is _UNKNOWN for value in values.values()) or not self._is_inferred(node):
            return False
        predicate, *sides = values.values()
        self._keep(node, *join_branch(node, predicate, sides, self.effects, self.float_dtype))
        return True

    def _is_inferred(self, node: Loop | Branch) -> bool:
        """Everything inside is."""
        return all(inner.id in self.effects for inner in walk_nodes([node]) if inner is not node)

    def _infer_gradients(self, node: Gradients, arguments: dict[str, Value]) -> None:
        loss, variables = arguments["loss"], arguments["variables"]
        if not isinstance(variables, VariableList):
            raise BuildError(
                f"{label(node)}: variables must be what component.variables() returns, given {describe(variables)}"
            )
        if not (isinstance(loss, TensorSpec) and loss.is_float and loss.shape == ()):
            raise BuildError(
                f"{label(node)}: the loss must be one float without axes, given {describe(loss)}"
            )
        frozen = [v.name for v in variables if not v.trainable]
        if frozen:
            raise BuildError(
                f"{label(node)}: {frozen[0]} is not trainable; differentiate by the variables of a trainable component"
            )
        self.values[Output(node.id)] = GradientList(variables)
        self.effects[node.id] = Effects(reads=frozenset(v.name for v in variables), aliases=(frozenset(),))

    def _steppers(self) -> dict[str, frozenset[str]]:
        """Which components step a variable: those given both the variable and its gradient."""
        steppers: dict[str, frozenset[str]] = {}
        for node in self.graph.nodes.values():
            if not isinstance(node, GraphFunctionCall):
                continue
            arguments = {name: _value_of(e, self.values) for name, e in node.arguments}
            if tensor_arguments(arguments, GradientList):
                for variables in tensor_arguments(arguments, VariableList):
                    for v in variables:
                        steppers[v.name] = steppers.get(v.name, frozenset()) | {node.component}
        return steppers

    # The report of a build that cannot go on.

    def _stuck(self, pending: Mapping[int, Node], waiting: Mapping[str, Any]) -> str:
        lines = ["the build cannot go on:"]
        for scope in waiting:
            for method, name, expression in self._arguments(scope):
                if _value_of(expression, self.values) is _UNKNOWN:
                    lines.append(
                        f"  {scope}: argument {name} of {method} has no Space; it is supplied by "
                        f"{self._supplier(expression, pending)}"
                    )
        lines.extend(
            f"  {label(node)} waits for its component {node.component}"
            for node in pending.values()
            if node.component in waiting and not isinstance(node, VariablesOf)
        )
        for node in pending.values():
            if isinstance(node, VariablesOf):
                missing = [s for s in self.graph.below(node.component) if s in waiting]
                lines.append(f"  {label(node)}() waits for the variables of {', '.join(missing)}")
        lines.append(
            "break the cycle: let one component not depend on these Spaces, "
            "or mark the API method with @rlgraph_api(must_be_complete=False)"
        )
        return "\n".join(lines)

    def _supplier(self, expression: Expression, pending: Mapping[int, Node]) -> str:
        for ref in references(expression):
            if isinstance(ref.source, Output) and ref.source.node in pending:
                return f"output {ref.source.index} of {label(pending[ref.source.node])}"
            if isinstance(ref.source, Carried) and ref.source.loop in pending:
                return f"what {label(pending[ref.source.loop])} carries"
        return "nothing"
