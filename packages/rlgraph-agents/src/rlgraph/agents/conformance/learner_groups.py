"""Two learners on parts of every batch, beside one on the whole: the cases, and the program of a learner.

Batches, draws and the order of minibatches are given, so that the results are equal but for rounding. A learner of a
group is a process that runs this module; see `run_in_processes`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.algorithm import Algorithm
from rlgraph.algorithms.apex import Apex
from rlgraph.algorithms.behaviour_cloning import BehaviourCloning
from rlgraph.algorithms.c51 import C51
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.impala import IMPALA
from rlgraph.algorithms.iql import IQL
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.qr_dqn import QRDQN
from rlgraph.algorithms.sac import SAC
from rlgraph.algorithms.td3 import TD3
from rlgraph.components import IterativeOptimization
from rlgraph.core import Collective
from rlgraph.core.addresses import free_address
from rlgraph.core.collectives.place import Place, make_collective
from rlgraph.experience.step import VectorStep
from rlgraph.learning.agent_options import split_options
from rlgraph.learning.learner import Learner
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space
from rlgraph.testing.shares import random_batch, share_of, valid_items

CATEGORY, MOVES, STATES = IntBox(3), FloatBox(-1.0, 1.0, shape=(2,)), FloatBox(shape=(3,))
MASKED = Dict(observation=STATES, action_mask=BoolBox(shape=(3,)))
LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
#: Steps and columns of a batch.
STEPS, COLUMNS = 4, 8
#: Seconds until the learners in processes are done.
LIMIT = 900.0


@dataclass(frozen=True)
class Case:
    """An algorithm and its options.

    Attributes:
        optimizer: limits, and what is done about gradients that are not finite: all of the sum.
    """

    algorithm: type[Algorithm]
    actions: Space
    options: Mapping[str, Any] = field(default_factory=dict)
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    states: Space = STATES


_MINIBATCHES = {"num_epochs": 2, "num_minibatches": 2}
_LSTM = {"num_epochs": 1, "num_minibatches": 1, "network_spec": [{"type": "lstm", "units": 5}]}
_STATISTICS = {"normalize_states": True, "scale_rewards": True}
CASES = {
    "ppo": Case(
        PPO, CATEGORY, {**_MINIBATCHES, "kl_limit": 0.02, "weight_entropy": 0.01}, {"clip_grad_norm": 0.1}
    ),
    "ppo-batch": Case(PPO, MOVES, {**_MINIBATCHES, "standardize_advantages": "batch"}),
    "ppo-lstm": Case(PPO, CATEGORY, _LSTM),
    "ppo-masks": Case(PPO, CATEGORY, _MINIBATCHES, states=MASKED),
    "ppo-statistics": Case(PPO, MOVES, {**_MINIBATCHES, **_STATISTICS}),
    "a2c": Case(A2C, CATEGORY, {}, {"clip_grad_norm_per_variable": 0.1}),
    "dqn": Case(
        DQN,
        CATEGORY,
        {"memory_spec": {"type": "prioritized_replay", "capacity": 100}},
        {"non_finite": "skip"},
    ),
    "dqn-masks": Case(DQN, CATEGORY, states=MASKED),
    "c51": Case(C51, CATEGORY, {"memory_spec": {"type": "prioritized_replay", "capacity": 100}}),
    "qr-dqn": Case(QRDQN, CATEGORY),
    "apex": Case(Apex, CATEGORY),
    "sac": Case(SAC, MOVES, {"random_before_update": True}),
    "sac-discrete": Case(SAC, CATEGORY),
    "sac-statistics": Case(SAC, MOVES, _STATISTICS),
    "td3": Case(TD3, MOVES),
    "iql": Case(IQL, MOVES),
    "impala": Case(IMPALA, CATEGORY, {"average_time_steps": False}),
    "bc": Case(BehaviourCloning, CATEGORY),
}


@dataclass(frozen=True)
class Share:
    """What a learner has of every batch.

    Attributes:
        first: columns of learner 0; learner 1 has the others.
        rank: of the learner; None: the one that has all.
    """

    first: int
    rank: int | None = None

    @property
    def columns(self) -> tuple[int, int]:
        """Its first column, and the one after its last."""
        whole = (0, COLUMNS), (0, self.first), (self.first, COLUMNS)
        return whole[0 if self.rank is None else self.rank + 1]


def run_case(
    name: str,
    backend: str,
    share: Share,
    updates: int,
    execution_spec: Mapping[str, Any] | None = None,
    collective: Collective | None = None,
) -> dict[str, np.ndarray]:
    """What a learner has after its updates.

    Returns:
        ``weights/...`` and ``statistics/...``, and what every update returned: ``numbers/...`` [updates], and
        ``items/...`` [updates, ..., columns] where there is one for each column.
    """
    case, rng = CASES[name], np.random.default_rng(zlib.crc32(name.encode()))
    shuffles = _shuffles(rng, share.first)
    draws = rng.normal(size=(2 * updates, COLUMNS, 2))
    learner = _make_learner(case, backend, execution_spec, collective)
    _give_draws(learner, draws[:, slice(*share.columns)])
    _give_shuffles(learner, shuffles[share.rank])
    spaces = learner.executor.built.input_spaces["update"]
    results = []
    for _ in range(updates):
        given = _legal(random_batch(spaces, rng, STEPS, COLUMNS, share.first))
        own = share_of(spaces, given, *share.columns)
        results.append(learner.executor.execute("update", **own))
        if learner.statistics is not None:
            _observe(learner, rng, share)
    return {**_state(learner), **_stacked(results)}


def _make_learner(
    case: Case, backend: str, execution_spec: Mapping[str, Any] | None, collective: Collective | None
) -> Learner:
    spec, experience, execution = split_options(
        case.algorithm,
        case.states,
        case.actions,
        execution_spec={**(execution_spec or {}), "dtype": "float64"},
        seed=3,
        optimizer_spec={"learning_rate": 0.01, **case.optimizer},
        **{"network_spec": LAYERS, **case.options},
    )
    return Learner(spec, experience, backend, execution, collective=collective)


def _state(learner: Learner) -> dict[str, np.ndarray]:
    weights = {f"weights/{name}": np.array(value) for name, value in learner.executor.get_weights().items()}
    counters = {} if learner.statistics is None else learner.statistics.counters()
    totals = {
        f"statistics/{name}/{what}": np.array(value, float)
        for name, moments in counters.items()
        for what, value in moments.items()
    }
    return {**weights, **totals}


def _stacked(results: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    stacked = {name: np.array([np.asarray(each[name]) for each in results]) for name in results[0]}
    return {f"{'items' if each.ndim > 1 else 'numbers'}/{name}": each for name, each in stacked.items()}


# What is given.


def _legal(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an update, in which the masks of states allow the actions that were taken there."""
    records = arguments["records"]
    if isinstance(states := records.get("states"), Mapping):
        np.put_along_axis(states["action_mask"], records["actions"][..., np.newaxis], True, axis=-1)
    return arguments


