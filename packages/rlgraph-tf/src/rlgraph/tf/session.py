"""Sessions: API methods in a `tf.Graph`, run in this process or on a server of a cluster."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Self

import numpy as np
import tensorflow as tf

from rlgraph.core import GraphExecutor
from rlgraph.core.errors import CapabilityError, RLGraphError, nearest
from rlgraph.core.graph import link
from rlgraph.core.graph.nodes import GraphFunctionCall, Path, label, outputs_of
from rlgraph.core.graph.passes.segments import make_segment
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.values import as_tensors, leaves, map_leaves
from rlgraph.core.ops.nest import leaves_of, map_nested
from rlgraph.core.random_streams import stream_seed
from rlgraph.core.runtime.input_conversion import converter
from rlgraph.core.runtime.weights import checked_weights
from rlgraph.core.storage import Storage
from rlgraph.tf.backend import TfBackend
from rlgraph.tf.profiling import write_trace
from rlgraph.tf.random import Stream
from rlgraph.tf.regions import open_shape

v1 = tf.compat.v1


class SessionStorage(Storage):
    """Variables of a graph, read and written by its session. Host variables and streams stay in `owner`.

    Args:
        owner: the storage that provides the initial values.
    """

    def __init__(self, owner: Storage):
        super().__init__(owner.layout, owner.variables, owner.seed)
        self.host, self.streams = owner.host, owner.streams
        self.groups: dict[str, tf.Variable] = {}
        self.graph_streams: dict[str, Stream] = {}
        self.session: Any = None
        self._reads: dict[str, Any] = {}
        self._writes: dict[str, tuple[Any, Any]] = {}
        self._stream_writes: dict[str, tuple[Any, Any]] = {}

    def create_group(self, name: str, values: np.ndarray) -> None:
        label = re.sub(r"\W", "_", name)
        variable = tf.Variable(tf.zeros(values.shape, values.dtype), name=label)
        given = v1.placeholder(values.dtype, values.shape)
        self.groups[name] = variable
        self._reads[name] = variable.read_value()
        self._writes[name] = (v1.assign(variable, given).op, given)

    def tensor_stream(self, name: str) -> Stream:
        return self.graph_streams[name]

    def create_stream(self, name: str) -> None:
        """Create a random stream, before tracing operations that draw from it."""
        stream = Stream(stream_seed(self.seed, name), re.sub(r"\W", "_", name))
        given = v1.placeholder(stream.state.dtype, stream.state.shape)
        self.graph_streams[name] = stream
        self._stream_writes[name] = (v1.assign(stream.state, given).op, given)

    def write_tensor_streams(self, states: Mapping[str, np.ndarray]) -> None:
        for name, (write, given) in self._stream_writes.items():
            self.session.run(write, {given: states[name]})

    def read_group(self, name: str) -> np.ndarray:
        return np.array(self.session.run(self._reads[name]))

    def write_group(self, name: str, values: np.ndarray) -> None:
        write, given = self._writes[name]
        self.session.run(write, {given: values})


class SessionProgram:
    """API methods in their own graph; a context manager that closes the session.

    Args:
        executor: builds the plans and provides the initial values.
        methods: names of API methods.
        target: address of the server; empty for this process.
        device: the device of the whole graph.
        initialize: initialize the variables.

    Attributes:
        graph: the `tf.Graph`.
        session: the session that runs it.
    """

    def __init__(
        self, executor: GraphExecutor, methods: Sequence[str], target: str, device: Any, initialize: bool
    ):
        self.executor = executor
        self.graph = tf.Graph()
        self.storage = SessionStorage(executor.storage)
        self._functions: dict[str, Any] = {}
        self._calls: dict[str, tuple[list[Any], list[Any]]] = {}
        self._programs: dict[str, Callable[..., Any]] = {}
        self._tracing: list[dict[str, Any]] | None = None
        self._writing = threading.RLock()
        plans = {name: _in_one_segment(executor.plan(name)) for name in methods}
        with self.graph.as_default(), tf.device(device):
            for name, group in executor.built.layout.groups.items():
                self.storage.create_group(name, np.empty(group.size, group.dtype))
            for name in {name for plan in plans.values() for name in plan.draws}:
                self.storage.create_stream(name)
            for name, plan in plans.items():
                executor.backend.require(plan)
                self._calls[name] = self._trace(plan)
            initializer = v1.global_variables_initializer()
        self.session = self.storage.session = v1.Session(target, self.graph, _configuration(executor))
        if initialize:
            self.session.run(initializer)
            for name in executor.built.layout.groups:
                self.storage.write_group(name, executor.storage.read_group(name))
            self.storage.write_tensor_streams(executor.storage.read_tensor_streams())
        for name, plan in plans.items():
            self._programs[name] = self._link(plan)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the session; on a server the variables stay."""
        self.session.close()

    def run(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Run an API method; as `GraphExecutor.execute`.

        Raises:
            RLGraphError: unknown method; names the nearest.
            InputError: an argument does not fit its Space.
        """
        if method not in self._programs:
            raise RLGraphError(f"the graph has no API method {method!r}. {nearest(method, self._programs)}")
        return self._programs[method](*args, **kwargs)

    def get_weights(self) -> dict[str, np.ndarray]:
        """Copies of the graph's variables by scoped name."""
        with self._writing:
            return self.storage.read_all()

    def set_weights(self, values: Mapping[str, Any]) -> None:
        """Write the named variables of the graph; as `GraphExecutor.set_weights`.

        Raises:
            InputError: an unknown name, a wrong shape, or values of another kind; nothing is written.
        """
        arrays = checked_weights(self.executor.built, values)
        with self._writing:
            self.storage.write_all(arrays)

    @contextmanager
    def profile(self, path: str | FilePath) -> Iterator[None]:
        """Record the operations of all runs inside a ``with`` block as a Chrome trace, on all devices."""
        self._tracing = []
        try:
            yield
            write_trace(FilePath(path), self._tracing)
        finally:
            self._tracing = None

    def function_graph(self, method: str) -> Any:
        """The graph that computes an API method."""
        return self._functions[method].graph

    # Construction.

    def _trace(self, plan: Plan) -> tuple[list[Any], list[Any]]:
        """(placeholders, outputs) of a plan; the last output is there for the effects."""
        (segment,) = plan.segments
        backend = self.executor.backend
        assert isinstance(backend, TfBackend)
        host = partial(self._host_call, plan)
        function = backend.traceable(plan, segment, self.storage.groups, self.storage.tensor_stream, host)

        def traced(*tensors: tf.Tensor) -> tuple[tf.Tensor, ...]:
            return (*function(*tensors), tf.constant(True))

        placeholders = [v1.placeholder(spec.dtype, open_shape(spec)) for _, spec in segment.inputs]
        # A function keeps the order of reads, writes and host calls; a plain graph does not.
        concrete = tf.function(traced, autograph=False).get_concrete_function(*placeholders)
        self._functions[plan.name] = concrete
        return placeholders, list(concrete(*placeholders))

    def _link(self, plan: Plan) -> Callable[..., Any]:
        placeholders, outputs = self._calls[plan.name]
        run = self.session.make_callable(outputs, placeholders, accept_options=True)

        def compute(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            *values, _ = run(*arrays) if self._tracing is None else self._run_traced(run, arrays)
            return tuple(map(np.asarray, values))

        def guard(_step: Any) -> Any:
            return self._writing if plan.writes or plan.draws else None

        return link(plan, lambda _segment: compute, self.executor.guarded.host_view, converter, guard)

    def _run_traced(self, run: Callable[..., Any], arrays: Sequence[np.ndarray]) -> Any:
        from tensorflow.python.client.timeline import Timeline

        options, metadata = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), v1.RunMetadata()
        results = run(*arrays, options=options, run_metadata=metadata)
        trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())
        if self._tracing is not None:
            self._tracing.extend(map(_named, trace["traceEvents"]))
        return results

    # Host functions.

    def _host_call(self, plan: Plan, node: GraphFunctionCall) -> Callable[..., Any]:
        """An operation that calls a host function from the graph."""
        executor, values = (
            self.executor,
            [as_tensors(plan.built.values[output]) for output in outputs_of(node)],
        )
        found = [(i, path, spec) for i, value in enumerate(values) for path, spec in leaves(value)]
        host_function = plan.built.graph.components[node.component].graph_function(node.function)
        function = partial(host_function.function, executor.guarded.host_view(node.component))
        lock = executor.guarded.host_functions(node.component)

        def call(*args: Any, **kwargs: Any) -> Any:
            tensors = [leaf for leaf in leaves_of((args, kwargs)) if tf.is_tensor(leaf)]

            def on_host(*arrays: np.ndarray) -> list[np.ndarray]:
                remaining = iter(arrays)
                given, named = map_nested(
                    lambda leaf: next(remaining) if tf.is_tensor(leaf) else leaf, (args, kwargs)
                )
                with lock:
                    result = function(*given, **named)
                    results = result if len(values) > 1 else (result,)
                    # Copies: TensorFlow would keep the memory, and the function may use it again.
                    return [np.array(_part(results[i], path), spec.dtype) for i, path, spec in found]

            dtypes = [spec.dtype for _, _, spec in found]
            made = iter(_as_list(tf.numpy_function(on_host, tensors, dtypes)))

            def shaped(spec: Any) -> tf.Tensor:
                return tf.ensure_shape(next(made), open_shape(spec))

            results = tuple(map_leaves(shaped, value) for value in values)
            return results[0] if len(results) == 1 else results

        return call


def _named(event: dict[str, Any]) -> dict[str, Any]:
    """A timeline event named after the operation, without its enclosing call, instead of its type."""
    name = re.sub(r"^StatefulPartitionedCall(_\d+)?/", "", str(event.get("args", {}).get("name", "")))
    return {**event, "name": name, "cat": event["name"]} if name and event["ph"] == "X" else event


def _part(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _as_list(result: Any) -> list[Any]:
    if isinstance(result, tf.Operation):
        return []
    return list(result) if isinstance(result, list | tuple) else [result]


def _in_one_segment(plan: Plan) -> Plan:
    if plan.collectives:
        raise CapabilityError(
            f"API method {plan.name!r} has no session: {label(plan.collectives[0])}(...) waits for other "
            "learners between segments. Build without a group"
        )
    segment: Segment = make_segment(plan.built, "segment_0", plan.nodes, (), plan.results)
    return replace(plan, steps=(segment,))


def _configuration(executor: GraphExecutor) -> Any:
    threads = executor.execution.threads or 0
    configuration = v1.ConfigProto(
        allow_soft_placement=True, inter_op_parallelism_threads=threads, intra_op_parallelism_threads=threads
    )
    configuration.gpu_options.allow_growth = True
    return configuration
