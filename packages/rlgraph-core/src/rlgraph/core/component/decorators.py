"""The decorators of a component's methods: `rlgraph_api` for wiring, `graph_fn` for computations."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, overload

from rlgraph.core.component.members import ApiMethod, GraphFunction, Member
from rlgraph.core.component.options import Declared, Options


@overload
def rlgraph_api(function: Callable[..., Any]) -> Any: ...
@overload
def rlgraph_api(
    *,
    must_be_complete: bool = True,
    returns: int | None = None,
    name: str | None = None,
    component: Any = None,
    flatten_ops: bool | Collection[str] = False,
    split_ops: bool = False,
    add_auto_key_as_first_param: bool = False,
    requires_variable_completeness: bool = False,
    ok_to_overwrite: bool = False,
) -> Callable[[Callable[..., Any]], Any]: ...
def rlgraph_api(
    function: Callable[..., Any] | None = None,
    *,
    must_be_complete: bool = True,
    component: Any = None,
    **options: Any,
) -> Any:
    """Make a method an API method, which other components call. Its body connects calls and never computes.

    Of a graph function it makes an API method that only calls it. The graph function `f` is then called `_f`.

    Args:
        function: the method, or a graph function.
        must_be_complete: if False, the component's variables can be created before this method's arguments have Spaces
            (for methods that only read existing variables).
        returns: the number of values it returns; checked at assembly. Default: not checked.
        name: its name; default: the function's.
        component: add the method to this instance instead of to a class; for use in its ``__init__``.
        flatten_ops, split_ops, add_auto_key_as_first_param: as in `graph_fn`, for dict and tuple literals and for
            arguments of the root; whether a graph function returns a container is known only at the build.
        requires_variable_completeness: its graph functions wait until the component and all below have their
            variables.
        ok_to_overwrite: with `component=` or `name=`: it may replace an API method of the same name. Methods of
            sub-classes may always override those of base classes.
    """

    def decorate(decorated: Callable[..., Any]) -> Any:
        return _placed(ApiMethod(decorated, Options(**options), must_be_complete), component)

    return decorate if function is None else decorate(function)


@overload
def graph_fn(function: Callable[..., Any]) -> Any: ...
@overload
def graph_fn(
    *,
    returns: int = 1,
    host: bool = False,
    spaces: Any = None,
    per_variable: bool = False,
    writes: Declared[Collection[Any]] = (),
    draws: Declared[bool] = False,
    shares: Declared[Collection[Any]] | None = None,
    space_of: str | None = None,
    same_ranks: bool = False,
    shape_only: bool = False,
    name: str | None = None,
    component: Any = None,
    flatten_ops: bool | Collection[str] = False,
    split_ops: bool = False,
    add_auto_key_as_first_param: bool = False,
    requires_variable_completeness: bool = False,
    ok_to_overwrite: bool = False,
) -> Callable[[Callable[..., Any]], Any]: ...
def graph_fn(
    function: Callable[..., Any] | None = None,
    *,
    host: bool = False,
    spaces: Any = None,
    per_variable: bool = False,
    writes: Declared[Collection[Any]] = (),
    draws: Declared[bool] = False,
    shares: Declared[Collection[Any]] | None = None,
    space_of: str | None = None,
    same_ranks: bool = False,
    shape_only: bool = False,
    component: Any = None,
    **options: Any,
) -> Any:
    """Make a method a graph function, ``f(self, ops, *tensors)``, which computes with tensors.

    Args:
        function: the method.
        returns: number of outputs; 0 for a function that only writes. Default: 1.
        host: the function is plain Python, ``f(self, *arrays)`` on NumPy arrays, for work outside the tensor graph. It
            may draw from ``self.rng`` and write host variables. One host function per component runs at a time; to
            wait for another one it calls ``self.condition.wait_for(...)``, which lets others run meanwhile.
            ``self.use_kernels`` is the option of the execution spec.
        spaces: Spaces of the outputs; required for host functions and functions with only kernels. A Space, a tuple of
            Spaces, or a function ``f(self, *input_spaces)``. In a tuple, a dict or tuple of Spaces is one output that
            is a container; their ranks may differ. A host function that takes and returns derivatives, as one flat
            array, declares ``lambda self, gradients: gradients``.
        per_variable: lists of variables are passed variable by variable, each in its own shape, not in flat blocks.
        writes: for a function without a body, the variables that its kernels write: names of attributes that hold them
            (a variable, or a list or dict of variables), or a function ``f(self, *input_spaces)`` returning the
            variables. The writes of a body are inferred.
        draws: for a function without a body, whether its kernels draw random numbers, with ``ops`` or from
            ``ops.stream``; or a function ``f(self, *input_spaces)`` returning that.
        shares: for a function without a body, the variables whose memory its outputs may share, in the form of
            `writes`; None: all that it can read. Outputs are copied if a later write could change them. For a host
            function ``()``: its outputs are new arrays at every call, so they need not be copied.
        space_of: the name of an argument: its Space in the present call is passed before the first argument (after the
            path of a split call; it is then the Space of the leaf). Calls may differ in batch and time ranks, and only
            the Space tells which axis is time. It has no elementwise bounds.
        same_ranks: a host function's outputs have as many rows as its inputs, so they can be used with other values
            of the same batch. Without it their number of rows is unknown.
        shape_only: with `space_of`: of that argument the function reads shapes only. Where all sizes are fixed, its
            leaves are objects with nothing but ``shape`` and ``ndim``, and a host function that needs no other value
            runs before the program.
        name: its name; default: the function's.
        component: add the function to this instance instead of to a class; for use in its ``__init__``.
        flatten_ops: True, or names of arguments: a container is passed as a dict of its leaves by path
            (``{"a/b": ..., "c": ...}``, a single tensor as ``{"": ...}``). A returned dict with such keys is nested
            again.
        split_ops: with `flatten_ops`: the function is called once per path, and each of its outputs is merged into
            a container of that structure. Arguments that are not containers are passed to every call.
        add_auto_key_as_first_param: with `split_ops`: the path comes before the first argument.
        requires_variable_completeness: it waits until the component and all below have their variables.
        ok_to_overwrite: as in `rlgraph_api`.

    Raises:
        AssemblyError: its first parameter after ``self`` is not ``ops``, or an option is invalid.
    """

    def decorate(decorated: Callable[..., Any]) -> Any:
        function = GraphFunction(
            decorated,
            Options(**options),
            host,
            spaces,
            per_variable,
            writes,
            draws,
            shares,
            space_of,
            same_ranks,
            shape_only,
        )
        return _placed(function, component)

    return decorate if function is None else decorate(function)


def _placed(member: Member, component: Any) -> Any:
    """The member for a class body, or the attribute of a single component."""
    if component is None:
        return member
    component.add_member(member)
    return getattr(component, member.name)
