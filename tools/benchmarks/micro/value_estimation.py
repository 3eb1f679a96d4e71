"""V-trace and generalized advantage estimation against the same written by hand.

By hand there are several ways through time: log-depth, a loop, under XLA a while loop. The fastest is the yardstick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from by_hand.recurrences import numpy_log_depth, tf_log_depth, tf_loop, torch_log_depth, torch_loop
from measure import DISTRIBUTIONS, Row, arguments, interleaved, report

TARGET = 1.10
SIZES = ((100, 32), (2048, 8))
DISCOUNT, LAMBDA = 0.99, 0.95

#: What is computed, and the way it is run -> by name the ways through time by hand, and "rlgraph".
Subjects = Mapping[str, Mapping[str, Callable[[], Any]]]


def main() -> None:
    options = arguments(__doc__, backends=tuple(DISTRIBUTIONS)).parse_args()
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
    report("value estimation", rows, options)


def trajectories(steps: int, width: int) -> tuple[Any, Any]:
    """Arguments of V-trace and of GAE, by name: ``[T, B]``, and values behind the last step ``[B]``."""
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


Ways = Mapping[str, Callable[..., Any]]


def by_ways(function: Callable[..., Any], ways: Ways) -> Ways:
    """A function of a recurrence, with each way through time."""
    return {way: partial(function, recurrence) for way, recurrence in ways.items()}


def both(v_trace: Ways, gae: Ways, ops: Any, arrays: Any, run: Any) -> Subjects:
    """What is written by hand, and RLgraph's functions with its operations."""
    subjects = {
        "V-trace": ({**v_trace, "rlgraph": partial(rlgraph_v_trace, ops)}, arrays[0]),
        "GAE": ({**gae, "rlgraph": partial(rlgraph_gae, ops)}, arrays[1]),
    }
    return {
        what: {way: run(function, named) for way, function in ways.items()}
        for what, (ways, named) in subjects.items()
    }


def on_numpy(*arrays: Any) -> Subjects:
    from rlgraph.core.numpy.ops import NumpyOps

    def td_errors(rewards: Any, values: Any, behind: Any, discounts: Any) -> Any:
        errors = np.empty_like(values)
        errors[:-1], errors[-1] = values[1:], behind
        errors *= discounts
        errors += rewards
        errors -= values
        return errors

    def v_trace(rewards: Any, values: Any, behind: Any, ratios: Any, discounts: Any) -> Any:
        errors = td_errors(rewards, values, behind, discounts)
        clipped = np.minimum(ratios, 1.0)
        corrections = numpy_log_depth(clipped * errors, discounts * clipped)
        errors[:-1] += discounts[:-1] * corrections[1:]
        errors *= clipped
        return corrections + values, errors

    def gae(rewards: Any, values: Any, behind: Any, terminated: Any) -> Any:
        discounts = np.where(terminated, np.float32(0.0), np.float32(DISCOUNT))
        errors = td_errors(rewards, values, behind, discounts)
        discounts *= LAMBDA
        return (numpy_log_depth(errors, discounts),)

    def run(function: Callable[..., Any], named: Any) -> Callable[[], Any]:
        return lambda: function(**named)

    return both({"log-depth": v_trace}, {"log-depth": gae}, NumpyOps("float32"), arrays, run)


def on_torch(*arrays: Any) -> Subjects:
    import torch

    from rlgraph.torch.ops import TorchOps

    torch.set_num_threads(1)

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

    ways = {"log-depth": torch_log_depth, "loop": torch_loop}
    return both(by_ways(v_trace, ways), by_ways(gae, ways), TorchOps(), arrays, run)


def on_tf(*arrays: Any) -> Subjects:
    import by_hand.flat_tf  # noqa: F401  (it sets TensorFlow's threads, which has to come first)
    import tensorflow as tf

    from rlgraph.tf.calls import numpy_program
    from rlgraph.tf.ops import TfOps

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
        return both(by_ways(v_trace, ways), by_ways(gae, ways), ops, arrays, partial(run, xla))

    under_xla = subjects({"log-depth": tf_log_depth, "loop": tf_loop}, True)
    return {
        **subjects({"log-depth": tf_log_depth}, False),
        **{f"{what}, XLA": ways for what, ways in under_xla.items()},
    }
