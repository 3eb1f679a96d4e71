"""The members that decorators make of a component's methods: API methods and graph functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property, update_wrapper
from typing import Any

from rlgraph.core.component.options import Declared, Options, check_effects
from rlgraph.core.errors import AssemblyError, nearest
from rlgraph.core.former_names import present_name, with_present_signature
from rlgraph.core.graph.trace import bind_arguments, current_trace


class Member:
    """A decorated method of a component class: an API method or a graph function."""

    kind: str

    def __init__(self, function: Callable[..., Any], options: Options, leading: int):
        options.check(function, leading)
        self.function = with_present_signature(function)
        if not isinstance(options.flatten_ops, bool):
            options = replace(options, flatten_ops={present_name(name) for name in options.flatten_ops})
        self.options = options
        self.name = options.name or function.__name__
        update_wrapper(self, self.function)  # type: ignore[arg-type]

    @cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature."""
        return inspect.signature(self.function)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.options.name or name

    def __str__(self) -> str:
        return f"{self.kind} {self.function.__qualname__}"


class ApiMethod(Member):
    """An API method of a component class. Calling it during assembly traces its body.

    Attributes:
        function: the decorated function; of a graph function, one that calls it.
        must_be_complete: the component's variables are created only when its arguments have Spaces.
        graph_function: the decorated graph function, if any.
    """

    kind = "API method"

    def __init__(
        self, function: Callable[..., Any], options: Options | None = None, must_be_complete: bool = True
    ):
        self.graph_function = function if isinstance(function, GraphFunction) else None
        if self.graph_function is not None:
            self.graph_function.is_of_api_method = True
        body = self.graph_function.as_api() if self.graph_function else function
        super().__init__(body, options or Options(), leading=1)
        self.must_be_complete = must_be_complete

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        if (computed := self.graph_function) is not None:
            computed.name = computed.options.name or f"_{self.name}"
            known = vars(owner).get(computed.name, getattr(owner, computed.name, None))
            # Components refuse to replace anything else; an error here would lose its type.
            if known is None or (isinstance(known, GraphFunction) and computed.name not in vars(owner)):
                setattr(owner, computed.name, computed)

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        return self if component is None else BoundApiMethod(self, component)

    def __call__(self, component: Any, *args: Any, **kwargs: Any) -> Any:
        """``Class.method(component, ...)``, as with any method."""
        return BoundApiMethod(self, component)(*args, **kwargs)

    def kernel(self, backend: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """`GraphFunction.kernel` of the decorated graph function."""
        return self._computed("kernel").kernel(backend)

    def fast_path(self, make: Callable[[Any], Callable[..., bool] | None]) -> Any:
        """`GraphFunction.fast_path` of the decorated graph function."""
        return self._computed("fast_path").fast_path(make)

    def _computed(self, what: str) -> GraphFunction:
        if self.graph_function is None:
            raise AssemblyError(f"{self}: {what} belongs to a graph function")
        return self.graph_function


class BoundApiMethod:
    """``component.method``: callable during assembly, and a name for executors and tests."""

    def __init__(self, method: ApiMethod, component: Any):
        self.method = method
        self.component = component

    @property
    def name(self) -> str:
        return self.method.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = current_trace(f"API method {self.component.scope_path}.{self.name}")
        return trace.call_api(self.component, self.name, self.method, args, kwargs)


class GraphFunction(Member):
    """A graph function of a component class: numerics, written once over `ops`.

    Attributes:
        function: ``f(self, ops, *tensors)``; a host function is ``f(self, *arrays)``.
        returns: declared number of outputs.
        host: plain Python on NumPy arrays; never differentiated.
        spaces: Spaces of the outputs if they cannot be inferred (host and kernel-only functions): a Space, a tuple of
            Spaces, or ``f(self, *input_spaces)`` returning these.
        per_variable: lists of variables are passed variable by variable, not in blocks.
        space_of: the argument whose Space in the present call is passed before the first argument.
        shape_only: whether it reads only shapes of that argument.
        same_ranks: whether batch and time ranks of declared outputs are those of the arguments.
        writes: for a function without a body, the variables that its kernels write: names of attributes that hold
            them, or ``f(self, *input_spaces)`` returning the variables.
        draws: for a function without a body, whether its kernels draw random numbers; or ``f(self, *input_spaces)``.
        shares: for a function without a body, the variables whose memory its outputs may share, in the form of
            `writes`; None: all that it can read. For a host function ``()``: its outputs are new arrays at every call.
        kernels: backend name -> native implementation with the same arguments.
        make_fast: the function declared by `fast_path`.
    """

    kind = "graph function"

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options | None = None,
        host: bool = False,
        spaces: Any = None,
        per_variable: bool = False,
        writes: Declared[Collection[Any]] = (),
        draws: Declared[bool] = False,
        shares: Declared[Collection[Any]] | None = None,
        space_of: str | None = None,
        same_ranks: bool = False,
        shape_only: bool = False,
    ):
        super().__init__(function, options or Options(), leading=1 if host else 2)
        check_effects(function, host or not self.is_empty, writes=writes, draws=draws, shares=shares)
        if host and spaces is None:
            raise AssemblyError(
                f"host graph function {function.__qualname__} must declare its outputs: "
                "@graph_fn(host=True, spaces=...)"
            )
        if not host:
            self._check_takes_ops()
        self.returns = 1 if self.options.returns is None else self.options.returns
        self.host = host
        self.spaces = spaces
        self.per_variable = per_variable
        self.writes = writes
        self.draws = draws
        self.shares = shares
        self.space_of = None if space_of is None else present_name(space_of)
        self.shape_only = shape_only
        #: Whether an API method that only calls it is made of it.
        self.is_of_api_method = False
        self.same_ranks = same_ranks
        self._check_space_of()
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.make_fast: Callable[[Any], Callable[..., bool] | None] | None = None

    def _check_takes_ops(self) -> None:
        second = list(self.signature.parameters.values())[1:2]
        # A leading underscore means unused. *args are reported at the call.
        if not any(p.name == "ops" or p.name.startswith("_") or p.kind is p.VAR_POSITIONAL for p in second):
            raise AssemblyError(
                f"graph function {self.function.__qualname__}{self.signature}: its first parameter after self is "
                "ops, the operations that it computes with: f(self, ops, *tensors)"
            )

    def _check_space_of(self) -> None:
        names = [p.name for p in self.tensor_parameters]
        after = names[self.options.add_auto_key_as_first_param + 1 :]
        if self.space_of is not None and self.space_of not in after:
            raise AssemblyError(
                f"{self.function.__qualname__}: space_of={self.space_of!r} needs an argument of that name, and a "
                f"parameter for its Space ahead of all arguments. {nearest(str(self.space_of), after)}"
            )
        if self.shape_only and self.space_of is None:
            raise AssemblyError(
                f"{self.function.__qualname__}: shape_only=True needs space_of=, the argument"
            )

    @cached_property
    def is_empty(self) -> bool:
        """Whether the body is ``...``."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        empty = (_empty.__code__.co_code, _documented.__code__.co_code)
        return code is not None and code.co_code in empty and code.co_consts[-1] is None

    @property
    def kernels_only(self) -> bool:
        """Whether it has kernels but no body."""
        return self.is_empty and bool(self.kernels)

    @property
    def key(self) -> str:
        """The key of a backend's kernel for it: ``module:Class.function``."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    def kernel(self, backend: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a native implementation for one backend; it takes the same arguments.

        A function with the body ``...`` has only kernels. It declares the `spaces` of its outputs, and its component
        can be built only on these backends. Its kernels may read the component's variables, write those in `writes`,
        and draw if `draws` is set. A batch or time rank of its outputs is that of the first argument with one, unless
        the Space names another.
        """

        def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
            self.kernels[backend] = with_present_signature(implementation)
            return implementation

        return register

    def fast_path(self, make: Callable[[Any], Callable[..., bool] | None]) -> Any:
        """Declare a fast path of a host function without outputs, which runs before the arguments are checked.

        For functions that are called so often that the checks cost as much as their work. If an API method of the root
        only calls this function, its unchecked arguments go to the fast path first.

        Args:
            make: called once per program as ``make(self) -> f``; returns None for no fast path. ``f(*leaves) -> bool``
                gets the leaves of all arguments, in the order of their Spaces, under the lock of the component. It
                must check them itself, and returns whether it did the work. After False the arguments are checked,
                converted, and passed to the function as usual.

        Raises:
            AssemblyError: the function has outputs, or is not a host function.
        """
        if not self.host or self.returns:
            raise AssemblyError(
                f"{self.function.__qualname__}: a fast path is for host functions without outputs: "
                "@graph_fn(host=True, returns=0, spaces=())"
            )
        self.make_fast = make
        return make

    @property
    def tensor_parameters(self) -> list[inspect.Parameter]:
        """The parameters after ``self`` (and ``ops``)."""
        parameters = list(self.signature.parameters.values())
        return parameters[1:] if self.host else parameters[2:]

    @cached_property
    def call_signature(self) -> inspect.Signature:
        """The signature of ``component.function``, as API methods call it."""
        own = self.options.add_auto_key_as_first_param + (self.space_of is not None)
        return self.signature.replace(parameters=self.tensor_parameters[own:])

    def as_api(self) -> Callable[..., Any]:
        """The body of an API method that only calls this function."""

        def call(component: Any, *args: Any, **kwargs: Any) -> Any:
            found = getattr(type(component), self.name, None)
            if found is not self and getattr(found, "is_of_api_method", False):
                raise AssemblyError(
                    f"{component.scope_path}: the {self} cannot be called, the {found} replaces it"
                )
            return getattr(component, self.name)(*args, **kwargs)

        update_wrapper(call, self.function)
        component, taken = next(iter(self.signature.parameters.values())), self.call_signature.parameters
        call.__signature__ = self.signature.replace(  # type: ignore[attr-defined]
            parameters=[component, *taken.values()]
        )
        return call

    @cached_property
    def keywords(self) -> frozenset[str]:
        """The keyword-only parameters."""
        return frozenset(p.name for p in self.tensor_parameters if p.kind is p.KEYWORD_ONLY)

    @cached_property
    def key_parameter(self) -> str | None:
        """The parameter for the flat key of a split call, if any."""
        return self.tensor_parameters[0].name if self.options.add_auto_key_as_first_param else None

    @cached_property
    def space_parameter(self) -> str | None:
        """The parameter for the Space of the argument `space_of`, if any."""
        position = int(self.options.add_auto_key_as_first_param)
        return None if self.space_of is None else self.tensor_parameters[position].name

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        if component is None:
            return self

        def call(*args: Any, **kwargs: Any) -> Any:
            where = f"{component.scope_path}.{self.name}"
            trace = current_trace(f"graph function {where}")
            if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in self.tensor_parameters):
                raise AssemblyError(
                    f"{where}: a graph function takes no *args or **kwargs: each tensor has a name; several of a kind "
                    "come as one tuple"
                )
            options = self.options
            leading = (not self.host) + options.add_auto_key_as_first_param + (self.space_of is not None)
            arguments = bind_arguments(self.signature, component, (*[None] * leading, *args), kwargs, where)
            for name in list(arguments)[:leading]:
                arguments.pop(name)
            for name in reversed(list(arguments)):
                # Omitted arguments with the default None are not in the plan: Python fills them in.
                if arguments[name] is not None or self.signature.parameters[name].default is not None:
                    break
                arguments.pop(name)
            flat = [name for name in arguments if options.split_ops and options.flattens(name)]
            return trace.call_graph_function(component, self.name, arguments, self.returns, self.host, flat)

        call.__signature__ = self.call_signature  # type: ignore[attr-defined]
        return call


def _empty() -> None: ...


def _documented() -> None:
    """A function without a body."""
