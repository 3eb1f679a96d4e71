"""Section ``graphs``: whole graphs, wired of shipped components as an agent would; checkpoints; the NumPy actor."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from rlgraph.components import Adam, DQNLoss, DuelingPolicy, EpsilonGreedy, ReplayMemory, Synchronizer
from rlgraph.core import Component, GraphExecutor, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox
from rlgraph.testing.conformance.checks import Subject, check
from rlgraph.testing.conformance.comparison import assert_same

NEEDS = ("gradients",)
STATES = FloatBox(shape=(4,), add_batch_rank=True)
SPACES = {
    "states": STATES,
    "actions": IntBox(3, add_batch_rank=True),
    "rewards": FloatBox(add_batch_rank=True),
    "terminals": BoolBox(add_batch_rank=True),
    "next_states": STATES,
    "progress": FloatBox(0.0, 1.0),
    "num_records": IntBox(1, None),
}
LAYERS = [
    {"type": "dense", "units": 8, "activation": "relu"},
    {"type": "dense", "units": 6, "activation": "tanh"},
]
FIELDS = ("states", "actions", "rewards", "terminals", "next_states")


class QLearner(Component):
    """Double Q-learning with a dueling policy, a target policy and a replay memory."""

    def __init__(self) -> None:
        self.policy = DuelingPolicy(LAYERS, action_space=IntBox(3))
        self.target_policy = self.policy.copy(scope="target-policy", trainable=False)
        self.memory, self.exploration = ReplayMemory(50), EpsilonGreedy(IntBox(3), epsilon_spec=0.3)
        self.loss, self.optimizer = DQNLoss(double_q=True), Adam(0.01, clip_grad_norm=5.0)
        self.synchronizer = Synchronizer()
        parts = (self.memory, self.exploration, self.loss, self.optimizer, self.synchronizer)
        super().__init__(self.policy, self.target_policy, *parts, scope="q-learner")

    @rlgraph_api
    def get_q_values(self, states: Any) -> Any:
        return self.policy.get_q_values(states)["q_values"]

    @rlgraph_api
    def get_actions(self, states: Any, progress: Any) -> Any:
        return self.exploration.get_action(self.policy.get_deterministic_action(states)["action"], progress)

    @rlgraph_api
    def insert(self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> Any:
        values = (states, actions, rewards, terminals, next_states)
        return self.memory.insert_records(dict(zip(FIELDS, values, strict=True)))

    @rlgraph_api
    def get_loss(self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> Any:
        q_values, q_next = (
            self.policy.get_q_values(states)["q_values"],
            self.policy.get_q_values(next_states)["q_values"],
        )
        q_next_target = self.target_policy.get_q_values(next_states)["q_values"]
        return self.loss.loss(q_values, actions, rewards, terminals, q_next, q_next_target)

    @rlgraph_api
    def get_loss_from_memory(self, num_records: Any) -> Any:
        records = self.memory.get_records(num_records)
        return self.get_loss(*(records[field] for field in FIELDS))

    @rlgraph_api
    def update(self, states: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> Any:
        losses = self.get_loss(states, actions, rewards, terminals, next_states)
        self.optimizer.step(self.policy.variables(), losses["loss"])
        return losses

    @rlgraph_api
    def update_from_memory(self, num_records: Any) -> Any:
        records = self.memory.get_records(num_records)
        return self.update(*(records[field] for field in FIELDS))

    @rlgraph_api
    def sync(self) -> Any:
        return self.synchronizer.sync(self.policy.variables(), self.target_policy.variables())


def batch(size: int, dtype: str = "float64") -> list[np.ndarray]:
    """The same transitions every time."""
    rng = np.random.default_rng(0)
    values = [np.asarray(SPACES[field].sample(size, rng=rng)) for field in FIELDS]
    return [value.astype(dtype) if value.dtype.kind == "f" else value for value in values]


def pair(subject: Subject) -> tuple[GraphExecutor, GraphExecutor]:
    """The graph on the backend and on the reference, in float64."""
    return (
        subject.executor(QLearner(), SPACES, dtype="float64", seed=1),
        subject.reference(QLearner(), SPACES, dtype="float64", seed=1),
    )


@check("graphs")
def forward(subject: Subject) -> None:
    """Values, explored actions and losses are those of the reference, draws of the host included."""
    executor, reference = pair(subject)
    transitions = batch(6)
    for method, inputs in (
        ("get_q_values", transitions[:1]),
        ("get_actions", (transitions[0], 0.0)),
        ("get_actions", (transitions[0], 0.5)),
        ("get_loss", transitions),
    ):
        assert_same(executor.execute(method, *inputs), reference.execute(method, *inputs), 1e-12, method)


@check("graphs")
def memory(subject: Subject) -> None:
    """A host component between tensor neighbours: the same records are drawn, the same losses come out."""
    executor, reference = pair(subject)
    for size in (30, 40):  # the ring overflows
        for each in (executor, reference):
            each.execute("insert", *batch(size))
        given, expected = (each.execute("get_loss_from_memory", 8) for each in (executor, reference))
        assert_same(given, expected, 1e-12, f"loss after {size} records")


@check("graphs", capabilities=NEEDS)
def update(subject: Subject) -> None:
    """Losses of updates are the reference's at the same weights; target and policy move when they should."""
    executor, reference = pair(subject)
    transitions = batch(6)
    for number in range(3):
        given, expected = (
            executor.execute("update", *transitions),
            reference.execute("get_loss", *transitions),
        )
        assert_same(given, expected, 1e-12, f"losses of update {number + 1}")
        reference.set_weights(executor.get_weights())
    weights = executor.get_weights()
    ours = {name[7:]: value for name, value in weights.items() if name.startswith("policy/")}
    targets = {name[14:]: value for name, value in weights.items() if name.startswith("target-policy/")}
    assert all((ours[name] != targets[name]).any() for name in targets), (
        "some variables did not move, or targets did"
    )
    executor.execute("sync")
    reference.execute("sync")
    assert_same(executor.get_weights(), reference.get_weights(), path="weights after sync")


