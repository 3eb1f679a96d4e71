"""The graph executor: builds a root component on a backend and runs its API methods."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rlgraph.core.backend import Backend, Storage, create_backend, find_backend, load_object
from rlgraph.core.checkpoint import Checkpoint, Manifest, find_checkpoint, write_checkpoint
from rlgraph.core.checkpoint.restoring import Restoring, streams_stem
from rlgraph.core.component import BoundApiMethod, Component
from rlgraph.core.component.replicas import replication
from rlgraph.core.component.roots import Roots
from rlgraph.core.config import default_backend
from rlgraph.core.errors import CapabilityError, InputError, RLGraphError, SpecError, nearest
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.export import choose_methods, write_export
from rlgraph.core.graph import BuiltGraph, Plan, assemble, build, make_plan, require_kernels
from rlgraph.core.graph.binding import bind
from rlgraph.core.graph.call_fusion import FusedCall, fuse
from rlgraph.core.graph.devices import place, place_replicas
from rlgraph.core.graph.emission import emit_driver
from rlgraph.core.graph.nodes import GraphFunctionCall, Input
from rlgraph.core.graph.plan import HostStep, Segment
from rlgraph.core.numpy.backend import ActingBackend, BorrowedStorage
from rlgraph.core.runtime.acting import choose, read_variables
from rlgraph.core.runtime.input_conversion import converter
from rlgraph.core.runtime.locks import Locks
from rlgraph.spaces import Space, from_spec


class GraphExecutor:
    """Builds a root component once and executes its API methods; NumPy in, NumPy out.

    Args:
        root: an unbuilt component, or several that share components; their methods keep their names where these are
            different, else the root's scope stands in front: ``learner_update``.
        input_spaces: argument name -> Space of the root's API methods (see `rlgraph.core.build`).
        action_space: handed to the components' build hooks.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: `ExecutionSpec` or a mapping of its fields.
        contract: False keeps calls of API methods calls at run time (see `rlgraph.core.build`).

    Attributes:
        statistics: what the build cost and how large it is. ``assembly_seconds``, ``build_seconds`` (Spaces and
            declarations), ``storage_seconds`` (making the variables), ``total_seconds``; numbers of ``components``,
            ``api_calls``, ``nodes``, ``graph_function_calls`` among them, ``variables``, ``trainable_parameters``.
            ``methods`` has, for every program made so far, by the name of its API method:

            - ``planning_seconds`` of the passes, ``lowering_seconds`` until the backend has a program of it (it may
              compile more in its first call);
            - ``nodes_traced`` in front of the passes, of which ``nodes_merged`` were the same as others and
              ``nodes_dropped`` needed by nobody; ``nodes`` are left;
            - ``segments`` and ``host_calls``, inside loops and branches too.
        choices: what the backend decided by itself so far (see `Backend.choices`).
        acting: who runs the acting methods of the execution spec, ``"numpy"`` or ``"backend"``.
        replication: how updates are shared by replicas; None: they are not.

    Raises:
        AssemblyError, BuildError: the component cannot be assembled or built, or is to be on a device that the backend
            does not have.
        SpecError, PluginError: the backend or the execution spec is wrong.
    """

    #: Name of the backend of a class that belongs to one; None: any.
    backend_name: ClassVar[str | None] = None

    def __init__(
        self,
        root: Component | Sequence[Component],
        input_spaces: Mapping[str, Any],
        *,
        action_space: Space | None = None,
        backend: str | None = None,
        execution_spec: ExecutionSpec | Mapping[str, Any] | None = None,
        contract: bool = True,
    ):
        self.execution = ExecutionSpec.from_spec(execution_spec)
        name = backend or self.backend_name or default_backend()
        self.backend: Backend = create_backend(name, self.execution)
        if self.backend_name not in (None, self.backend.name):
            raise SpecError(
                f"{type(self).__name__} is the executor of backend {self.backend_name!r}, given {name!r}; "
                "rlgraph.core.executor_class(backend) gives the right one"
            )
        started = time.perf_counter()
        self.root = root if isinstance(root, Component) else Roots(root)
        graph = assemble(self.root, input_spaces)
        assembled = time.perf_counter()
        self.built: BuiltGraph = build(
            graph,
            input_spaces,
            action_space=None if action_space is None else from_spec(action_space),
            float_dtype=self.execution.dtype,
            contract=contract,
            device=self.execution.device,
            device_map=self.execution.device_map,
            place=partial(
                place,
                backend=self.backend,
                soft=self.execution.soft_placement,
                replicated=bool(self.execution.replicas),
            ),
        )
        self.replication = replication(place_replicas(self.execution.replicas, self.backend))
        self._check_methods(graph.methods)
        require_kernels(self.built, self.backend.name)
        stored = time.perf_counter()
        self.storage: Storage = self.backend.create_storage(self.built.layout, self.built.variables)
        self.storage.initialize()
        # All of them now, so that every checkpoint has the streams from which nothing was drawn so far.
        for effects in self.built.effects.values():
            for name in effects.draws:
                self.storage.tensor_stream(name)
        for node in self.built.graph.nodes.values():
            if isinstance(node, GraphFunctionCall) and node.host:
                self.storage.stream(node.component)
        self._plans: dict[str, Plan] = {}
        self._programs: dict[str, Callable[..., Any]] = {}
        self._fused_programs: dict[tuple[FusedCall, ...], Callable[..., Any]] = {}
        self._making = threading.RLock()
        self._locks = Locks()
        finished = time.perf_counter()
        self.statistics: dict[str, Any] = {
            "assembly_seconds": assembled - started,
            **self.built.statistics,
            "storage_seconds": finished - stored,
            "total_seconds": finished - started,
            "methods": {},
        }
        self.acting = self._make_acting()

    def _check_methods(self, methods: Iterable[str]) -> None:
        execution = self.execution
        compiled = () if isinstance(execution.compile, bool) else execution.compile
        for key, names in (("compile", compiled), ("acting_methods", execution.acting_methods)):
            for name in names:
                if name not in methods:
                    raise SpecError(f"execution_spec.{key}: no API method {name!r}. {nearest(name, methods)}")

    def _make_acting(self) -> str:
        """Make the programs of acting methods that NumPy runs; who runs them."""
        methods, acting = self.execution.acting_methods, self.execution.act_on
        if acting == "backend" or not methods:
            return "backend"
        if acting == "auto":
            acting, reason = choose([self.plan(method) for method in methods])
        try:
            programs = {
                method: self._timed(self.plan(method), partial(self.numpy_program, method))
                for method in (methods if acting == "numpy" else ())
            }
        except CapabilityError:
            if self.execution.act_on == "numpy":
                raise
            acting, programs, reason = "backend", {}, "a part of it has native kernels only"
        self._programs.update(programs)
        if self.execution.act_on == "auto":
            self.backend.choices["acting"] = f"{acting} ({reason})"
        return acting

    @property
    def choices(self) -> dict[str, str]:
        return dict(self.backend.choices)

    # Running.

    def execute(self, method: str | BoundApiMethod | Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        """Run an API method, or several of them as one program.

        .. code-block:: python

            actions = executor.execute("get_actions", states)
            actions, values = executor.execute([("get_actions", states), ("get_values", states)])

        Several calls share what they have in common: an argument that is the same object is one input, and what
        all of them compute of it is computed once. The program is made when a combination is first asked for, and the
        backend runs it; of single calls those of acting methods may run on NumPy (``execution_spec.acting_methods``).

        Args:
            method: its name, or ``root.method``; or a list of calls, each ``(method, *arguments)``.
            args, kwargs: its arguments; arrays, numbers, or containers of them, as their Spaces say.

        Returns:
            What the method returns; a tuple of that for several calls.

        Raises:
            InputError: an argument does not fit its Space.
            CapabilityError: the backend cannot run this method.
        """
        # The usual case first: asking whether a name is a Sequence takes longer than many a method.
        program = self._programs.get(method) if type(method) is str else None
        if program is not None:
            return program(*args, **kwargs)
        if isinstance(method, Sequence) and not isinstance(method, str):
            if args or kwargs:
                raise InputError(
                    "execute([calls]): the arguments belong into the calls: [(method, *arguments), ...]"
                )
            return self._execute_fused(method)
        name = self._name_of(method)
        return self.program(name)(*args, **kwargs)

    def _execute_fused(self, calls: Sequence[Any]) -> Any:
        inputs: list[tuple[Any, Any]] = []
        fused = tuple(self._fused_call(call, inputs) for call in calls)
        if not fused:
            raise InputError("execute([calls]): the list of calls is empty")
        program = self._fused_programs.get(fused)
        if program is None:
            program = self._make(
                self._fused_programs, fused, lambda: make_plan(*fuse(self.built, fused), self.replication)
            )
        return program(*(value for value, _ in inputs))

    def _fused_call(self, call: Any, inputs: list[tuple[Any, Any]]) -> FusedCall:
        """One call in terms of the distinct `inputs`, which it extends: pairs of an object and what it must be."""
        method, *args = call if isinstance(call, list | tuple) else (call,)
        name = self._name_of(method)
        self._check_method(name)
        entry = self.built.graph.methods[name]
        given = [*args, *(entry.defaults[p] for p in entry.parameters[len(args) :] if p in entry.defaults)]
        if len(given) != len(entry.parameters):
            raise InputError(
                f"{name}({', '.join(entry.parameters)}) was given {len(args)} arguments; several calls are "
                "[(method, *arguments), ...]"
            )
        positions = []
        for parameter, value in zip(entry.parameters, given, strict=True):
            spec = self.built.values[Input(name, parameter)]
            known = (i for i, (other, same) in enumerate(inputs) if other is value and same == spec)
            position = next(known, len(inputs))
            if position == len(inputs):
                inputs.append((value, spec))
            positions.append(position)
        return FusedCall(name, tuple(positions))

    def program(self, method: str) -> Callable[..., Any]:
        """The function that runs an API method; for callers that cannot spare the look-up in `execute`."""
        program = self._programs.get(method)
        return self._make(self._programs, method, lambda: self.plan(method)) if program is None else program

    def _make(self, programs: dict[Any, Any], key: Any, plan_of: Callable[[], Plan]) -> Callable[..., Any]:
        """Make a program and keep it under `key`, unless another thread has just done so."""
        with self._making:
            if key not in programs:
                plan = plan_of()
                self.backend.require(plan)
                programs[key] = self._timed(plan, partial(self._link, plan, self.backend, self.storage))
        program: Callable[..., Any] = programs[key]
        return program

    def _timed(self, plan: Plan, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """The program of a plan, and its line among the statistics."""
        started = time.perf_counter()
        program = make()
        seconds = {"lowering_seconds": time.perf_counter() - started}
        self.statistics["methods"][plan.name] = {**plan.statistics, **seconds}
        return program

    def numpy_program(self, method: str) -> Callable[..., Any]:
        """An API method on the NumPy backend over this executor's variables: the fast actor for small networks.

        The variables are the backend's own memory where it can be borrowed, else copies that are refreshed after
        every write.

        Raises:
            CapabilityError: the method needs gradients.
        """
        plan = self.plan(method)
        numpy_backend = ActingBackend(self.execution)
        numpy_backend.require(plan)
        if plan.writes:
            raise RLGraphError(f"{method!r} writes variables: only read-only methods run on borrowed memory")
        read = {self.built.layout.group_of[name] for name in read_variables([plan])}
        storage = BorrowedStorage(self.storage, read)
        program = self._link(plan, numpy_backend, storage)
        if not storage.copied:
            return program

        def refreshed(*args: Any, **kwargs: Any) -> Any:
            storage.refresh()
            return program(*args, **kwargs)

        return refreshed

    def _link(self, plan: Plan, backend: Backend, storage: Storage) -> Callable[..., Any]:
        lowered = {segment.name: backend.lower(plan, segment, storage) for segment in plan.segments}
        return emit_driver(
            plan, lowered, self._host_view, converter, lambda step: self._guard(plan, step, storage)
        ).compile()

    def _guard(
        self, plan: Plan, step: HostStep | Segment, storage: Storage
    ) -> AbstractContextManager[Any] | None:
        """What a step runs in. A segment that only reads runs beside all others, one that draws holds its streams."""
        if isinstance(step, HostStep):
            return self._locks.holding([_host_lock(step.node.component)])
        effects = [plan.built.effects[node.id] for node in step.nodes]
        written = frozenset[str]().union(*(e.writes for e in effects))
        # A stream has a name of its own and no group.
        group_of = self.built.layout.group_of
        if written.isdisjoint(group_of):  # it only draws, if that
            return self._locks.holding(written) if written else None
        touched = written.union(*(e.reads for e in effects))
        groups = {group_of.get(name, name) for name in touched}
        # Also after an error: it may have come behind the first write.
        return self._locks.holding(groups, storage.mark_written)

    def _everything(self) -> AbstractContextManager[Any]:
        """Holds all locks: for looking at, or replacing, many values at once."""
        scopes = self.built.graph.components
        return self._locks.holding([*self.built.layout.groups, *map(_host_lock, scopes)])

    def _host_view(self, scope: str) -> Any:
        component = self.built.graph.components[scope]
        return bind(
            component,
            lambda variable: self.storage.host[variable.name] if variable.host else variable,
            lambda slots: slots,
            rng=self.storage.stream(scope),
            condition=self._locks.condition(_host_lock(scope)),
            use_kernels=self.execution.use_kernels,
        )

    # Looking.

    @property
    def methods(self) -> list[str]:
        """Names of the API methods."""
        return sorted(self.built.graph.methods)

    def plan(self, method: str) -> Plan:
        """The plan of an API method.

        Raises:
            RLGraphError: there is no such method; names the nearest.
        """
        self._check_method(method)
        if method not in self._plans:
            self._plans[method] = make_plan(self.built, method, self.replication)
        return self._plans[method]

    def _name_of(self, method: str | BoundApiMethod) -> str:
        if isinstance(method, str):
            return method
        if not isinstance(method, BoundApiMethod):
            raise InputError(
                f"expected the name of an API method, or root.method, given {method!r}; several calls are "
                "[(method, *arguments), ...]"
            )
        return self.root.name_of(method) if isinstance(self.root, Roots) else method.name

    def _check_method(self, name: str) -> None:
        if name not in self.built.graph.methods:
            known = self.built.graph.methods
            raise RLGraphError(f"{self.built.graph.root} has no API method {name!r}. {nearest(name, known)}")

    # Variables.

    def get_weights(self, *, trainable_only: bool = False) -> dict[str, np.ndarray]:
        """Copies of the tensor variables by scoped name."""
        with self._locks.holding(self.built.layout.groups):
            values = self.storage.read_all()
        if trainable_only:
            return {name: value for name, value in values.items() if self.built.variables[name].trainable}
        return values

    def set_weights(self, values: Mapping[str, Any]) -> None:
        """Write the named variables; others keep their values. Nothing is written if anything does not fit.

        Raises:
            InputError: an unknown name, a wrong shape, or values of another kind.
        """
        arrays = self._checked_weights(values)
        with self._everything():
            self.storage.write_all(arrays)

    def _checked_weights(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        arrays = {}
        for name, value in values.items():
            variable = self.built.variables.get(name)
            if variable is None or variable.host:
                raise InputError(
                    f"there is no variable {name!r}. {nearest(name, self.built.layout.group_of)}"
                )
            array = np.asarray(value)
            if array.shape != variable.shape:
                raise InputError(f"variable {name!r}: expected shape {variable.shape}, given {array.shape}")
            if not np.can_cast(array.dtype, variable.spec.dtype, "same_kind"):
                raise InputError(f"variable {name!r}: expected {variable.spec.dtype}, given {array.dtype}")
            arrays[name] = array
        return arrays

    # Leaving.

    def export_graph(self, directory: str | Path, methods: Sequence[str] | None = None) -> Path:
        """Write API methods, with the values of their variables, for use without RLgraph.

        What is written beside ``graph.json``, the description of all inputs and outputs, depends on the backend.
        Inputs are named after the parameters (``states``, parts of containers ``states/camera``), outputs ``output``,
        ``output/0``, ``output/q_values``. Host functions that need nothing but the method's arguments are left out,
        and what they returned becomes inputs, named after them.

        Args:
            directory: where; an earlier export is replaced.
            methods: names of API methods; default: all that write no variable and can be exported.

        Returns:
            The directory.

        Raises:
            CapabilityError: the backend exports nothing, or a method calls a host function in its middle, or does what
                the backend cannot export; names the function.
            RLGraphError: there is no such method; names the nearest.
            InputError: there is something else in the directory.
        """
        backend = self.backend
        chosen = choose_methods(backend.name, backend.exports, self.plan, self.methods, methods)
        for method in chosen:
            backend.require(method.plan)
        with self._everything():
            return write_export(
                directory, backend.name, chosen, lambda path: backend.export(chosen, self.storage, path)
            )

    def profile(self, path: str | Path) -> AbstractContextManager[None]:
        """Record what runs inside of a ``with`` block, by graph function.

        .. code-block:: python

            with executor.profile("update.json"):
                executor.execute("update", batch)

        Args:
            path: the file that is written when the block ends, a Chrome trace: chrome://tracing and
                https://ui.perfetto.dev show it.

        Raises:
            CapabilityError: the backend has no profiler.
            InputError: `path` is a folder, or is in one that is not there.
            RLGraphError: something is being profiled already.
        """
        path = Path(path)
        profile = self.backend.profile(path)
        if path.is_dir():
            raise InputError(
                f"profile: {path} is a folder; expected the file to write, such as {path / 'trace.json'}"
            )
        if not path.absolute().parent.is_dir():
            raise InputError(f"profile: {path}: there is no folder {path.absolute().parent}")
        return profile

    # Checkpoints.

    def save(
        self, directory: str | Path, *, facts: Mapping[str, Any] | None = None, host: bool = True
    ) -> Path:
        """Write a checkpoint: variables, random streams and `facts`.

        Args:
            directory: where; an existing checkpoint is replaced only by a complete new one.
            facts: JSON-able things to keep beside them.
            host: host variables (memories) as well; they can be large.

        Raises:
            CheckpointError: it cannot be written, or `directory` is something else; what was there is as it was.
        """
        with self._everything():
            arrays = {"variables": self.storage.read_all()}
            if host:
                arrays["host"] = self.storage.host
            if states := self.storage.read_tensor_streams():
                arrays[streams_stem(self.backend.name)] = states
            streams = {scope: rng.bit_generator.state for scope, rng in self.storage.streams.items()}
            manifest = Manifest(
                facts=dict(facts or {}),
                streams=streams,
                choices=self.choices,
                dtype=self.execution.dtype,
                seed=self.execution.seed,
                backend=self.backend.name,
            )
            return write_checkpoint(directory, arrays, manifest)

    def load(
        self,
        directory: str | Path,
        *,
        scope: str | None = None,
        required_facts: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Restore a checkpoint and return its facts. Nothing changes if anything does not fit.

        Random streams and host variables are restored where the checkpoint has them; those of graph functions if it was
        written on the same backend.

        Args:
            directory: the checkpoint. If a save of it was cut off so that it is missing, what that has left is taken.
            scope: restore only the variables of this component and those inside it, and no random streams. The rest of
                the checkpoint may then belong to another graph.
            required_facts: name -> a value of the type that the fact must have; None for any.

        Raises:
            CheckpointError: it is missing, damaged, of another component graph, or lacks a fact.
            InputError: there is no such component, or it has no variables.

        Warns:
            CheckpointWarning: the checkpoint itself is missing, and what a cut-off save has left is taken.
        """
        prefix = self._prefix(scope)
        variables = [variable for name, variable in self.built.variables.items() if name.startswith(prefix)]
        if scope is not None and not variables:
            raise InputError(f"component {scope!r} has no variables")
        with Checkpoint(find_checkpoint(directory)) as checkpoint:
            checkpoint.require_facts(required_facts or {})
            restoring = Restoring(checkpoint, self.storage, variables, prefix)
            with self._everything():
                if scope is None:
                    restoring.add_streams(self.backend.name, self._stream_names())
                restoring.write()
                for path, component in self.built.graph.components.items():
                    if f"{path}/".startswith(prefix):
                        component.after_load()
                self._locks.notify_all()
        return dict(checkpoint.manifest.facts)

    def _prefix(self, scope: str | None) -> str:
        """What the names of the variables begin with that a component and all inside it have; None is the root."""
        graph = self.built.graph
        if scope is None or scope == graph.root:
            return ""
        if scope not in graph.components:
            raise InputError(f"there is no component {scope!r}. {nearest(scope, graph.components)}")
        return f"{scope}/"

    def _stream_names(self) -> frozenset[str]:
        draws = (effects.draws for effects in self.built.effects.values())
        return frozenset(self.built.graph.components).union(*draws)


def executor_class(backend: str | None = None) -> type[GraphExecutor]:
    """The graph executor of a backend: the general one, or one that can do more.

    Args:
        backend: name of a backend; default: `rlgraph.core.default_backend`.

    Raises:
        SpecError, PluginError: there is no such backend, or it is broken.
    """
    descriptor = find_backend(backend or default_backend())
    found: type[GraphExecutor] = load_object(descriptor, descriptor.executor)
    return found


def _host_lock(scope: str) -> str:
    return f"host:{scope}"
