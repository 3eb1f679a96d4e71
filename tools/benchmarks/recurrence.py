#!/usr/bin/env python3
"""`ops.linear_recurrence`, the recurrence of returns and advantages, against the same written by hand.

By hand it is log-depth, ``y`` takes in its neighbour at twice the distance each time; under XLA a while loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 1.10
SIZES = ((100, 32), (128, 8), (512, 32))
DISTRIBUTIONS = {
    "numpy": ("rlgraph-core", "numpy"),
    "torch": ("rlgraph-core", "rlgraph-torch", "torch", "numpy"),
    "tf": ("rlgraph-core", "rlgraph-tf", "tensorflow", "numpy"),
}

#: By hand one knows the length, RLgraph's program takes any.
UNEQUAL = "forward, open length"
#: A kind of call -> by hand and RLgraph's; each takes (x [T, B], d [T, B]) as NumPy arrays.
Subjects = Mapping[str, tuple[Callable[[], Any], Callable[[], Any]]]


def main() -> None:
    options = arguments(__doc__, backends=tuple(DISTRIBUTIONS)).parse_args()
    use_one_thread()
    import numpy as np

    rows = []
    rng = np.random.default_rng(0)
    for steps, width in SIZES:
        x = rng.normal(size=(steps, width)).astype(np.float32)
        d = (0.95 * (rng.random((steps, width)) < 0.98)).astype(np.float32)
        subjects = {"numpy": on_numpy, "torch": on_torch, "tf": on_tf}[options.backend](x, d)
        named: dict[str, Callable[[], Any]] = {}
        for kind, (by_hand, ours) in subjects.items():
            for one, other in zip(by_hand(), ours(), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4, err_msg=kind)
            named |= {f"{kind}, by hand": by_hand, f"{kind}, rlgraph": ours}
        figures = interleaved(named)
        for kind in subjects:
            yardstick, figure = figures[f"{kind}, by hand"], figures[f"{kind}, rlgraph"]
            where = f"{steps} x {width}, {kind}"
            rows.append(Row(f"{where}, by hand", yardstick.times(1e6), "us"))
            target = None if kind == UNEQUAL else TARGET
            rows.append(Row(f"{where}, rlgraph", figure.times(1e6), "us", figure.over(yardstick), target))
    report(f"linear recurrence, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


def on_numpy(x: Any, d: Any) -> Subjects:
    import numpy as np

    from rlgraph.core.numpy.ops import NumpyOps

    def by_hand() -> Any:
        y, factors, reach, length = x.copy(), d, 1, len(x)
        scratch = np.empty_like(y)
        while reach < length:
            rest = length - reach
            y[:rest] += np.multiply(factors[:rest], y[reach:], scratch[:rest])
            if 2 * reach < length:
                factors = factors[: rest - reach] * factors[reach:rest]
            reach *= 2
        return (y,)

    return {"forward": (by_hand, lambda: (NumpyOps.linear_recurrence(x, d, reverse=True),))}


def on_torch(x: Any, d: Any) -> Subjects:
    import torch

    from rlgraph.torch.ops import TorchOps

    torch.set_num_threads(1)
    tensors = torch.from_numpy(x), torch.from_numpy(d)
    leaves = tuple(tensor.clone().requires_grad_() for tensor in tensors)

    def by_hand(x: Any, d: Any) -> Any:
        y, reach, length = x.clone(), 1, len(x)
        while reach < length:
            rest = length - reach
            y[:rest].add_(d[:rest] * y[reach:])
            if 2 * reach < length:
                d = d[: rest - reach] * d[reach:rest]
            reach *= 2
        return y

    def recorded(x: Any, d: Any) -> Any:
        y, reach, length = x, 1, len(x)
        while reach < length:
            y = torch.cat([torch.addcmul(y[:-reach], d[: length - reach], y[reach:]), y[-reach:]])
            d = d[: length - 2 * reach] * d[reach : length - reach] if 2 * reach < length else d
            reach *= 2
        return y

    def derived(function: Callable[..., Any]) -> Any:
        y = function(*leaves)
        return (y.detach(), *torch.autograd.grad(y.sum(), leaves))

    ours = partial(TorchOps.linear_recurrence, reverse=True)
    return {
        "forward": (lambda: (by_hand(*tensors),), lambda: (ours(*tensors),)),
        "with derivative": (partial(derived, recorded), partial(derived, ours)),
    }


def on_tf(x: Any, d: Any) -> Subjects:
    import tensorflow as tf

    from rlgraph.tf.calls import numpy_program
    from rlgraph.tf.ops import TfOps

    if not tf.config.threading.get_intra_op_parallelism_threads():
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.config.threading.set_intra_op_parallelism_threads(1)
    ops, compiled_ops = TfOps(), TfOps()
    compiled_ops.compiled = True
    known, unknown = tf.TensorSpec(x.shape, tf.float32), tf.TensorSpec([None, None], tf.float32)

    def log_depth(x: Any, d: Any) -> Any:
        y, d, reach, length = x, d[:-1], 1, x.shape[0]
        while reach < length:
            y = tf.concat([y[:-reach] + d * y[reach:], y[-reach:]], 0)
            d = d[:-reach] * d[reach:] if 2 * reach < length else d
            reach *= 2
        return y

    def loop(x: Any, d: Any) -> Any:
        length = tf.shape(x)[0]

        def step(t: Any, last: Any, y: Any) -> Any:
            last = tf.gather(x, t) + tf.gather(d, t) * last
            return t - 1, last, y.write(t, last)

        y = tf.TensorArray(x.dtype, length, element_shape=x.shape[1:])
        start = (length - 1, tf.zeros_like(x[0]), y)
        return tf.while_loop(lambda t, *_: t >= 0, step, start, maximum_iterations=length)[2].stack()

    def ours(ops: Any) -> Callable[..., Any]:
        return lambda x, d: ops.linear_recurrence(x, d, reverse=True)

    def derived(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: Any, d: Any) -> Any:
            y = function(x, d)
            return (y, *tf.gradients(tf.reduce_sum(y), [x, d]))

        return run

    def program(function: Callable[..., Any], spec: Any, xla: bool) -> Callable[[], Any]:
        traced = tf.function(lambda x, d: tf.nest.flatten(function(x, d)), autograph=False, jit_compile=xla)
        call = numpy_program(traced.get_concrete_function(spec, spec), 2, single_threaded=True)
        return lambda: call(x, d)

    def pair(hand: Any, rlgraph: Any, spec: Any, xla: bool = False) -> Any:
        return program(hand, spec, xla), program(rlgraph, spec, xla)

    return {
        "forward": pair(log_depth, ours(ops), known),
        "forward, open length": (program(log_depth, known, False), program(ours(ops), unknown, False)),
        "with derivative": pair(derived(log_depth), derived(ours(ops)), known),
        "XLA, forward": pair(loop, ours(compiled_ops), unknown, True),
        "XLA, with derivative": pair(derived(loop), derived(ours(compiled_ops)), unknown, True),
    }


if __name__ == "__main__":
    main()
