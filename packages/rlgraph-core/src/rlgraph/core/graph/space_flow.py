"""Space flow: Spaces travel through a contracted graph; components that know their inputs create their variables."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rlgraph.core.errors import BuildError, nearest
from rlgraph.core.graph.completeness import Components
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.deadlock import Deadlock
from rlgraph.core.graph.devices import Devices
from rlgraph.core.graph.failure import Failure, explain
from rlgraph.core.graph.inference import infer, names_sizes, tensor_arguments
from rlgraph.core.graph.known_values import UNKNOWN, known, value_of
from rlgraph.core.graph.nodes import (
    DEFERRED,
    Branch,
    Carried,
    Collective,
    Expression,
    Gradients,
    GraphFunctionCall,
    Index,
    Input,
    JoinedVariables,
    Loop,
    Node,
    Output,
    Source,
    VariablesOf,
    arguments_of,
    label,
    outputs_of,
    walk_nodes,
)
from rlgraph.core.graph.passes.collectives import infer_collective
from rlgraph.core.graph.passes.containers import expand, merged
from rlgraph.core.graph.region_inference import enter_loop, join_branch, leave_loop, tensors_of, widened
from rlgraph.core.graph.values import Value, describe, first_difference, identity, leaves
from rlgraph.core.graph.variables import GradientList, Variable, VariableList, joined
from rlgraph.core.ops import Effects, TensorSpec, to_specs
from rlgraph.core.ops.effects import together
from rlgraph.spaces import Space, Tuple, from_spec


@dataclass
class SpaceFlow:
    """The worklist of a build.

    Attributes:
        graph: the graph as far as its passes went.
        values: what is known of inputs and outputs.
        effects: node id -> recorded effects.
        place: the nodes and the components in progress.
        expanded: node id -> the calls that replace it (see `rlgraph.core.graph.passes.containers`).
        replaced: output of such a node -> what replaces it.
    """

    graph: ComponentGraph
    given_spaces: Mapping[str, Any]
    action_space: Space | None
    float_dtype: str
    devices: Mapping[str, Devices]
    values: dict[Source, Value] = field(default_factory=dict)
    effects: dict[int, Effects] = field(default_factory=dict)
    place: tuple[frozenset[int], frozenset[str]] = (frozenset(), frozenset())
    expanded: dict[int, list[GraphFunctionCall]] = field(default_factory=dict)
    replaced: dict[Source, Expression] = field(default_factory=dict)
    deferred: dict[Input, str] = field(default_factory=dict)
    #: What was known when a loop was entered, and whether the build is back there.
    entered: dict[int, list[Any]] = field(default_factory=dict)
    is_undone: bool = False
    input_spaces: dict[str, dict[str, Space]] = field(default_factory=dict)
    _inferred: dict[Hashable, tuple[tuple[Value, ...], Effects]] = field(default_factory=dict)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Errors inside show the place in the graph."""
        try:
            yield
        except Exception as error:
            explain(error, Failure(self.graph, self.values, *self.place))
            raise

    def run(self) -> None:
        """Infer every Space and create every variable of the contracted graph."""
        self._ids = count(1 + max([*self.graph.nodes, *self.graph.calls], default=0))
        self._adopt_components()
        self._take_input_spaces()
        self.components.check_unused()
        self._propagate()

    @property
    def variables(self) -> dict[str, Variable]:
        """All declared variables, sorted by scoped name."""
        components = self.graph.components.values()
        return dict(sorted(item for c in components for item in c.declared_variables.items()))

    def _adopt_components(self) -> None:
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
        self.components = Components(self.graph, self.values, self.input_spaces, self.action_space)

    def _propagate(self) -> None:
        """Let Spaces flow until everything is known."""
        nodes = dict(sorted(self.graph.nodes.items()))
        reached = [scope for scope in self.graph.components if self.components.is_reached(scope)]
        pending, waiting, progress = dict(nodes), list(reached), True
        while progress and (pending or waiting):
            progress = self._take_deferred_spaces()
            for scope in [s for s in waiting if self._try_create(s)]:
                waiting.remove(scope)
                progress = True
            number = len(self.values)
            for id_ in [i for i, node in pending.items() if self._try_infer(node)]:
                del pending[id_]
                progress = True
            if self.is_undone:
                pending = {id_: node for id_, node in nodes.items() if id_ not in self.effects}
                waiting = [scope for scope in reached if scope not in self.components.created]
                self.is_undone, progress = False, True
            progress = progress or len(self.values) > number  # a loop was entered
            progress = progress or self._create_ahead(waiting)
        for scope in sorted(self.components.ahead):
            self._confirm(scope)
        if pending or waiting:
            self.place = frozenset(), frozenset(waiting)
            raise BuildError(Deadlock(self.components, pending, waiting, self.deferred).message())

    def check_results(self) -> None:
        """Raise `BuildError` if anything but tensors leaves the graph."""
        for method in self.graph.methods:
            self.place = frozenset(), frozenset()
            where = f"{self.graph.root}.{method}"
            results = known(where, {"results": self.graph.results_of(method)}, self.values)
            if any(isinstance(leaf, VariableList | GradientList) for _, leaf in leaves(results)):
                raise BuildError(
                    f"{where} returns {describe(results['results'])}: only tensors leave the graph; "
                    "return what a graph function computes of them, or use GraphExecutor.get_weights"
                )

    # Inputs.

    def _take_input_spaces(self) -> None:
        names = {
            key for m in self.graph.methods.values() for p in m.parameters for key in (p, f"{m.name}.{p}")
        }
        for key in self.given_spaces:
            if key not in names:
                shown = ", ".join(sorted(n for n in names if "." not in n))
                raise BuildError(
                    f"input_spaces[{key!r}]: no API method of {self.graph.root} has that argument. "
                    + (f"{nearest(key, names)} All arguments: {shown}." if names else "None has any.")
                )
        for method in self.graph.methods.values():
            self.input_spaces[method.name] = {}
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
        self.input_spaces[source.method][source.name] = space
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
        ready = {
            source: scope for source, scope in self.deferred.items() if not self.components.lacking(scope)
        }
        for source, scope in ready.items():
            variables = self.components.variables_below(scope)
            self._take_input(source, Tuple(*(variable.spec.to_space() for variable in variables)))
            del self.deferred[source]
        return bool(ready)

    # Components and nodes.

    def _try_create(self, scope: str, *, ahead: bool = False) -> bool:
        self.place = frozenset(), frozenset((scope,))
        return self.components.try_create(scope, ahead=ahead)

    def _create_ahead(self, waiting: list[str]) -> bool:
        """Create a component of which all that its build hooks read is known, the first in program order."""
        for scope in sorted(waiting, key=lambda scope: next(self.graph.calls_of(scope)).id):
            if self._try_create(scope, ahead=True):
                waiting.remove(scope)
                return True
        return False

    def _confirm(self, scope: str) -> None:
        if scope in self.components.ahead:
            self.place = frozenset(), frozenset((scope,))
            self.components.confirm(scope)

    def _try_infer(self, node: Node) -> bool:
        if isinstance(node, VariablesOf):
            return self._try_variables(node)
        if isinstance(node, JoinedVariables):
            return self._try_joined(node)
        if isinstance(node, Loop | Branch):
            self.place = frozenset((node.id,)), frozenset()
            return self._try_loop(node) if isinstance(node, Loop) else self._try_branch(node)
        # A derivative needs nothing of the component that takes it, which so may be handed it by its own API.
        wiring = isinstance(node, Gradients | Collective)
        if node.component not in self.components.created and not wiring:
            return False
        self.place = frozenset((node.id,)), frozenset()
        arguments = known(label(node), dict(arguments_of(node)), self.values)
        if any(value is UNKNOWN for value in arguments.values()):
            return False
        if self.components.needs_variables(node) and self.components.lacking(node.component):
            return False
        self._confirm(node.component)
        self.place = frozenset((node.id,)), frozenset()
        if isinstance(node, Gradients):
            self._infer_gradients(node, arguments)
        elif isinstance(node, Collective):
            self._keep(node, *infer_collective(node, **arguments))
        elif self._is_written_out(node):
            self._expand(node, arguments)
        else:
            self._infer(node, arguments)
        return True

    def _is_written_out(self, node: GraphFunctionCall) -> bool:
        function = self.components.function(node)
        return bool(function.options.flatten_ops) or function.space_of is not None

    def _expand(self, node: GraphFunctionCall, arguments: dict[str, Value]) -> None:
        calls = expand(self.components.function(node), node, arguments, self._ids)
        for call in calls.values():
            self._infer(call, known(label(call), dict(call.arguments), self.values))
        self.expanded[node.id] = list(calls.values())
        self.effects[node.id] = together(self.effects[call.id] for call in calls.values())
        for index in range(node.returns):
            output = Output(node.id, index)
            self.replaced[output] = merged(calls, index, self.values)
            self.values[output] = value_of(self.replaced[output], self.values)

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

    def _call_chain(self, node: Node) -> str:
        chain, caller = [], node.caller
        while caller is not None:
            call = self.graph.calls[caller]
            chain.append(f"{call.component}.{call.method}")
            caller = call.caller
        return " -> ".join(reversed(chain))

    def _try_variables(self, node: VariablesOf) -> bool:
        if self.components.lacking(node.component):
            return False
        self.values[Output(node.id)] = self.components.variables_below(node.component, node.trainable_only)
        self.effects[node.id] = Effects(aliases=(frozenset(),))
        return True

    def _try_joined(self, node: JoinedVariables) -> bool:
        lists = known(label(node), dict(arguments_of(node)), self.values).values()
        if any(value is UNKNOWN for value in lists):
            return False
        self._keep(node, (joined(*lists),), Effects(aliases=(frozenset(),)))
        return True

    def _try_loop(self, node: Loop) -> bool:
        entry = known(label(node), {"count": node.count, "carried": node.carried}, self.values)
        if any(value is UNKNOWN for value in entry.values()):
            return False
        if Carried(node.id) not in self.values:
            self.entered[node.id] = [copy(known_by_now) for known_by_now in self._state()]
            inside, index = enter_loop(node, entry["count"], entry["carried"], self.float_dtype)
            self.values.update({Carried(node.id): inside, Index(node.id): index})
        iteration = known(label(node), {"results": node.region.results}, self.values)["results"]
        if iteration is UNKNOWN or not self._is_inferred(node):
            return False
        entering, leaving = self.values[Carried(node.id)], iteration[0]
        if not first_difference(entering, tensors_of(leaving, self.float_dtype, label(node))):
            inside = widened(entering, leaving)
            if inside != entering:
                self._enter_again(node, inside)
                return self._try_loop(node)
        outcome = leave_loop(node, entry["count"], entering, iteration, self.effects, self.float_dtype)
        self._keep(node, *outcome)
        return True

    def _enter_again(self, node: Loop, inside: Value) -> None:
        """Undo all since a loop was entered: bounds of the first values do not hold for the later ones."""
        index = self.values[Index(node.id)]
        for current, before in zip(self._state(), self.entered[node.id], strict=True):
            current.clear()
            current.update(before)
        for scope in self.graph.components.keys() - self.components.created:
            self.components.undo(scope)
        self.values.update({Carried(node.id): inside, Index(node.id): index})
        self.is_undone = True

    def _state(self) -> list[Any]:
        """What the build has found out, and what it may forget again."""
        created = self.components.created, self.components.ahead
        found = self.values, self.effects, self.expanded, self.replaced, self.deferred, self._inferred
        return [*found, *created]

    def _try_branch(self, node: Branch) -> bool:
        expressions = {"if": node.predicate, "then": node.then.results, "otherwise": node.otherwise.results}
        values = known(label(node), expressions, self.values)
        if any(value is UNKNOWN for value in values.values()) or not self._is_inferred(node):
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
                f"{label(node)}: variables must be what component.variables() returns, or several of these "
                f"joined by +, given {describe(variables)}"
            )
        if not (isinstance(loss, TensorSpec) and loss.is_float and loss.shape == ()):
            raise BuildError(
                f"{label(node)}: the loss must be one float without axes, given {describe(loss)}"
            )
        if not variables:
            raise BuildError(
                f"{label(node)}: there are no variables: differentiate by the variables() of a component that has some"
            )
        frozen = [v.name for v in variables if not v.trainable]
        if frozen:
            raise BuildError(
                f"{label(node)}: {frozen[0]} is not trainable; differentiate by the variables of a trainable component"
                ", or by component.variables(trainable_only=True)"
            )
        self.values[Output(node.id)] = GradientList(variables)
        self.effects[node.id] = Effects(reads=frozenset(v.name for v in variables), aliases=(frozenset(),))

    def steppers(self) -> dict[str, frozenset[str]]:
        """Which components step a variable: those given both the variable and its gradient."""
        steppers: dict[str, frozenset[str]] = {}
        for node in self.graph.nodes.values():
            if not isinstance(node, GraphFunctionCall):
                continue
            arguments = {name: value_of(e, self.values) for name, e in node.arguments}
            if tensor_arguments(arguments, GradientList):
                for variables in tensor_arguments(arguments, VariableList):
                    for v in variables:
                        steppers[v.name] = steppers.get(v.name, frozenset()) | {node.component}
        return steppers
