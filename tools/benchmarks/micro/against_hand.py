"""Acting and updates against the same written by hand, after a check that both sides compute the same.

act        NumPy states in, greedy NumPy actions out: a dueling policy of 64-64; batches of 1, 8, 64 and 512.
dqn        An update, from a NumPy batch to the loss: batch 64, double, dueling, Huber, clipped at 10, Adam.
ppo        An update, 4 epochs of 4 shuffled minibatches of 64 and of 256, from NumPy records to the mean loss.
sac        An update, batch 256, two layers of 256, from a NumPy batch to three losses.
recurrent  An update of A2C, 128 steps of 16 environments through LSTMs of 64 units.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
from by_hand import ppo_learner, recurrent_learner, sac_learner
from measure import Row, arguments, compared, interleaved, report
from subject import make_agent, random_batch, random_states, update_program

ACT_TARGET, TARGET = 1.05, 1.10
BATCH_SIZES = (1, 8, 64, 512)
METHOD = "get_greedy_actions"
#: Calls after which all must have the same weights.
COMPARED = 10

Update = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Case:
    """An update, and what it is measured with.

    Attributes:
        executor: RLgraph's side.
        update: a call of it, to the loss or losses.
        batches: given in turn.
        more: further arguments of the update by hand.
        prefix: of the rows.
        blocks: of a round. Fewer than 100: calls take longer than what a scheduler gives a process, and processor time
            is counted.
    """

    executor: Any
    update: Update
    batches: Sequence[Any]
    more: tuple[Any, ...] = ()
    prefix: str = ""
    blocks: int = 30


def dqn(backend: str, execution: dict[str, Any]) -> Iterator[Case]:
    executor = make_agent(backend, execution_spec={"threads": 1, **execution}).executor
    program = update_program(executor)
    batches = [random_batch(number) for number in range(256)]
    yield Case(executor, lambda batch: float(program(batch)["loss"]), batches, blocks=100)


def ppo(backend: str, execution: dict[str, Any]) -> Iterator[Case]:
    for size in (64, 256):
        batches = [ppo_learner.random_batch(size, seed) for seed in range(32)]
        executor = ppo_learner.make_executor(backend, **execution)
        program, more = executor.program("update"), (batches[0], ppo_learner.stream_of(executor))
        yield Case(
            executor, lambda batch, run=program: run(batch)["loss"], batches, more, f"minibatch {size}, "
        )


def sac(backend: str, execution: dict[str, Any]) -> Iterator[Case]:
    executor = sac_learner.make_executor(backend, **execution)
    program, batches = executor.program("update"), [sac_learner.random_batch(seed) for seed in range(32)]
    yield Case(executor, lambda batch: [float(loss) for loss in program(**batch)], batches)


def recurrent(backend: str, execution: dict[str, Any]) -> Iterator[Case]:
    executor = recurrent_learner.make_executor(backend)
    program, progress = executor.program("update"), np.zeros((), np.float32)
    batches = [recurrent_learner.random_batch(seed) for seed in range(8)]
    yield Case(
        executor, lambda b: program(b["records"], b["beginnings"], progress)["loss"], batches, blocks=10
    )


CASES = {"dqn": dqn, "ppo": ppo, "sac": sac, "recurrent": recurrent}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("what", choices=("act", *CASES))
    parser.add_argument(
        "--compile", action="store_true", help="both sides compiled; of act, compiled beside not"
    )
    options = parser.parse_args()
    if options.what == "recurrent" and options.compile:
        parser.error("the recurrent update is not compiled by hand")
    if options.what == "act":
        report("act", rows_of_acting(options.backend, options.compile), options)
        return
    module = importlib.import_module(f"by_hand.{options.what}_{options.backend}")
    yardsticks = {"by hand": {"compile": True}} if options.compile else {"by hand": {}, **others(module)}
    rows = []
    for case in CASES[options.what](options.backend, {"compile": ["update"]} if options.compile else {}):
        start = case.executor.get_weights()
        by_hand = {name: module.Update(start, *case.more, **how) for name, how in yardsticks.items()}
        rows += rows_of_updates(case, by_hand)
    report(f"{options.what} update", rows, options)


def others(module: Any) -> dict[str, dict[str, bool]]:
    """The yardsticks of a module beside the one that the targets are held against."""
    return getattr(module, "OTHERS", {})


# Acting.


def rows_of_acting(backend: str, compiled: bool) -> list[Row]:
    executor = make_agent(backend, acting="backend").executor
    module = importlib.import_module(f"by_hand.dqn_{backend}")
    weights, rows = executor.get_weights(), []
    for size in BATCH_SIZES:
        acts = {name: module.make_act(weights, size, **how) for name, how in others(module).items()}
        acts |= {"by hand": module.make_act(weights, size), "rlgraph": executor.program(METHOD)}
        acts["rlgraph numpy"] = executor.numpy_program(METHOD)
        if compiled:  # a program each: PyTorch compiles for the sizes of the first call
            execution = {"threads": 1, "compile": [METHOD]}
            ours = make_agent(backend, acting="backend", execution_spec=execution).executor
            acts |= {"by hand compiled": module.make_act(weights, size, compile=True)}
            acts |= {"rlgraph compiled": ours.program(METHOD)}
        subjects = {name: partial(act, random_states(size)) for name, act in acts.items()}
        actions = [subject() for subject in subjects.values()]
        assert all(np.array_equal(a, actions[0]) for a in actions), "they do not choose the same actions"
        figures = interleaved(subjects)
        for how in ("", " compiled") if compiled else ("",):
            alike = {
                name: figure for name, figure in figures.items() if name.endswith("compiled") == bool(how)
            }
            of = {"target": ACT_TARGET, "prefix": f"batch {size}, ", "subjects": (f"rlgraph{how}",)}
            rows += compared(alike, f"by hand{how}", "us", 1e6, **of)
    return rows


# Updates.


def rows_of_updates(case: Case, by_hand: Mapping[str, Any]) -> list[Row]:
    """What every subject takes for an update.

    Many batches in turn, and every round from the same weights: in a network that has learned what there is to learn
    derivatives and moments sink to denormal numbers, which are slow.
    """
    start = case.executor.get_weights()
    check_equal(case, by_hand)

    def restart() -> None:
        case.executor.set_weights(start)
        for update in by_hand.values():
            update.restart()

    calls = {
        name: _in_turn(update, case.batches) for name, update in {**by_hand, "rlgraph": case.update}.items()
    }
    clock = time.perf_counter if case.blocks == 100 else time.process_time
    figures = interleaved(calls, before_round=restart, blocks=case.blocks, clock=clock)
    return compared(figures, "by hand", "us", 1e6, TARGET, case.prefix)


def check_equal(case: Case, by_hand: Mapping[str, Any], tolerance: float = 1e-5) -> None:
    """All must give the same losses, and the same weights after some updates, up to `tolerance`.

    Raises:
        AssertionError: they do not.
    """
    for batch in case.batches[:COMPARED]:
        expected = case.update(batch)
        for update in by_hand.values():
            np.testing.assert_allclose(update(batch), expected, rtol=1e-4, atol=1e-6)
    weights = case.executor.get_weights()
    for update in by_hand.values():
        for name, value in update.weights().items():
            np.testing.assert_allclose(value, weights[name], rtol=1e-4, atol=tolerance, err_msg=name)


def _in_turn(update: Update, batches: Sequence[Any]) -> Callable[[], Any]:
    """`update` on the next of the batches at every call."""
    following = cycle(batches).__next__
    return lambda: update(following())
