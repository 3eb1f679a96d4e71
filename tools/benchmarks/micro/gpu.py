"""Updates on a GPU beside those of single-file implementations, and DQN in ALE Pong; at most ten minutes.

DQN, PPO and SAC of `against_hand`, from a NumPy batch to the loss, after a check that all compute the same. ``eager``,
``compiled`` and ``cuda graph`` are CleanRL's and LeanRL's ways (`by_hand/single_file_torch.py`). ``rlgraph compiled``
records CUDA graphs. Pong: frames per second of training by the clock, an update of 32 transitions at every fourth step
of the agent, the network of three convolutions; needs ale-py.

    python tools/benchmarks micro/gpu [--device cuda:0] [--only ppo]
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from by_hand import ppo_learner, sac_learner
from by_hand.single_file_torch import DQN, PPO, SAC
from measure import Figure, Row, arguments, compared, interleaved, report
from micro.against_hand import Case, check_equal
from micro.atari import SPEC
from subject import make_agent, random_batch, update_program

from rlgraph.agents import Agent

PARTS = ("dqn", "ppo", "sac", "pong")
WAYS = ("eager", "compiled", "cuda graph")
ROUNDS, BLOCKS = 3, 20
TOLERANCE = 1e-3  # of weights: where a derivative is only rounding error, Adam makes a whole step
PONG = {"type": "atari", "game": "Pong"}
FRAMESKIP, WARM_UP, STEPS = 4, 2_000, 4_000  # steps of the agent


def dqn(execution: dict[str, Any]) -> Case:
    executor = make_agent("torch", execution_spec=execution).executor
    program = update_program(executor)
    return Case(
        executor, lambda batch: float(program(batch)["loss"]), [random_batch(number) for number in range(32)]
    )


def ppo(execution: dict[str, Any]) -> Case:
    executor = ppo_learner.make_executor("torch", **execution)
    batches = [ppo_learner.random_batch(256, seed) for seed in range(8)]
    program = executor.program("update")
    return Case(executor, lambda batch: program(batch)["loss"], batches)


def sac(execution: dict[str, Any]) -> Case:
    executor = sac_learner.make_executor("torch", **execution)
    program, batches = executor.program("update"), [sac_learner.random_batch(seed) for seed in range(32)]
    return Case(executor, lambda batch: [float(loss) for loss in program(**batch)], batches)


def updates(name: str, device: str) -> Iterator[Row]:
    """The rows of an update."""
    make = {"dqn": dqn, "ppo": ppo, "sac": sac}[name]
    case, compiled = (make({"device": device, "compile": compile}) for compile in (False, ["update"]))
    start = case.executor.get_weights()
    compiled.executor.set_weights(start)
    others: dict[str, Any] = {}
    for how in WAYS if device.startswith("cuda") else WAYS[:-1]:
        if name == "ppo":
            others[how] = PPO(start, device, how, ppo_learner.stream_of(case.executor))
        else:
            others[how] = {"dqn": DQN, "sac": SAC}[name](start, device, how)
    check_equal(case, {**others, "rlgraph compiled": Ours(compiled)}, TOLERANCE)
    calls = {**others, "rlgraph": case.update, "rlgraph compiled": compiled.update}
    batch = case.batches[0]
    subjects = {how: lambda call=call: call(batch) for how, call in calls.items()}
    figures = interleaved(subjects, rounds=ROUNDS, blocks=BLOCKS, single=True)
    yield from compared(figures, "eager", "us", 1e6, prefix=f"{name}, ")


class Ours:
    """The other side of `check_equal`: a case in place of code by hand."""

    def __init__(self, case: Case):
        self.case = case

    def __call__(self, batch: Any) -> Any:
        return self.case.update(batch)

    def weights(self) -> Any:
        return self.case.executor.get_weights()


def pong(device: str) -> Iterator[Row]:
    """Frames of the emulator per second."""
    for name, compile in (("rlgraph", False), ("rlgraph compiled", True)):
        spec = {
            **SPEC,
            "exploration_spec": {"epsilon_spec": 0.1},
            "update_spec": {"steps_before_update": 1_000, "update_interval": 4, "batch_size": 32},
        }
        execution = {"device": device, "compile": compile}
        agent = Agent.from_spec(spec, env=PONG, backend="torch", seed=1, execution_spec=execution)
        agent.learn(WARM_UP, env=PONG)
        seconds = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            agent.learn(STEPS, env=PONG)
            seconds.append(time.perf_counter() - began)
        frames = Figure(tuple(FRAMESKIP * STEPS / each for each in seconds))
        yield Row(f"pong, {name}", frames, "frames/s")


def main() -> None:
    parser = arguments(__doc__, backends=())
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", choices=PARTS, action="append", help="default: all")
    options = parser.parse_args()
    for name in options.only or PARTS:
        rows = list(pong(options.device) if name == "pong" else updates(name, options.device))
        report(f"{name} on {options.device}", rows, options, ("rlgraph-torch", "torch"))
