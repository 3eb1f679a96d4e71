"""The two decorators a component is written with: `rlgraph_api` wires, `graph_fn` computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, overload

from rlgraph.core.errors import AssemblyError
from rlgraph.core.graph.trace import bind_arguments, current_trace


class ApiMethod:
    """An API method of a component class. Calling it during assembly traces its body.

    Attributes:
        function: the decorated function.
        must_be_complete: its arguments must have Spaces before the component's variables are created.
    """

    def __init__(self, function: Callable[..., Any], must_be_complete: bool = True):
        self.function = function
        self.must_be_complete = must_be_complete
        update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        return self if component is None else BoundApiMethod(self, component)

    def __call__(self, component: Any, *args: Any, **kwargs: Any) -> Any:
        """``Class.method(component, ...)``, as with any method."""
        return BoundApiMethod(self, component)(*args, **kwargs)


class BoundApiMethod:
    """``component.method``: callable while assembling, and a name for executors and tests."""

    def __init__(self, method: ApiMethod, component: Any):
        self.method = method
        self.component = component

    @property
    def name(self) -> str:
        return self.method.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = current_trace(f"API method {self.component.scope_path}.{self.name}")
        return trace.call_api(self.component, self.name, self.method.function, args, kwargs)


class GraphFunction:
    """A graph function of a component class: numerics, written once over `ops`.

    Attributes:
        function: ``f(self, ops, *tensors)``; a host function is ``f(self, *arrays)``.
        returns: declared number of outputs.
        host: plain NumPy in, NumPy out; never differentiated.
        spaces: Spaces of the outputs where they cannot be inferred (host and kernel-only functions): a Space, a tuple
            of Spaces, or ``f(self, *input_spaces)`` returning that.
        kernels: backend name -> native implementation with the same arguments.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        returns: int = 1,
        host: bool = False,
        spaces: Any = None,
    ):
        if host and spaces is None:
            raise AssemblyError(
                f"host graph function {function.__qualname__} must declare its outputs: "
                "@graph_fn(host=True, spaces=...)"
            )
        self.function = function
        self.returns = returns
        self.host = host
        self.spaces = spaces
        self.kernels: dict[str, Callable[..., Any]] = {}
        update_wrapper(self, function)  # type: ignore[arg-type]

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def key(self) -> str:
        """The name under which a backend may offer a kernel: ``module:Class.function``."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def kernel(self, backend: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a native implementation for one backend; it takes the same arguments."""

        def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
            self.kernels[backend] = implementation
            return implementation

        return register

    @property
    def tensor_parameters(self) -> list[inspect.Parameter]:
        """The parameters behind ``self`` (and ``ops``)."""
        parameters = list(inspect.signature(self.function).parameters.values())
        return parameters[1:] if self.host else parameters[2:]

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The parameters that are given by name only."""
        return frozenset(p.name for p in self.tensor_parameters if p.kind is p.KEYWORD_ONLY)

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        if component is None:
            return self

        def call(*args: Any, **kwargs: Any) -> Any:
            where = f"{component.scope_path}.{self.name}"
            leading = () if self.host else (None,)
            arguments = bind_arguments(self.function, component, (*leading, *args), kwargs, where)
            if not self.host:
                arguments.pop(next(iter(arguments)))
            trace = current_trace(f"graph function {where}")
            return trace.call_graph_function(component, self.name, arguments, self.returns, self.host)

        return call


@overload
def rlgraph_api(function: Callable[..., Any]) -> Any: ...
@overload
def rlgraph_api(*, must_be_complete: bool = True) -> Callable[[Callable[..., Any]], Any]: ...
def rlgraph_api(function: Callable[..., Any] | None = None, *, must_be_complete: bool = True) -> Any:
    """Make a method an API method: the only door between components. Its body wires and never computes.

    Args:
        function: the method.
        must_be_complete: False lets the component's variables be created before this method's arguments have
            Spaces (for methods that only look at what exists).
    """
    if function is None:
        return lambda decorated: ApiMethod(decorated, must_be_complete)
    return ApiMethod(function, must_be_complete)


@overload
def graph_fn(function: Callable[..., Any]) -> Any: ...
@overload
def graph_fn(
    *, returns: int = 1, host: bool = False, spaces: Any = None
) -> Callable[[Callable[..., Any]], Any]: ...
def graph_fn(
    function: Callable[..., Any] | None = None, *, returns: int = 1, host: bool = False, spaces: Any = None
) -> Any:
    """Make a method a graph function: ``f(self, ops, *tensors)``, the only place where numbers are computed.

    Args:
        function: the method.
        returns: number of outputs; 0 for a function that is called for its writes only.
        host: the function is plain Python, ``f(self, *arrays)`` on NumPy arrays, for work that does not belong into
            a tensor graph. It may draw from ``self.rng`` and write its host variables.
        spaces: the outputs' Spaces, where they cannot be inferred: required for host functions. A Space, a tuple of
            Spaces, or a function ``f(self, *input_spaces)``.
    """
    if function is None:
        return lambda decorated: GraphFunction(decorated, returns, host, spaces)
    return GraphFunction(function, returns, host, spaces)