def _observe(learner: Learner, rng: np.random.Generator, share: Share) -> None:
    """Take steps of the own columns into the running statistics, and publish these."""
    assert learner.statistics is not None
    states, rewards = rng.normal(3.0, 2.0, (STEPS, COLUMNS, *STATES.shape)), rng.normal(size=(STEPS, COLUMNS))
    valid, own = valid_items(rng, STEPS, COLUMNS, share.first), slice(*share.columns)
    no = np.zeros(COLUMNS, bool)[own]
    for x, reward, is_valid in zip(states[:, own], rewards[:, own], valid[:, own], strict=True):
        learner.statistics.add(VectorStep(x, None, reward, no, no, x, no, is_valid), 0)
    learner.statistics.publish(learner.executor)


def _shuffles(rng: np.random.Generator, first: int) -> dict[int | None, list[np.ndarray]]:
    """Rank -> the orders of its records; the minibatches of the one learner are those of the two together."""
    found: dict[int | None, list[np.ndarray]] = {0: [], 1: [], None: []}
    for _ in range(_MINIBATCHES["num_epochs"]):
        within = []
        for rank, (columns, offset) in enumerate([(first, 0), (COLUMNS - first, first)]):
            found[rank].append(order := rng.permutation(STEPS * columns))
            within.append(order // columns * COLUMNS + offset + order % columns)
        minibatches = [each.reshape(_MINIBATCHES["num_minibatches"], -1) for each in within]
        found[None].append(np.concatenate(minibatches, axis=1).ravel())
    return found


class _Shuffles:
    """In place of a random generator: gives one order after the other."""

    def __init__(self, orders: Sequence[np.ndarray]):
        self._orders = cycle(orders)

    def permutation(self, number: int) -> np.ndarray:
        return next(self._orders)


def _give_shuffles(learner: Learner, orders: Sequence[np.ndarray]) -> None:
    for scope, component in learner.executor.built.graph.components.items():
        if isinstance(component, IterativeOptimization) and component.num_minibatches > 1:
            learner.executor.storage.streams[scope] = _Shuffles(orders)  # type: ignore[assignment]


def _give_draws(learner: Learner, draws: np.ndarray) -> None:
    """Let what is drawn in updates be the next of `draws`."""
    backend, remaining = learner.executor.backend, iter(draws)

    class Given(type(backend.ops)):  # type: ignore[misc]
        def random_normal(self, *args: Any, **kwargs: Any) -> Any:
            return self.through_host(super().random_normal(*args, **kwargs), lambda drawn: next(remaining))

    backend.ops.__class__ = Given


# Results.


def differences(
    whole: Mapping[str, np.ndarray], parts: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, float]:
    """How far the results of the one learner and those of the two are apart at most, by kind of result.

    Raises:
        AssertionError: the weights of the two are not equal bit for bit, or something has no number.
    """
    found: dict[str, float] = {}
    for name, expected in whole.items():
        kind, each = name.partition("/")[0], [part[name] for part in parts]
        if kind == "weights":
            assert all(np.array_equal(each[0], other) for other in each), f"the learners differ in {name}"
        together = [np.concatenate(each, axis=-1)] if kind == "items" else each
        difference = max(float(np.abs(expected - given).max(initial=0.0)) for given in together)
        assert np.isfinite(difference), f"{name} is not finite"
        found[kind] = max(found.get(kind, 0.0), difference)
    return found


# Processes.


def run_in_processes(
    names: Sequence[str],
    backend: str,
    collective: str | Mapping[str, Any],
    first: int,
    updates: int,
    execution_spec: Mapping[str, Any] | None = None,
) -> dict[str, list[dict[str, np.ndarray]]]:
    """Case -> what the two learners of a group have, each a process that runs this module.

    Raises:
        AssertionError: one failed; with what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        order = {
            "names": list(names),
            "backend": backend,
            "collective": {"type": collective} if isinstance(collective, str) else dict(collective),
            "first": first,
            "updates": updates,
            "execution_spec": dict(execution_spec or {}),
            "address": free_address(),
            "folder": folder,
        }
        command = [sys.executable, "-m", __name__, json.dumps(order)]
        learners = [
            subprocess.Popen(
                [*command, str(rank)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            for rank in (0, 1)
        ]
        try:
            printed = [learner.communicate(timeout=LIMIT)[0] for learner in learners]
        finally:
            for learner in learners:
                learner.kill()
                learner.wait()
        for rank, learner in enumerate(learners):
            assert learner.returncode == 0, f"learner {rank} failed:\n{printed[rank][-4000:]}"
        return {
            name: [dict(np.load(Path(folder) / f"{name}-{rank}.npz")) for rank in (0, 1)] for name in names
        }


def _be_learner(order: Mapping[str, Any], rank: int) -> None:
    spec = {"timeout": 60.0, **order["collective"]}
    collective = make_collective(spec, Place(rank, 2, order["address"]))
    for name in order["names"]:
        share = Share(order["first"], rank)
        found = run_case(name, order["backend"], share, order["updates"], order["execution_spec"], collective)
        np.savez(Path(order["folder"]) / f"{name}-{rank}.npz", **found)  # type: ignore[arg-type]
    collective.close()


if __name__ == "__main__":
    _be_learner(json.loads(sys.argv[1]), int(sys.argv[2]))
