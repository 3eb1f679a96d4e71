"""Phase three: let Spaces flow through the contracted graph, create variables, lay them out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rlgraph.core.errors import BuildError, BuildWarning, nearest
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.deadlock import find_cycle
from rlgraph.core.graph.failure import Failure, explain
from rlgraph.core.graph.inference import infer, names_sizes, tensor_arguments
from rlgraph.core.graph.nodes import (
    DEFERRED,
    ApiCall,
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
from rlgraph.core.graph.passes.containers import expand, merged, write_out
from rlgraph.core.graph.passes.contraction import contract
from rlgraph.core.graph.passes.devices import Device, Devices, resolve_devices
from rlgraph.core.graph.regions import check_reach, enter_loop, join_branch, leave_loop
from rlgraph.core.graph.values import (
    Value,
    compatible,
    describe,
    difference,
    identity,
    leaves,
    part_at,
    space_of,
)
from rlgraph.core.graph.variables import GradientList, Layout, Variable, VariableList, lay_out
from rlgraph.core.ops import Effects, TensorSpec, to_specs
from rlgraph.core.ops.effects import together
from rlgraph.spaces import Space, SpaceError, Tuple, from_spec


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
        devices: where the variables and graph functions of every component are placed, by scope.
        float_dtype: the floating dtype of the execution.
        action_space: the action Space given to the build.
        contracted: False keeps calls of components' API methods calls in emitted source.
        statistics: seconds spent and sizes (see `rlgraph.core.GraphExecutor`).
    """

    graph: ComponentGraph
    input_spaces: Mapping[str, Mapping[str, Space]]
    values: Mapping[Source, Value]
    effects: Mapping[int, Effects]
    variables: Mapping[str, Variable]
    layout: Layout
    devices: Mapping[str, Devices]
    float_dtype: str
    action_space: Space | None
    contracted: bool
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
    contract: bool = True,
    device: Device | None = None,
    device_map: Mapping[str, Device] | None = None,
) -> BuiltGraph:
    """Build an assembled graph. Nothing is executed and no framework is needed.

    Args:
        graph: what `assemble` gave.
        input_spaces: argument name -> Space (or spec of one) of the root's API methods; ``method.argument`` where
            two methods give one name different Spaces. ``"variables:policy"`` is a Tuple of the Spaces of the
            variables of the component at that scope, sorted by scoped name, as its ``variables()`` are.
        action_space: handed to `check_input_spaces` and `create_variables`.
        float_dtype: ``float32`` or ``float64``.
        contract: False keeps every call of a component's API method a call of its own in the emitted source, and
            merges nothing: for stepping through with a debugger, and for profiles by component.
        device, device_map: where things are placed (see `rlgraph.core.graph.passes.devices`).

    Raises:
        BuildError: a Space is missing or does not fit, a graph function fails, or components wait for each other;
            names the component, its argument and what would supply it. A note shows the graph around the place, and
            ``rlgraph.core.draw.draw(error)`` draws it.
    """
    devices = resolve_devices(graph, device, device_map)
    worklist = _Worklist(graph, input_spaces, action_space, float_dtype, contract, devices)
    try:
        return worklist.run()
    except Exception as error:
        explain(error, Failure(worklist.graph, worklist.values, *worklist.place))
        raise


