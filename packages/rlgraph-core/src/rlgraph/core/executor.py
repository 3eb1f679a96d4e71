"""The graph executor: builds a root component on a backend and runs its API methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rlgraph.core.backend import Backend, create_backend, find_backend, load_object
from rlgraph.core.checkpoint import BESIDE, Checkpoint, Manifest, find_checkpoint, write_checkpoint
from rlgraph.core.checkpoint.restoring import Restoring, streams_stem
from rlgraph.core.collectives import Collective
from rlgraph.core.component import BoundApiMethod, Component
from rlgraph.core.component.roots import Roots
from rlgraph.core.config import default_backend
from rlgraph.core.errors import InputError, SpecError, nearest
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.export import choose_methods, write_export
from rlgraph.core.graph import BuiltGraph, ComponentGraph, Plan, assemble, build, require_kernels
from rlgraph.core.graph.devices import place
from rlgraph.core.graph.variables import Layout
from rlgraph.core.random_streams import RandomStreams
from rlgraph.core.runtime.acting import choose_actor
from rlgraph.core.runtime.flat_weights import FlatWeights
from rlgraph.core.runtime.fused_calls import fused_calls
from rlgraph.core.runtime.guarded_storage import GuardedStorage
from rlgraph.core.runtime.programs import Programs
from rlgraph.core.runtime.weights import checked_weights
from rlgraph.core.storage import Storage
from rlgraph.spaces import Space, from_spec


class GraphExecutor:
    """Builds a root component once and executes its API methods; NumPy in, NumPy out.

    Args:
        root: an unbuilt component, or several that share components; their methods keep their names where these are
            different, else the root's scope is their prefix: ``learner_update``.
        input_spaces: argument name -> Space of the root's API methods (see `rlgraph.core.build`).
        action_space: passed to the components' build hooks.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: `ExecutionSpec` or a mapping of its fields.
        contract: False keeps calls of API methods calls at run time (see `rlgraph.core.build`).
        collective: this learner's place in a group of learners, which run updates together: gradients, and what else
            components add up with `all_reduce`, are those of all. Its draws differ from those of the others, its
            starting values do not. Default: there is one learner.
        api_methods: the root's API methods that are built; default: all that are not switched off. Of the components
            only those are built that these methods reach; scopes, starting values and random streams of these are as in
            the full build.
        shares: another executor on this backend, with whose tensor variables those of the same names are one: what
            either writes, both read. All of its tensor variables must be here.

    Attributes:
        statistics: cost and size of the build. ``assembly_seconds``, ``build_seconds`` (Spaces and
            declarations), ``storage_seconds`` (making the variables), ``total_seconds``; numbers of ``components``,
            ``api_calls``, ``nodes``, ``graph_function_calls`` among them, ``variables``, ``trainable_parameters``.
            ``methods`` has, for every program made so far, by the name of its API method:

            - ``planning_seconds`` of the passes, ``lowering_seconds`` until the backend has a program of it (it may
              compile more in its first call);
            - ``nodes_traced`` before the passes, of which ``nodes_merged`` were equal to others and ``nodes_dropped``
              unused; ``nodes`` remain;
            - ``segments`` and ``host_calls``, inside loops and branches too.
        choices: the backend's own decisions so far (see `Backend.choices`).
        acting: what runs the acting methods of the execution spec, ``"numpy"`` or ``"backend"``.

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
        api_methods: Collection[str] | None = None,
        collective: Collective | None = None,
        shares: GraphExecutor | None = None,
    ):
        self.execution = ExecutionSpec.from_spec(execution_spec).of_learner(
            None if collective is None else collective.local_rank
        )
        name = backend or self.backend_name or default_backend()
        self.backend: Backend = create_backend(name, self.execution)
        if self.backend_name not in (None, self.backend.name):
            raise SpecError(
                f"{type(self).__name__} is the executor of backend {self.backend_name!r}, given {name!r}; "
                "rlgraph.core.executor_class(backend) gives the right one"
            )
        started = time.perf_counter()
        self.root = root if isinstance(root, Component) else Roots(root)
        graph = assemble(self.root, input_spaces, api_methods, in_group=collective is not None)
        assembled = time.perf_counter()
        self.built: BuiltGraph = self._build(
            graph, input_spaces, action_space, contract, None if shares is None else shares.built.layout
        )
        self._check_methods(graph.methods)
        require_kernels(self.built, self.backend.name)
        stored = time.perf_counter()
        self.storage: Storage = self.backend.create_storage(self.built.layout, self.built.variables)
        if collective is not None:
            self.storage.draw_as(collective.rank)
        if shares is not None:
            self.storage.share(shares.storage)
        locks = None if shares is None else shares.guarded.locks
        self.guarded: GuardedStorage = GuardedStorage(
            self.built, self.storage, self.execution.use_kernels, locks
        )
        self.programs = Programs(self.backend, self.guarded, collective)
        self._programs = self.programs.of_methods  # the look-up of every call
        finished = time.perf_counter()
        self.statistics: dict[str, Any] = {
            "assembly_seconds": assembled - started,
            **self.built.statistics,
            "storage_seconds": finished - stored,
            "total_seconds": finished - started,
            "methods": self.programs.statistics,
        }
        self.acting = choose_actor(self.programs, self.execution)

    def _build(
        self,
        graph: ComponentGraph,
        input_spaces: Mapping[str, Any],
        action_space: Any,
        contract: bool,
        shared: Layout | None,
    ) -> BuiltGraph:
        execution = self.execution
        return build(
            graph,
            input_spaces,
            action_space=None if action_space is None else from_spec(action_space),
            float_dtype=execution.dtype,
            contract=contract,
            device=execution.device,
            device_map=execution.device_map,
            place=partial(place, backend=self.backend, soft=execution.soft_placement),
            shared=shared,
        )

    def _check_methods(self, methods: Iterable[str]) -> None:
        execution = self.execution
        compiled = () if isinstance(execution.compile, bool) else execution.compile
        for key, names in (("compile", compiled), ("acting_methods", execution.acting_methods)):
            for name in names:
                if name not in methods:
                    raise SpecError(
                        f"no API method {name!r}. {nearest(name, methods)}", path=f"execution_spec.{key}"
                    )

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
        # The usual case first: asking whether a name is a Sequence takes longer than many calls.
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
        fused, values = fused_calls(self.built, map(self._named_call, calls))
        return self.programs.of_fused(fused)(*values)

    def _named_call(self, call: Any) -> tuple[str, list[Any]]:
        """A method's name and its arguments."""
        method, *args = call if isinstance(call, list | tuple) else (call,)
        name = self._name_of(method)
        self.programs.check_method(name)
        return name, args

    def program(self, method: str, streams: RandomStreams | None = None) -> Callable[..., Any]:
        """The function that runs an API method; for callers that cannot spare the look-up in `execute`.

        .. code-block:: python

            evaluate = executor.program("act", RandomStreams(seed))

        Args:
            method: its name.
            streams: the random streams from which it draws, so that it leaves those of the executor, and of all other
                callers, as they are; such as those of one actor, for its several methods. The plan, variables and
                compiled programs are the executor's own. Default: the executor's streams.

        Raises:
            RLGraphError: there is no such method; names the nearest.
            CapabilityError: the backend cannot run it; or `streams` are given, and it draws inside a loop or branch, or
                values of tensors decide how many numbers it needs.
        """
        return self.programs.of_method(method, streams)

    def numpy_program(self, method: str) -> Callable[..., Any]:
        """An API method on the NumPy backend over this executor's variables: the fast actor for small networks.

        The variables are the backend's own memory where it can be borrowed, else copies that are refreshed after
        every write.

        Raises:
            CapabilityError: the method needs gradients.
        """
        return self.programs.on_numpy(method)

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
        return self.programs.plan(method)

    def _name_of(self, method: str | BoundApiMethod) -> str:
        if isinstance(method, str):
            return method
        if not isinstance(method, BoundApiMethod):
            raise InputError(
                f"expected the name of an API method, or root.method, given {method!r}; several calls are "
                "[(method, *arguments), ...]"
            )
        return self.root.name_of(method) if isinstance(self.root, Roots) else method.name

    # Variables.

    def get_weights(self, *, trainable_only: bool = False) -> dict[str, np.ndarray]:
        """Copies of the tensor variables by scoped name."""
        with self.guarded.groups():
            values = self.storage.read_all()
        if trainable_only:
            return {name: value for name, value in values.items() if self.built.variables[name].trainable}
        return values

    def set_weights(self, values: Mapping[str, Any]) -> None:
        """Write the named variables; others keep their values. Nothing is written if anything does not fit.

        Raises:
            InputError: an unknown name, a wrong shape, or values of another kind.
        """
        arrays = checked_weights(self.built, values)
        with self.guarded.everything():
            self.storage.write_all(arrays)

    def flat_weights(self, methods: Iterable[str]) -> FlatWeights:
        """The tensor variables that these API methods read, as flat arrays that can be read and written quickly."""
        names = frozenset().union(*(self.plan(method).reads for method in methods))
        return FlatWeights(self.guarded, names)

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
        with self.guarded.everything():
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
        self,
        directory: str | Path,
        *,
        facts: Mapping[str, Any] | None = None,
        host: bool = True,
        beside: Mapping[str, np.ndarray] | None = None,
    ) -> Path:
        """Write a checkpoint: variables, random streams and `facts`.

        Args:
            directory: where; an existing checkpoint is replaced only by a complete new one.
            facts: JSON-able things to keep beside them.
            host: host variables (memories) as well; they can be large.
            beside: arrays to keep beside the variables, by name; `rlgraph.core.checkpoint.read_beside` reads them.

        Raises:
            CheckpointError: it cannot be written, or `directory` is something else; what was there is as it was.
        """
        with self.guarded.everything():
            arrays = {"variables": self.storage.read_all()}
            if host:
                arrays["host"] = self.storage.host
            if beside:
                arrays[BESIDE] = dict(beside)
            if states := self.storage.read_tensor_streams():
                arrays[streams_stem(self.backend.name)] = states
            manifest = Manifest(
                facts=dict(facts or {}),
                streams=self.storage.streams.get_state(),
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
            components = {
                path: each
                for path, each in self.built.graph.components.items()
                if f"{path}/".startswith(prefix)
            }
            restoring.check(components)
            with self.guarded.everything():
                if scope is None:
                    restoring.add_streams(self.backend.name, self.guarded.stream_names)
                restoring.write()
                for component in components.values():
                    component.after_load()
                self.guarded.locks.notify_all()
        return dict(checkpoint.manifest.facts)

    def _prefix(self, scope: str | None) -> str:
        """What the names of the variables begin with that a component and all inside it have; None is the root."""
        graph = self.built.graph
        if scope is None or scope == graph.root:
            return ""
        if scope not in graph.components:
            raise InputError(f"there is no component {scope!r}. {nearest(scope, graph.components)}")
        return f"{scope}/"


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
