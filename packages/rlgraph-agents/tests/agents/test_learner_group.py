"""Two learners on parts of a batch do what one does on the whole, for every algorithm."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from rlgraph.agents.a2c import A2C
from rlgraph.agents.agent_options import make_parts
from rlgraph.agents.dqn import DQN
from rlgraph.agents.impala import IMPALA
from rlgraph.agents.learner import Learner
from rlgraph.agents.ppo import PPO
from rlgraph.agents.sac import SAC
from rlgraph.components import IterativeOptimization
from rlgraph.core import AssemblyError, memory_group
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.shares import random_batch, share_of

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
CATEGORY, MOVES = IntBox(3), FloatBox(-1.0, 1.0, shape=(2,))
MINIBATCHES = {"num_epochs": 2, "num_minibatches": 2}
ONCE = {"num_epochs": 1, "num_minibatches": 1}
CASES = {
    "ppo": (PPO, CATEGORY, {**MINIBATCHES, "kl_limit": 0.02, "weight_entropy": 0.01}),
    "ppo-batch": (PPO, MOVES, {**MINIBATCHES, "standardize_advantages": "batch"}),
    "ppo-lstm": (PPO, CATEGORY, {**ONCE, "network_spec": [{"type": "lstm", "units": 5}]}),
    "a2c": (A2C, CATEGORY, {}),
    "dqn": (DQN, CATEGORY, {"memory_spec": {"type": "prioritized_replay", "capacity": 100}}),
    "sac": (SAC, MOVES, {}),
    "sac-discrete": (SAC, CATEGORY, {}),
    "impala": (IMPALA, CATEGORY, {"average_time_steps": False}),
}
#: Limits, and what is done about gradients that are not finite: all of the sum.
OPTIMIZER = {
    "ppo": {"clip_grad_norm": 0.1},
    "a2c": {"clip_grad_norm_per_variable": 0.1},
    "dqn": {"non_finite": "skip"},
}
STEPS, COLUMNS, FIRST, UPDATES = 4, 8, 2, 20
#: The columns of the one learner, and of the two, which have 1 and 3 quarters of them.
PARTS = ((0, COLUMNS), (0, FIRST), (FIRST, COLUMNS))


def make_learner(case, backend, execution_spec, collective=None):
    algorithm, actions, options = CASES[case]
    optimizer = {"learning_rate": 0.01, **OPTIMIZER.get(case, {})}
    spec, experience, execution = make_parts(
        algorithm,
        FloatBox(shape=(3,)),
        actions,
        execution_spec=execution_spec,
        seed=3,
        optimizer_spec=optimizer,
        **{"network_spec": LAYERS, **options},
    )
    return Learner(spec, experience, backend, execution, collective=collective)


@contextmanager
def given_minibatches(monkeypatch, rng):
    """The minibatches of the one learner are those of the two together."""
    first, second = (
        np.concatenate([rng.permutation(STEPS * columns).reshape(2, -1) for _ in range(2)])
        for columns in (FIRST, COLUMNS - FIRST)
    )

    def within(order, columns, offset):
        return order // columns * COLUMNS + offset + order % columns

    whole = np.concatenate([within(first, FIRST, 0), within(second, COLUMNS - FIRST, FIRST)], axis=1)
    orders = {COLUMNS: whole, FIRST: first, COLUMNS - FIRST: second}
    order = IterativeOptimization.__dict__["_order"]
    with monkeypatch.context() as patch:
        own = order.function

        def given(self, space, records):
            alike = self.num_minibatches == 1
            return own(self, space, records) if alike else orders[leaves_of(records)[0].shape[1]]

        patch.setattr(order, "function", given)
        yield


def give_draws(learner, draws):
    """Let what is drawn in updates be the next of `draws`."""
    backend, remaining = learner.executor.backend, iter(draws)

    class Given(type(backend.ops)):
        def random_normal(self, *args, **kwargs):
            return self.through_host(super().random_normal(*args, **kwargs), lambda drawn: next(remaining))

    backend.ops.__class__ = Given


def learn(learner, updates):
    return [learner.executor.execute("update", **arguments) for arguments in updates]


@pytest.mark.parametrize("case", CASES)
def test_two_learners_are_one_on_the_whole_batch(case, backend, monkeypatch, execution):
    rng, execution_spec = np.random.default_rng(5), execution(backend, dtype="float64")
    group = memory_group(2)
    with given_minibatches(monkeypatch, rng):
        learners = [make_learner(case, backend, execution_spec, collective) for collective in (None, *group)]
        spaces = learners[0].executor.built.input_spaces["update"]
        updates = [random_batch(spaces, rng, STEPS, COLUMNS, FIRST) for _ in range(UPDATES)]
        draws = rng.normal(size=(2 * UPDATES, COLUMNS, 2))
        for learner, (start, stop) in zip(learners, PARTS, strict=True):
            if case == "sac":
                give_draws(learner, draws[:, start:stop])
        given = [[share_of(spaces, update, *part) for update in updates] for part in PARTS]
        with ThreadPoolExecutor(2) as pool:
            found = [learn(learners[0], given[0]), *pool.map(learn, learners[1:], given[1:])]
    one, first, second = (learner.executor.get_weights() for learner in learners)
    for name, value in one.items():
        assert np.abs(value - first[name]).max() < 1e-10, name
        assert np.array_equal(first[name], second[name]), name
    for whole, *parts in zip(*found, strict=True):
        for name, number in whole.items():
            per_item = name in ("loss_per_item", "priorities")
            together = (
                [np.concatenate([each[name] for each in parts], axis=-1)]
                if per_item
                else [each[name] for each in parts]
            )
            assert all(np.allclose(number, each, rtol=0, atol=1e-10) for each in together), name


def test_intrinsic_rewards_are_refused():
    parts = make_parts(PPO, FloatBox(shape=(3,)), CATEGORY, network_spec=LAYERS, intrinsic_reward="rnd")
    (alone,) = memory_group(1)
    with pytest.raises(
        AssemblyError, match="ppo/intrinsic-reward: a group of learners has no intrinsic rewards"
    ):
        Learner(*parts[:2], "numpy", parts[2], collective=alone)