@dataclass
class _Worklist:
    graph: ComponentGraph
    given_spaces: Mapping[str, Any]
    action_space: Space | None
    float_dtype: str
    contracted: bool
    devices: Mapping[str, Devices]
    values: dict[Source, Value] = field(default_factory=dict)
    effects: dict[int, Effects] = field(default_factory=dict)
    created: set[str] = field(default_factory=set)
    #: The nodes and the components that are worked on.
    place: tuple[frozenset[int], frozenset[str]] = (frozenset(), frozenset())
    expanded: dict[int, list[GraphFunctionCall]] = field(default_factory=dict)
    replaced: dict[Source, Expression] = field(default_factory=dict)
    deferred: dict[Input, str] = field(default_factory=dict)
    _inferred: dict[Hashable, tuple[tuple[Value, ...], Effects]] = field(default_factory=dict)

    def run(self) -> BuiltGraph:
        started = time.perf_counter()
        self.graph = contract(self.graph)
        check_reach(self.graph)
        self._ids = count(1 + max([*self.graph.nodes, *self.graph.calls], default=0))
        for scope, component in self.graph.components.items():
            if component.declared_variables:
                raise BuildError(
                    f"{component.scope_path} is built already; build a copy: component.copy() before the first build"
                )
            if component.scope_path != scope:
                raise BuildError(
                    f"{scope} was assembled again since, as {component.scope_path} of another root: assemble and "
                    "build one root at a time, or give each a copy()"
                )
            component._float_dtype = self.float_dtype
            component._variables_device = self.devices[scope].variables
        self._take_input_spaces()
        self._check_unused()
        pending = dict(sorted(self.graph.nodes.items()))
        waiting = {scope: c for scope, c in self.graph.components.items() if self._is_reached(scope)}
        progress = True
        while progress and (pending or waiting):
            progress = self._take_deferred_spaces()
            for scope in [s for s in waiting if self._try_create(s)]:
                del waiting[scope]
                progress = True
            known = len(self.values)
            for id_ in [i for i, node in pending.items() if self._try_infer(node)]:
                del pending[id_]
                progress = True
            progress = progress or len(self.values) > known  # a loop was entered
        if pending or waiting:
            self.place = frozenset(), frozenset(waiting)
            raise BuildError(self._stuck(pending, waiting))
        self.graph = write_out(self.graph, self.expanded, self.replaced)
        for id_ in self.expanded:
            del self.effects[id_]
        for method in self.graph.methods:
            self.place = frozenset(), frozenset()
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
            "api_calls": len(self.graph.calls),
            "nodes": len(self.graph.nodes),
            "graph_function_calls": sum(isinstance(n, GraphFunctionCall) for n in self.graph.nodes.values()),
            "variables": len(variables),
            "trainable_parameters": sum(v.size for v in variables.values() if v.trainable),
        }
        return BuiltGraph(
            self.graph,
            self._input_spaces,
            self.values,
            self.effects,
            dict(sorted(variables.items())),
            layout,
            self.devices,
            self.float_dtype,
            self.action_space,
            self.contracted,
            statistics,
        )

    # Inputs.

    def _take_input_spaces(self) -> None:
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
        self._input_spaces = spaces
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
                if isinstance(given, str) and given.startswith(DEFERRED):
                    self.deferred[Input(method.name, name)] = self._deferred_scope(key, given)
                else:
                    self._take_input(Input(method.name, name), from_spec(given))

    def _take_input(self, source: Input, space: Space) -> None:
        self._input_spaces[source.method][source.name] = space
        self.values[source] = to_specs(space, self.float_dtype)

    def _deferred_scope(self, key: str, given: str) -> str:
        scope = given.removeprefix(DEFERRED)
        if scope not in self.graph.components:
            raise BuildError(
                f"input_spaces[{key!r}] = {given!r}: there is no component {scope!r}. "
                f"{nearest(scope, self.graph.components)}"
            )
        return scope

    def _take_deferred_spaces(self) -> bool:
        """Give inputs that hold a component's variables their Spaces, where these are known by now."""
        known = {source: scope for source, scope in self.deferred.items() if not self._lacking(scope)}
        for source, scope in known.items():
            variables = self._variables_below(scope)
            self._take_input(source, Tuple(*(variable.spec.to_space() for variable in variables)))
            del self.deferred[source]
        return bool(known)

    # Components.

    def _is_reached(self, scope: str) -> bool:
        component = self.graph.components[scope]
        return not component.needs_input_spaces() or any(True for _ in self.graph.calls_of(scope))

    def _check_unused(self) -> None:
        """Warn of components that no API method reaches and that are left out; an exposed one is an error."""
        called = {call.component for call in self.graph.calls.values()}
        called |= {node.component for node in self.graph.nodes.values()}
        unused: list[str] = []
        for scope, component in self.graph.components.items():
            if called.isdisjoint(self.graph.below(scope)):
                for parent, other in self.graph.components.items():
                    if other.sub_components.get(component.scope) is component:
                        self._check_exposed(parent, component)
                if not any(scope in self.graph.below(parent) for parent in unused):
                    unused.append(scope)
        for scope in unused:
            if not all(map(self._is_reached, self.graph.below(scope))):
                warnings.warn(
                    f"component {scope} is part of {self.graph.root}, but no API method calls it: it is left out",
                    BuildWarning,
                    stacklevel=5,
                )

    def _check_exposed(self, parent: str, component: Any) -> None:
        for name in self.graph.components[parent].exposed_apis.get(component.scope, ()):
            raise BuildError(
                f"{parent}.{name} exposes an API method of {component.scope_path}, and nothing calls it: call "
                f"{parent}.{name} in an API method, or expose it there as well"
            )

    def _arguments(self, scope: str) -> Iterator[tuple[ApiCall, str, Expression]]:
        """(call, argument, expression) of all calls of a component that its completeness depends on."""
        component = self.graph.components[scope]
        for call in self.graph.calls_of(scope):
            if component.api_method(call.method).must_be_complete:
                for name, expression in call.arguments:
                    yield call, name, expression

    def _try_create(self, scope: str) -> bool:
        component = self.graph.components[scope]
        if component.needs_input_spaces():
            arguments = list(self._arguments(scope))
            known = [self._known(f"{scope}.{call.method}", {name: e})[name] for call, name, e in arguments]
            if any(value is _UNKNOWN for value in known):
                return False
            self.place = frozenset(), frozenset((scope,))
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

    def _component_spaces(
        self, scope: str, arguments: list[tuple[ApiCall, str, Expression]]
    ) -> dict[str, Any]:
        seen: dict[str, tuple[Value, ApiCall]] = {}
        spaces: dict[str, Any] = {}
        for call, name, expression in arguments:
            if isinstance(expression, Const):
                continue
            value, key = _value_of(expression, self.values), f"{call.method}.{name}"
            if key in seen and identity(seen[key][0]) == identity(value):
                continue
            first, first_call = seen.setdefault(key, (value, call))
            if not compatible(first, value):
                raise BuildError(
                    f"{scope}.{call.method} is called with two different Spaces for {name!r}: "
                    f"{describe(first)} and {describe(value)} (by {self._caller(first_call)} and "
                    f"{self._caller(call)}){difference(first, value)}"
                )
            try:
                space = self._space_of(expression, value)
            except ValueError as error:
                raise BuildError(f"{scope}.{call.method}: argument {name!r}: {error}") from error
            spaces.setdefault(key, space)
            spaces.setdefault(name, space)
        return spaces

    def _caller(self, call: ApiCall) -> str:
        if call.caller is None:
            return f"input_spaces of {call.method}"
        caller = self.graph.calls[call.caller]
        return f"{caller.component}.{caller.method}"

    def _space_of(self, expression: Expression, value: Value) -> Any:
        # An input that arrives unchanged keeps its own Space: per-element bounds do not fit into a TensorSpec.
        if isinstance(expression, Ref) and isinstance(expression.source, Input) and not expression.path:
            return self._input_spaces[expression.source.method][expression.source.name]
        return space_of(value)

    # Nodes.

    def _try_infer(self, node: Node) -> bool:
        if isinstance(node, VariablesOf):
            return self._try_variables(node)
        if isinstance(node, Loop | Branch):
            self.place = frozenset((node.id,)), frozenset()
            return self._try_loop(node) if isinstance(node, Loop) else self._try_branch(node)
        if node.component not in self.created:
            return False
        self.place = frozenset((node.id,)), frozenset()
        arguments = self._known(label(node), dict(arguments_of(node)))
        if any(value is _UNKNOWN for value in arguments.values()):
            return False
        if self._needs_variables(node) and self._lacking(node.component):
            return False
        if isinstance(node, Gradients):
            self._infer_gradients(node, arguments)
        elif self._function(node).options.flatten_ops:
            self._expand(node, arguments)
        else:
            self._infer(node, arguments)
        return True

    def _function(self, node: GraphFunctionCall) -> Any:
        return self.graph.components[node.component].graph_function(node.function)

    def _needs_variables(self, node: Node) -> bool:
        """Whether a node waits for the variables of its component and of all below it."""
        if isinstance(node, VariablesOf):
            return True
        if not isinstance(node, GraphFunctionCall):
            return False
        if self._function(node).options.requires_variable_completeness:
            return True
        if node.caller is None:
            return False
        call = self.graph.calls[node.caller]
        method = self.graph.components[call.component].api_method(call.method)
        return method.options.requires_variable_completeness

    def _lacking(self, scope: str) -> list[str]:
        """The components at and below `scope` whose variables are not yet known."""
        return [s for s in self.graph.below(scope) if self._is_reached(s) and s not in self.created]

    def _variables_below(self, scope: str) -> VariableList:
        declared = (self.graph.components[s].declared_variables for s in self.graph.below(scope))
        found = [v for variables in declared for v in variables.values() if not v.host]
        return VariableList(sorted(found, key=lambda v: v.name))

    def _expand(self, node: GraphFunctionCall, arguments: dict[str, Value]) -> None:
        calls = expand(self._function(node), node, arguments, self._ids)
        for call in calls.values():
            self._infer(call, self._known(label(call), dict(call.arguments)))
        self.expanded[node.id] = list(calls.values())
        self.effects[node.id] = together(self.effects[call.id] for call in calls.values())
        for index in range(node.returns):
            output = Output(node.id, index)
            self.replaced[output] = merged(calls, index, self.values)
            self.values[output] = _value_of(self.replaced[output], self.values)

    def _infer(self, node: GraphFunctionCall, arguments: dict[str, Value]) -> None:
        # The same function of the same component on equal Spaces does the same.
        key = node.component, node.function, identity(arguments)
        found = self._inferred.get(key)
        if found is None:
            try:
                found = infer(self.graph.components[node.component], node, arguments, self.float_dtype)
            except BuildError as error:
                raise BuildError(f"{error}\n  called by {self._call_chain(node)}") from error.__cause__
            if not names_sizes(node, found[0]):
                self._inferred[key] = found
        self._keep(node, *found)

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
        if self._lacking(node.component):
            return False
        self.values[Output(node.id)] = self._variables_below(node.component)
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
            for call, name, expression in self._arguments(scope):
                if _value_of(expression, self.values) is _UNKNOWN:
                    lines.append(
                        f"  {scope}: argument {name} of {call.method} has no Space; it is supplied by "
                        f"{self._supplier(expression, pending)}"
                    )
        for node in pending.values():
            if self._needs_variables(node):
                missing = ", ".join(self._lacking(node.component))
                brackets = "()" if isinstance(node, VariablesOf) else ""
                lines.append(f"  {label(node)}{brackets} waits for the variables of {missing}")
            elif node.component in waiting:
                lines.append(f"  {label(node)} waits for its component {node.component}")
        cycle = find_cycle(self._waits(pending, waiting))
        if cycle:
            lines.append("the cycle: " + " waits for ".join(cycle))
        lines.append(
            "break the cycle: let one component not depend on these Spaces, "
            "or mark the API method with @rlgraph_api(must_be_complete=False)"
        )
        # What is called from many places waits at each of them for the same.
        return "\n".join(dict.fromkeys(lines))

    def _supplier(self, expression: Expression, pending: Mapping[int, Node]) -> str:
        for ref in references(expression):
            if isinstance(ref.source, Output) and ref.source.node in pending:
                return f"output {ref.source.index} of {label(pending[ref.source.node])}"
            if isinstance(ref.source, Input) and ref.source in self.deferred:
                scope = self.deferred[ref.source]
                return f"the input {ref.source.name}, which holds the variables of {scope}"
            if isinstance(ref.source, Carried) and ref.source.loop in pending:
                return f"what {label(pending[ref.source.loop])} carries"
        return "nothing"

    def _waits(self, pending: Mapping[int, Node], waiting: Mapping[str, Any]) -> dict[str, list[str]]:
        """Name of a component or node -> names of what it waits for."""

        def sources(expression: Expression) -> Iterator[str]:
            for ref in references(expression):
                if isinstance(ref.source, Output) and ref.source.node in pending:
                    yield label(pending[ref.source.node])
                if isinstance(ref.source, Input) and ref.source in self.deferred:
                    yield from self._lacking(self.deferred[ref.source])
                if isinstance(ref.source, Carried) and ref.source.loop in pending:
                    yield label(pending[ref.source.loop])

        waits = {s: [n for _, _, e in self._arguments(s) for n in sources(e)] for s in waiting}
        for node in pending.values():
            own = waits.setdefault(label(node), [])
            own.extend(name for _, e in arguments_of(node) for name in sources(e))
            own.extend(self._lacking(node.component) if self._needs_variables(node) else [])
            own.extend([node.component] if node.component in waiting else [])
        return waits
