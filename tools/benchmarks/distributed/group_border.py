"""What the borders of a group's plans cost without a peer: PPO updates of six minibatches, cut at every sum.

Both subjects are the same learner, alone and in a group of one whose sums are their arguments: what the ratio is above
1 is what cuts, the Python loop around minibatches and flat arrays cost. A rollout of 48 MB shows whether it is copied
again for every minibatch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import arguments, compared, interleaved, report
from subject import random_inputs

from rlgraph.algorithms.ppo import PPO
from rlgraph.core import Collective
from rlgraph.learning.agent_options import split_options
from rlgraph.learning.learner import Learner
from rlgraph.spaces import FloatBox, IntBox

#: Upper limits of the ratio.
TARGETS = {"torch": 1.1, "tf": 1.4}
#: Name -> size of a state, steps, environments: minibatches of 64 and of 256, and a rollout of 48 MB (states and next
#: states).
SIZES = {"64 of 8": (8, 16, 8), "256 of 17": (17, 64, 8), "48 MB": (3000, 20, 100)}
EPOCHS, MINIBATCHES = 3, 2


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
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
        rows += compared(figures, "one program", "ms", 1e3, TARGETS[options.backend], f"{name}, ", ("cut",))
    report("group_border", rows, options)


class Alone(Collective):
    """A group of one."""

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        return array

    def all_gather(self, message: bytes) -> list[bytes]:
        return [message]

    def close(self) -> None:
        pass


def updater(backend: str, compiled: bool, sizes: tuple[int, int, int], in_group: bool) -> Any:
    """One update of PPO on a rollout, NumPy in and out."""
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
    update = learner.executor.program("update")
    spaces = learner.executor.built.input_spaces["update"]
    arguments = random_inputs(spaces, np.random.default_rng(0), environments, steps)
    return lambda: update(**arguments)
