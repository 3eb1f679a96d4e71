#!/usr/bin/env python3
"""V-trace and generalized advantage estimation against the same written by hand.

By hand there are several ways through time: log-depth, a loop, under XLA a while loop. The fastest is the yardstick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from measure import Row, arguments, interleaved, report, use_one_thread

TARGET = 1.10
SIZES = ((100, 32), (2048, 8))
DISCOUNT, LAMBDA = 0.99, 0.95
DISTRIBUTIONS = {
    "numpy": ("rlgraph-core", "numpy"),
    "torch": ("rlgraph-core", "rlgraph-torch", "torch", "numpy"),
    "tf": ("rlgraph-core", "rlgraph-tf", "tensorflow", "numpy"),
}

#: What is computed, and the way it is run -> by name the ways through time by hand, and "rlgraph".
Subjects = Mapping[str, Mapping[str, Callable[[], Any]]]


def main() -> None:
    options = arguments(__doc__, backends=tuple(DISTRIBUTIONS)).parse_args()
    use_one_thread()
    import numpy as np

    rows = []
    for steps, width in SIZES:
        arrays = trajectories(steps, width)
        subjects = {"numpy": on_numpy, "torch": on_torch, "tf": on_tf}[options.backend](*arrays)
        for what, ways in subjects.items():
            expected = ways["rlgraph"]()
            for way, call in ways.items():
                for given, one in zip(call(), expected, strict=True):
                    np.testing.assert_allclose(given, one, rtol=1e-3, atol=1e-3, err_msg=f"{what}, {way}")
            figures = interleaved(ways)
            by_hand = {way: figure for way, figure in figures.items() if way != "rlgraph"}
            best = min(by_hand.values(), key=lambda figure: figure.median)
            where = f"{what}, {steps} x {width}"
            rows += [
                Row(f"{where}, by hand, {way}", figure.times(1e6), "us") for way, figure in by_hand.items()
            ]
            figure = figures["rlgraph"]
            rows.append(Row(f"{where}, rlgraph", figure.times(1e6), "us", figure.over(best), TARGET))
    report(f"value estimation, {options.backend}", rows, DISTRIBUTIONS[options.backend], options.json)


def trajectories(steps: int, width: int) -> tuple[Any, Any]:
    """Arguments of V-trace and of GAE, by name: ``[T, B]``, and values behind the last step ``[B]``."""
    import numpy as np

    rng = np.random.default_rng(0)
    rewards, values, logarithms = rng.normal(size=(3, steps, width)).astype(np.float32)
    terminated = rng.random((steps, width)) < 0.02
    common = {"rewards": rewards, "values": values, "behind": rng.normal(size=width).astype(np.float32)}
    discounts = (DISCOUNT * ~terminated).astype(np.float32)
    ratios = np.exp(0.3 * logarithms)
    return {**common, "ratios": ratios, "discounts": discounts}, {**common, "terminated": terminated}


def rlgraph_v_trace(
    ops: Any, rewards: Any, values: Any, behind: Any, ratios: Any, discounts: Any
) -> tuple[Any, ...]:
    from rlgraph.core.functional.off_policy import v_trace
    from rlgraph.core.functional.sequences import values_of_next_states

    next_values = values_of_next_states(ops, values, behind)
    return v_trace(ops, ratios, discounts, rewards, values, next_values)


def rlgraph_gae(ops: Any, rewards: Any, values: Any, behind: Any, terminated: Any) -> tuple[Any, ...]:
    from rlgraph.core.functional.returns import generalized_advantage_estimation
    from rlgraph.core.functional.sequences import values_of_next_states

    next_values = values_of_next_states(ops, values, behind)
    return (
        generalized_advantage_estimation(ops, rewards, values, next_values, terminated, DISCOUNT, LAMBDA),
    )


def both(
    v_trace: Mapping[str, Callable[..., Any]], gae: Mapping[str, Callable[..., Any]], arrays: Any, run: Any
) -> Subjects:
    return {
        what: {way: run(function, named) for way, function in ways.items()}
        for what, ways, named in (("V-trace", v_trace, arrays[0]), ("GAE", gae, arrays[1]))
    }


def on_numpy(*arrays: Any) -> Subjects:
    import numpy as np

    from rlgraph.core.numpy.ops import NumpyOps

    def log_depth(y: Any, factors: Any) -> Any:
        reach, length = 1, len(y)
        scratch = np.empty_like(y)
        while reach < length:
            rest = length - reach
            y[:rest] += np.multiply(factors[:rest], y[reach:], scratch[:rest])
            if 2 * reach < length:
                factors = factors[: rest - reach] * factors[reach:rest]
            reach *= 2
        return y

    def v_trace(rewards: Any, values: Any, behind: Any, ratios: Any, discounts: Any) -> Any:
        errors = np.empty_like(values)
        errors[:-1], errors[-1] = values[1:], behind
        errors *= discounts
        errors += rewards
        errors -= values
        clipped = np.minimum(ratios, 1.0)
        corrections = log_depth(clipped * errors, discounts * clipped)
        errors[:-1] += discounts[:-1] * corrections[1:]
        errors *= clipped
        return corrections + values, errors

    def gae(rewards: Any, values: Any, behind: Any, terminated: Any) -> Any:
        discounts = np.where(terminated, np.float32(0.0), np.float32(DISCOUNT))
        errors = np.empty_like(values)
        errors[:-1], errors[-1] = values[1:], behind
        errors *= discounts
        errors += rewards
        errors -= values
        discounts *= LAMBDA
        return (log_depth(errors, discounts),)

    def run(function: Callable[..., Any], named: Any) -> Callable[[], Any]:
        return lambda: function(**named)

    ops = NumpyOps("float32")
    return both(
        {"log-depth": v_trace, "rlgraph": partial(rlgraph_v_trace, ops)},
        {"log-depth": gae, "rlgraph": partial(rlgraph_gae, ops)},
        arrays,
        run,
    )


def on_torch(*arrays: Any) -> Subjects:
    import torch

    from rlgraph.torch.ops import TorchOps

    torch.set_num_threads(1)

    def log_depth(y: Any, d: Any) -> Any:
        reach, length = 1, len(y)
        while reach < length:
            rest = length - reach
            y[:rest].add_(d[:rest] * y[reach:])
            if 2 * reach < length:
                d = d[: rest - reach] * d[reach:rest]
            reach *= 2
        return y

    def loop(y: Any, d: Any) -> Any:
        rows, factors = y.unbind(), d.unbind()
        following = rows[-1]
        for row, factor in zip(rows[-2::-1], factors[-2::-1], strict=True):
            following = row.addcmul_(factor, following)
        return y

    def v_trace(recurrence: Any, rewards: Any, values: Any, behind: Any, ratios: Any, discounts: Any) -> Any:
        errors = torch.cat([values[1:], behind[None]]).mul_(discounts).add_(rewards).sub_(values)
        clipped = ratios.clamp(max=1.0)
        corrections = recurrence(clipped * errors, discounts * clipped)
        errors[:-1].addcmul_(discounts[:-1], corrections[1:])
        return corrections + values, errors.mul_(clipped)

    def gae(recurrence: Any, rewards: Any, values: Any, behind: Any, terminated: Any) -> Any:
        discounts = torch.where(terminated, 0.0, DISCOUNT)
        errors = torch.cat([values[1:], behind[None]]).mul_(discounts).add_(rewards).sub_(values)
        return (recurrence(errors, discounts.mul_(LAMBDA)),)

    def run(function: Callable[..., Any], named: Any) -> Callable[[], Any]:
        tensors = {name: torch.from_numpy(array) for name, array in named.items()}

        def call() -> Any:
            torch.set_grad_enabled(False)
            return function(**tensors)

        return call

    ops = TorchOps()
    ways = {"log-depth": log_depth, "loop": loop}
    return both(
        {
            **{way: partial(v_trace, one) for way, one in ways.items()},
            "rlgraph": partial(rlgraph_v_trace, ops),
        },
        {**{way: partial(gae, one) for way, one in ways.items()}, "rlgraph": partial(rlgraph_gae, ops)},
        arrays,
        run,
    )


def on_tf(*arrays: Any) -> Subjects:
    import tensorflow as tf

    from rlgraph.tf.calls import numpy_program
    from rlgraph.tf.ops import TfOps

    if not tf.config.threading.get_intra_op_parallelism_threads():
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.config.threading.set_intra_op_parallelism_threads(1)

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

    def v_trace(recurrence: Any, rewards: Any, values: Any, behind: Any, ratios: Any, discounts: Any) -> Any:
        errors = rewards + discounts * tf.concat([values[1:], behind[None]], 0) - values
        clipped = tf.minimum(ratios, 1.0)
        corrections = recurrence(clipped * errors, discounts * clipped)
        following = tf.concat([corrections[1:], tf.zeros_like(behind)[None]], 0)
        return values + corrections, clipped * (errors + discounts * following)

    def gae(recurrence: Any, rewards: Any, values: Any, behind: Any, terminated: Any) -> Any:
        discounts = tf.where(terminated, 0.0, DISCOUNT)
        errors = rewards + discounts * tf.concat([values[1:], behind[None]], 0) - values
        return (recurrence(errors, LAMBDA * discounts),)

    def run(xla: bool, function: Callable[..., Any], named: Any) -> Callable[[], Any]:
        names = list(named)
        specs = [tf.TensorSpec(named[name].shape, named[name].dtype) for name in names]
        traced = tf.function(
            lambda *tensors: function(**dict(zip(names, tensors, strict=True))),
            autograph=False,
            jit_compile=xla,
        )
        call = numpy_program(traced.get_concrete_function(*specs), len(names), single_threaded=True)
        return lambda: call(*named.values())

    def subjects(ways: Mapping[str, Any], xla: bool) -> Subjects:
        ops = TfOps()
        ops.compiled = xla
        return both(
            {
                **{way: partial(v_trace, one) for way, one in ways.items()},
                "rlgraph": partial(rlgraph_v_trace, ops),
            },
            {**{way: partial(gae, one) for way, one in ways.items()}, "rlgraph": partial(rlgraph_gae, ops)},
            arrays,
            partial(run, xla),
        )

    under_xla = subjects({"log-depth": log_depth, "loop": loop}, True)
    return {
        **subjects({"log-depth": log_depth}, False),
        **{f"{what}, XLA": ways for what, ways in under_xla.items()},
    }


if __name__ == "__main__":
    main()
