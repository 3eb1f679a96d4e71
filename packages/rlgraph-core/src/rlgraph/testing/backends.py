"""One test on every installed backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.core import PluginError, find_backend, registry


def installed_backends(*capabilities: str) -> list[str]:
    """Names of the installed backends that declare all of `capabilities`, sorted.

    A plug-in that cannot be loaded counts as one that declares them: its own tests shall fail, not those that ask.
    """
    return [name for name in registry("rlgraph.backends").names() if _declares(name, capabilities)]


def _declares(name: str, capabilities: tuple[str, ...]) -> bool:
    try:
        return find_backend(name).capabilities.issuperset(capabilities)
    except PluginError:
        return True


def on_all_backends(*capabilities: str) -> Callable[[Callable[..., Any]], Any]:
    """Run the decorated pytest function once per installed backend, named by its argument ``backend``.

    Args:
        capabilities: leave out backends that do not declare these.

    Example:
        >>> from rlgraph.components import Dense
        >>> from rlgraph.spaces import FloatBox
        >>> from rlgraph.testing import ComponentTest
        >>> @on_all_backends()
        ... def test_dense(backend):
        ...     inputs = FloatBox(shape=(2,), add_batch_rank=True)
        ...     test = ComponentTest(Dense(1, weights_spec=1.0), {"inputs": inputs}, backend=backend)
        ...     test.test("call", [[1.0, 2.0]], expected_outputs=[[3.0]])
    """
    import pytest

    return pytest.mark.parametrize("backend", installed_backends(*capabilities))
