"""`ops.linear_recurrence`, the recurrence of returns and advantages, against the same written by hand.

By hand it is log-depth (`by_hand.recurrences`), under XLA a while loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from by_hand.recurrences import numpy_log_depth, tf_log_depth, tf_loop, torch_log_depth
from measure import DISTRIBUTIONS, arguments, compared, interleaved, report

TARGET = 1.10
SIZES = ((100, 32), (128, 8), (512, 32))

#: By hand one knows the length, RLgraph's program takes any.
UNEQUAL = "forward, open length"
#: A kind of call -> by hand and RLgraph's; each takes (x [T, B], d [T, B]) as NumPy arrays.
Subjects = Mapping[str, tuple[Callable[[], Any], Callable[[], Any]]]


def main() -> None:
    options = arguments(__doc__, backends=tuple(DISTRIBUTIONS)).parse_args()
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
            sides = {side: figures[f"{kind}, {side}"] for side in ("by hand", "rlgraph")}
            target = None if kind == UNEQUAL else TARGET
            rows += compared(sides, "by hand", "us", 1e6, target, f"{steps} x {width}, {kind}, ")
    report("linear recurrence", rows, options)


def on_numpy(x: Any, d: Any) -> Subjects:
    from rlgraph.core.numpy.ops import NumpyOps

    by_hand, ours = numpy_log_depth, partial(NumpyOps.linear_recurrence, reverse=True)
    return {"forward": (lambda: (by_hand(x.copy(), d),), lambda: (ours(x, d),))}


def on_torch(x: Any, d: Any) -> Subjects:
    import torch

    from rlgraph.torch.ops import TorchOps

    torch.set_num_threads(1)
    tensors = torch.from_numpy(x), torch.from_numpy(d)
    leaves = tuple(tensor.clone().requires_grad_() for tensor in tensors)

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
        "forward": (
            lambda: (torch_log_depth(tensors[0].clone(), tensors[1]),),
            lambda: (ours(*tensors),),
        ),
        "with derivative": (partial(derived, recorded), partial(derived, ours)),
    }


def on_tf(x: Any, d: Any) -> Subjects:
    import by_hand.flat_tf  # noqa: F401  (it sets TensorFlow's threads, which has to come first)
    import tensorflow as tf

    from rlgraph.tf.calls import numpy_program
    from rlgraph.tf.ops import TfOps

    ops, compiled_ops = TfOps(), TfOps()
    compiled_ops.compiled = True
    known, unknown = tf.TensorSpec(x.shape, tf.float32), tf.TensorSpec([None, None], tf.float32)

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
        "forward": pair(tf_log_depth, ours(ops), known),
        "forward, open length": (program(tf_log_depth, known, False), program(ours(ops), unknown, False)),
        "with derivative": pair(derived(tf_log_depth), derived(ours(ops)), known),
        "XLA, forward": pair(tf_loop, ours(compiled_ops), unknown, True),
        "XLA, with derivative": pair(derived(tf_loop), derived(ours(compiled_ops)), unknown, True),
    }
