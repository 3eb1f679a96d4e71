"""``y[t] = x[t] + d[t] y[t + 1]`` written by hand, several ways through time. Those of NumPy write into `y`.

Log-depth: ``y`` takes in its neighbour at twice the distance each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def numpy_log_depth(y: Any, d: Any) -> Any:
    reach, length = 1, len(y)
    scratch = np.empty_like(y)
    while reach < length:
        rest = length - reach
        y[:rest] += np.multiply(d[:rest], y[reach:], scratch[:rest])
        if 2 * reach < length:
            d = d[: rest - reach] * d[reach:rest]
        reach *= 2
    return y


def torch_log_depth(y: Any, d: Any) -> Any:
    """In the memory of `y`."""
    reach, length = 1, len(y)
    while reach < length:
        rest = length - reach
        y[:rest].add_(d[:rest] * y[reach:])
        if 2 * reach < length:
            d = d[: rest - reach] * d[reach:rest]
        reach *= 2
    return y


def torch_loop(y: Any, d: Any) -> Any:
    """In the memory of `y`."""
    rows, factors = y.unbind(), d.unbind()
    following = rows[-1]
    for row, factor in zip(rows[-2::-1], factors[-2::-1], strict=True):
        following = row.addcmul_(factor, following)
    return y


def tf_log_depth(x: Any, d: Any) -> Any:
    import tensorflow as tf

    y, d, reach, length = x, d[:-1], 1, x.shape[0]
    while reach < length:
        y = tf.concat([y[:-reach] + d * y[reach:], y[-reach:]], 0)
        d = d[:-reach] * d[reach:] if 2 * reach < length else d
        reach *= 2
    return y


def tf_loop(x: Any, d: Any) -> Any:
    import tensorflow as tf

    length = tf.shape(x)[0]

    def step(t: Any, last: Any, y: Any) -> Any:
        last = tf.gather(x, t) + tf.gather(d, t) * last
        return t - 1, last, y.write(t, last)

    y = tf.TensorArray(x.dtype, length, element_shape=x.shape[1:])
    start = (length - 1, tf.zeros_like(x[0]), y)
    return tf.while_loop(lambda t, *_: t >= 0, step, start, maximum_iterations=length)[2].stack()
