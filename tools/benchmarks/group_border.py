#!/usr/bin/env python3
"""What the borders of a group's plans cost without a peer: PPO updates of six minibatches, cut at every sum.

Both subjects are the same learner, alone and in a group of one whose sums are their arguments: what the ratio is above
1 is what cuts, the Python loop around minibatches and flat arrays cost. A rollout of 48 MB shows whether it is copied
again for every minibatch.
"""

from __future__ import annotations

from typing import Any

from measure import Row, arguments, interleaved, report, use_one_thread

#: Upper limits of the ratio.
TARGETS = {"torch": 1.1, "tf": 1.4}
#: Name -> size of a state, steps, environments: minibatches of 64 and of 256, and a rollout of 48 MB (states and next
#: states).
SIZES = {"64 of 8": (8, 16, 8), "256 of 17": (17, 64, 8), "48 MB": (3000, 20, 100)}
EPOCHS, MINIBATCHES = 3, 2


def main() -> None:
    use_one_thread()
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    from subject import DISTRIBUTIONS

    rows = []
    for name, sizes in SIZES.items():
        small = sizes[0] < 100
        subjects = {
            subject: updater(options.backend, options.compile, sizes, in_group)
            for subject, in_group in (("one program", False), ("cut", True))
        }
        for run in subjects.values():
            run()  # compiles
        figures = interleaved(subjects, rounds=options.rounds, blocks=40 if small else 5, single=not small)
        for subject, figure in figures.items():
            ratio = figure.over(figures["one program"]) if subject == "cut" else None
            target = TARGETS[options.backend] if ratio else None
            rows.append(Row(f"{name}, {subject}", figure.times(1e3), "ms", ratio, target))
    title = f"group_border, {options.backend}{', compiled' if options.compile else ''}"
    report(title, rows, DISTRIBUTIONS[options.backend], options.json)


def updater(backend: str, compiled: bool, sizes: tuple[int, int, int], in_group: bool) -> Any:
    """One update of PPO on a rollout, NumPy in and out."""
    import numpy as np

    from rlgraph.algorithms.ppo import PPO
    from rlgraph.core import Collective
    from rlgraph.learning.agent_options import split_options
    from rlgraph.learning.learner import Learner
    from rlgraph.spaces import FloatBox, IntBox

    class Alone(Collective):
        def all_reduce(self, array: np.ndarray) -> np.ndarray:
            return array

        def all_gather(self, message: bytes) -> list[bytes]:
            return [message]

        def close(self) -> None:
            pass

    size, steps, environments = sizes
    spec, experience, execution = split_options(
        PPO,
        FloatBox(shape=(size,)),
        IntBox(4),
        execution_spec={"threads": 1, "compile": compiled},
        network_spec=[{"type": "dense", "units": 64, "activation": "tanh"}] * 2,
        num_epochs=EPOCHS,
        num_minibatches=MINIBATCHES,
        optimizer_spec={"learning_rate": 1e-9, "clip_grad_norm": 0.5},
    )
    collective = Alone(0, 1, "", 0.0) if in_group else None
    learner = Learner(spec, experience, backend, execution, collective=collective)
    rng = np.random.default_rng(0)

    def made(box: Any) -> np.ndarray:
        shape = (*(steps,) * box.has_time_rank, *(environments,) * box.has_batch_rank, *box.shape)
        if isinstance(box, IntBox):
            return rng.integers(0, 4, shape)
        return rng.random(shape) < 0.1 if box.dtype == "bool" else rng.random(shape, np.float32)

    update = learner.executor.program("update")
    spaces = learner.executor.built.input_spaces["update"]
    arguments = {name: _mapped(made, space) for name, space in spaces.items()}
    return lambda: update(**arguments)


def _mapped(made: Any, space: Any) -> Any:
    if hasattr(space, "items"):
        return {name: _mapped(made, part) for name, part in space.items()}
    return made(space)


if __name__ == "__main__":
    main()
