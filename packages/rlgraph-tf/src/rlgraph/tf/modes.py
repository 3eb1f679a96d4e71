"""Modes that a caller may have switched on in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import tensorflow as tf

from rlgraph.core.errors import RLGraphError

F = TypeVar("F", bound=Callable[..., Any])


def eager_only(function: F) -> F:
    """`function`, called with positional arguments, refused where TensorFlow only records what is computed.

    Raises:
        RLGraphError: the call is inside a `tf.function` or a `tf.Graph`.
    """

    @wraps(function)
    def run(*args: Any) -> Any:
        if not tf.executing_eagerly():
            where = (
                "tf.function, which would run it only while it is traced"
                if tf.inside_function()
                else "tf.Graph"
            )
            raise RLGraphError(
                f"expected a call in eager mode, given one inside a {where}. Call RLgraph outside of it"
            )
        return function(*args)

    return cast("F", run)
