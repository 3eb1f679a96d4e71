"""Build one component alone from Spaces and try its API methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.core import BoundApiMethod, Component, ExecutionSpec, GraphExecutor, RLGraphError, Variable
from rlgraph.core.errors import nearest
from rlgraph.core.former_names import with_present_names
from rlgraph.spaces import Space
from rlgraph.testing.assertions import assert_nested_close
from rlgraph.testing.batch_checks import check_items


class ComponentTest:
    """A component built alone.

    Args:
        component: the unbuilt component.
        input_spaces: argument name -> Space of its API methods. Methods with an argument that has none are left out.
        action_space: handed to the component's build hooks.
        backend: a backend's name; default: `rlgraph.core.default_backend`.
        seed: root seed of starting values and random streams.
        execution_spec: further fields of `ExecutionSpec`.

    Example:
        >>> from rlgraph.components import Dense
        >>> from rlgraph.spaces import FloatBox
        >>> layer = Dense(units=2, weights_spec=1.0)
        >>> test = ComponentTest(layer, dict(inputs=FloatBox(shape=(3,), add_batch_rank=True)), backend="numpy")
        >>> out = test.test(("call", [[[1.0, 2.0, 3.0]]]), expected_outputs=[[6.0, 6.0]])
        >>> out = test.test(layer.call, [[1.0, 2.0, 3.0]], expected_outputs=[[6.0, 6.0]])
        >>> test.variable_test(layer.biases, [0.0, 0.0])
    """

    def __init__(
        self,
        component: Component,
        input_spaces: Mapping[str, Any],
        *,
        action_space: Space | None = None,
        backend: str | None = None,
        seed: int = 10,
        execution_spec: Mapping[str, Any] | None = None,
    ):
        self.component = component
        self.executor = GraphExecutor(
            component,
            input_spaces,
            action_space=action_space,
            backend=backend,
            execution_spec=ExecutionSpec.from_spec({"seed": seed, **(execution_spec or {})}),
            api_methods=_with_spaces(component, input_spaces),
        )

    def test(
        self,
        call: str | BoundApiMethod | tuple[Any, ...],
        *arguments: Any,
        which: int | str | None = None,
        expected_outputs: Any = None,
        decimals: int = 6,
        fn_test: Callable[[ComponentTest, Any], None] | None = None,
        **misplaced: Any,
    ) -> Any:
        """Run an API method and compare what it returns.

        Args:
            call: an API method (its name or ``component.method``); or a tuple of it, its arguments (a list or tuple of
                positional ones, a dict of named ones, or one that is neither) and, if wanted, `which`.
            arguments: the positional arguments, where `call` is no tuple.
            which: look at this part only of what is returned (position in a tuple, or key).
            expected_outputs: nested numbers or arrays, None for what is not compared.
            decimals: numbers must agree to this many decimals.
            fn_test: called with this object and the outputs.
            misplaced: none; refused with the form in which named arguments are given.

        Returns:
            What the method returned, or the part `which` of it.

        Raises:
            AssertionError: the outputs differ, or have no part `which`; names the place.
        """
        if misplaced:
            name = next(iter(misplaced))
            raise TypeError(
                f"test has no argument {name!r}; named arguments of an API method are given in a tuple with it: "
                f'test(("call", {{{name!r}: ...}}))'
            )
        method, positional, named, which = self._read_call(call, arguments, which)
        outputs = self.executor.execute(method, *positional, **named)
        path = "output"
        if which is not None:
            outputs, path = _part(outputs, which)
        assert_nested_close(outputs, expected_outputs, decimals, path)
        if fn_test is not None:
            fn_test(self, outputs)
        return outputs

    def check_batch(
        self, call: str | BoundApiMethod | tuple[Any, ...], *arguments: Any, decimals: int = 5
    ) -> None:
        """Check that each item of a batch gets the results that it gets alone.

        It finds means over the wrong axis, axes that a reshape mixes, and ``[B]`` beside ``[B, 1]``, which broadcasts
        to ``[B, B]``. The method must not draw random numbers or change variables.

        Args:
            call, arguments: as for `test`, with two or more items.
            decimals: numbers must agree to this many decimals, and to this part of their size.

        Raises:
            AssertionError: the results of an item depend on the others; names the item and the place.
            RLGraphError: no argument or no result has a batch rank of any size, there are fewer than two items, or
                two equal calls differ.
        """
        method, positional, named, _ = self._read_call(call, arguments)
        name = method if isinstance(method, str) else method.name
        parameters = self.executor.built.graph.methods[name].parameters
        if len(positional) > len(parameters):
            raise TypeError(f"{name} has {len(parameters)} arguments, given {len(positional)}")
        given = dict(zip(parameters, positional, strict=False)) | named
        check_items(self.executor, name, given, 1.5 * 10.0**-decimals)

    def _read_call(
        self, call: Any, arguments: tuple[Any, ...], which: int | str | None = None
    ) -> tuple[Any, Any, dict[str, Any], Any]:
        """(method, positional arguments, named arguments, part) of either form of a call."""
        if not isinstance(call, tuple):
            call = (call, arguments)
        elif arguments:
            raise TypeError(f"test: the arguments are given in a tuple and behind it: {call!r}")
        method, positional, named, which = _unpacked(*call, which=which)
        self._check_built(method)
        return method, positional, named, which

    def _check_built(self, method: str | BoundApiMethod) -> None:
        """Raise `RLGraphError` if an API method was left out, for lack of a Space."""
        name = method if isinstance(method, str) else method.name
        built = self.executor.built.graph.methods
        if name not in built and name in self.component.api_methods():
            arguments = [p for p in self.component.api_method(name).signature.parameters if p != "self"]
            raise RLGraphError(
                f"{self.component.scope_path}.{name} was left out of the build: its arguments are "
                f"{', '.join(arguments)}, and input_spaces has not all of them"
            )

    def read_variable_values(self, *variables: str | Variable | Component) -> dict[str, np.ndarray]:
        """Copies of variables by scoped name.

        Args:
            variables: scoped names, variables, or components (for all variables below them); none for all variables.

        Raises:
            KeyError: there is no such variable; names the nearest.
        """
        storage = self.executor.storage
        names = (
            [name for given in variables for name in self._names(given)] if variables else storage.variables
        )
        return {name: storage.read(name) for name in names}

    def variable_test(self, variables: Any, expected: Any = None, decimals: int = 6) -> None:
        """Compare variables.

        Args:
            variables: scoped name -> expected value; or one or a list of what `read_variable_values` takes.
            expected: with the latter, a value, a list of as many values, or a mapping of the scoped names.
            decimals: numbers must agree to this many decimals.

        Raises:
            AssertionError: a value differs.
            KeyError: there is no such variable; names the nearest.
        """
        if isinstance(variables, Mapping):
            variables, expected = list(variables), dict(variables)
        if isinstance(variables, str | Variable | Component):
            values = self.read_variable_values(variables)
            expected = expected if isinstance(expected, Mapping) or len(values) != 1 else [expected]
        else:
            values = self.read_variable_values(*variables)
        if isinstance(expected, Mapping):
            expected = [expected[name] for name in values]
        for (name, value), wanted in zip(values.items(), expected, strict=True):
            assert_nested_close(value, wanted, decimals, path=name)

    def _names(self, given: str | Variable | Component) -> list[str]:
        known = self.executor.storage.variables
        if isinstance(given, Component):
            return sorted(name for component in given.walk() for name in component.declared_variables)
        name = given.name if isinstance(given, Variable) else given
        if name not in known:
            raise KeyError(f"there is no variable {name!r}. {nearest(name, known)}")
        return [name]


def _with_spaces(component: Component, input_spaces: Mapping[str, Any]) -> list[str] | None:
    """The API methods whose arguments have Spaces; None, for all, if a Space would then be that of no argument."""
    wanted, used, input_spaces = [], set[str](), with_present_names(input_spaces)
    for name in component.api_methods().keys() - component.switched_off_apis:
        method = component.api_method(name)
        leading = 1 + method.options.add_auto_key_as_first_param
        parameters = list(method.signature.parameters.values())[leading:]
        keys = [{p.name, f"{name}.{p.name}"} for p in parameters if p.default is not None]
        if all(key & input_spaces.keys() for key in keys):
            wanted.append(name)
            used.update(key for p in parameters for key in (p.name, f"{name}.{p.name}"))
    return wanted if wanted and input_spaces.keys() <= used else None


def _unpacked(call: Any, arguments: Any = (), *rest: Any, which: Any) -> tuple[Any, Any, dict[str, Any], Any]:
    """(method, positional arguments, named arguments, part) of the tuple form of a call."""
    if rest:
        (which,) = rest
    if isinstance(arguments, Mapping):
        return call, (), dict(arguments), which
    return call, arguments if isinstance(arguments, list | tuple) else (arguments,), {}, which


def _part(outputs: Any, which: int | str) -> tuple[Any, str]:
    """The part of `outputs`, and what it is called."""
    path = f"output.{which}" if isinstance(which, str) else f"output[{which}]"
    parts = (
        outputs
        if isinstance(outputs, Mapping)
        else dict(enumerate(outputs))
        if isinstance(outputs, tuple)
        else {}
    )
    if which not in parts:
        has = f"parts {', '.join(map(str, parts))}" if parts else "one part only"
        raise AssertionError(f"{path}: there is no such part, the method returned {has}")
    return parts[which], path