@check("graphs", capabilities=NEEDS)
def learning(subject: Subject) -> None:
    """Forty updates on one batch make its loss a quarter or less, in float32."""
    executor = subject.executor(QLearner(), SPACES, seed=2)
    executor.execute("insert", *batch(8, "float32"))
    transitions = batch(8, "float32")
    before = executor.execute("get_loss", *transitions)["loss"]
    for _ in range(40):
        executor.execute("update_from_memory", 32)
    after = executor.execute("get_loss", *transitions)["loss"]
    assert after <= before / 4, f"the loss went from {before} to {after}"


@check("graphs")
def save_and_load(subject: Subject) -> None:
    """A checkpoint is complete: another executor, and the reference, continue like the first one."""
    executor, reference = pair(subject)
    executor.execute("insert", *batch(30))
    executor.execute("get_loss_from_memory", 8)
    rng = np.random.default_rng(3)
    executor.set_weights({n: rng.standard_normal(w.shape) for n, w in executor.get_weights().items()})
    with tempfile.TemporaryDirectory() as folder:
        executor.save(f"{folder}/checkpoint")
        other = subject.executor(QLearner(), SPACES, dtype="float64", seed=9)
        for each in (other, reference):
            each.load(f"{folder}/checkpoint")
    assert_same(other.get_weights(), executor.get_weights(), path="weights")
    expected = executor.execute("get_loss_from_memory", 8)
    assert_same(other.execute("get_loss_from_memory", 8), expected, path="the other executor's losses")
    assert_same(reference.execute("get_loss_from_memory", 8), expected, 1e-12, "the reference's losses")


@check("graphs")
def numpy_actor(subject: Subject) -> None:
    """The reference acts on the backend's own variables, and sees every write to them."""
    executor = subject.executor(QLearner(), SPACES, dtype="float64")
    act, states = executor.numpy_program("get_q_values"), batch(6)[0]
    assert_same(act(states), executor.execute("get_q_values", states), 1e-12, "at the start")
    executor.set_weights({name: value + 1.0 for name, value in executor.get_weights().items()})
    assert_same(act(states), executor.execute("get_q_values", states), 1e-12, "after set_weights")
    if "gradients" in subject.capabilities:
        executor.execute("update", *batch(6))
        assert_same(act(states), executor.execute("get_q_values", states), 1e-12, "after an update")
