"""Build one component alone from Spaces and try its API methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.core import BoundApiMethod, Component, ExecutionSpec, GraphExecutor
from rlgraph.spaces import Space
from rlgraph.testing.assertions import assert_nested_close


class ComponentTest:
    """A component built alone.

    Args:
        component: the unbuilt component.
        input_spaces: argument name -> Space of its API methods.
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
        )

    def test(
        self,
        call: str | BoundApiMethod | tuple[Any, Any],
        *,
        expected_outputs: Any = None,
        decimals: int = 6,
        fn_test: Callable[[ComponentTest, Any], None] | None = None,
    ) -> Any:
        """Run an API method and compare what it returns.

        Args:
            call: an API method (name or ``component.method``), or a pair of it and its arguments (a list or tuple of
                positional arguments, or a dict of named ones).
            expected_outputs: nested numbers or arrays; None: nothing is compared.
            decimals: numbers must agree to this many decimals.
            fn_test: called with this object and the outputs.

        Returns:
            What the method returned.

        Raises:
            AssertionError: the outputs differ; names the place.
        """
        method, arguments = call if isinstance(call, tuple) else (call, ())
        if isinstance(arguments, Mapping):
            outputs = self.executor.execute(method, **arguments)
        else:
            outputs = self.executor.execute(method, *arguments)
        if expected_outputs is not None:
            assert_nested_close(outputs, expected_outputs, decimals)
        if fn_test is not None:
            fn_test(self, outputs)
        return outputs

    def read_variable_values(self, *names: str) -> dict[str, np.ndarray]:
        """Copies of the named variables (scoped names; all of them without a name)."""
        storage = self.executor.storage
        return {name: storage.read(name) for name in names or storage.variables}

    def variable_test(self, expected: Mapping[str, Any], decimals: int = 6) -> None:
        """Compare variables by scoped name.

        Raises:
            AssertionError: a value differs.
        """
        for name, value in expected.items():
            assert_nested_close(self.executor.storage.read(name), value, decimals, path=name)
