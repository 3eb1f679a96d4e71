"""The learner of proximal policy optimization (Schulman et al., 2017) that is measured, of the library's components."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components import Adam, IterativeOptimization, Policy, PPOLoss, ValueFunction
from rlgraph.core import Component, GraphExecutor, rlgraph_api
from rlgraph.spaces import Dict, FloatBox, IntBox

STATE_SIZE, NUM_ACTIONS = 4, 2
EPOCHS, MINIBATCHES = 4, 4
UPDATES = EPOCHS * MINIBATCHES
CLIP, VALUE_WEIGHT, ENTROPY_WEIGHT = 0.2, 0.5, 0.01
LEARNING_RATE, EPSILON, CLIP_NORM = 3e-4, 1e-5, 0.5
LAYERS = [{"type": "dense", "units": 64, "activation": "tanh"}] * 2
#: The variables that learn, and the fields of a batch, in the order in which code by hand takes them.
NAMES = [
    f"actor-critic/{layer}/{kind}"
    for layer in (
        *(f"policy/{name}" for name in ("network/dense-0", "network/dense-1", "action-adapter/action-layer")),
        *(f"value-function/{name}" for name in ("network/dense-0", "network/dense-1", "value-layer")),
    )
    for kind in ("weights", "biases")
]
RECORDS = ("states", "actions", "log_probs", "advantages", "values")


class ActorCritic(Component):
    """A policy and a value function, networks of 64-64 of their own."""

    def __init__(self) -> None:
        self.policy = Policy(LAYERS, IntBox(NUM_ACTIONS))
        self.value_function = ValueFunction(LAYERS)
        super().__init__(self.policy, self.value_function, scope="actor-critic")

    @rlgraph_api
    def evaluate(self, states: Any, actions: Any) -> Any:
        """``log_probs, entropy, values``, ``[B]`` each."""
        log_probs = self.policy.get_log_likelihood(states, actions)["log_likelihood"]
        entropy = self.policy.get_entropy(states)["entropy"]
        return log_probs, entropy, self.value_function.value_output(states)


class Learner(Component):
    """Epochs of minibatches, a step of the optimizer each."""

    def __init__(self) -> None:
        self.networks = ActorCritic()
        self.loss = PPOLoss(
            CLIP, weight_entropy=ENTROPY_WEIGHT, weight_vf=VALUE_WEIGHT, standardize_advantages=True
        )
        self.optimizer = Adam(LEARNING_RATE, epsilon=EPSILON, clip_grad_norm=CLIP_NORM)
        self.epochs = IterativeOptimization(EPOCHS, MINIBATCHES, scope="epochs")
        super().__init__(self.networks, self.loss, self.optimizer, self.epochs, scope="learner")

    @rlgraph_api
    def update(self, records: Any) -> Any:
        return self.epochs.run(self.step, records)

    @rlgraph_api
    def step(self, records: Any) -> Any:
        log_probs, entropy, values = self.networks.evaluate(records["states"], records["actions"])
        losses = self.loss.loss(
            log_probs=log_probs,
            prev_log_probs=records["log_probs"],
            state_values=values,
            prev_state_values=records["values"],
            advantages=records["advantages"],
            entropy=entropy,
        )
        self.optimizer.step(self.networks.variables(), losses["loss"])
        return {"loss": losses["loss"]}


def make_executor(backend: str, **execution: Any) -> GraphExecutor:
    """Built on `backend`; its API method ``update(records)`` makes `EPOCHS` epochs of `MINIBATCHES` minibatches."""
    records = Dict(
        states=FloatBox(shape=(STATE_SIZE,)),
        actions=IntBox(NUM_ACTIONS),
        **{name: FloatBox() for name in ("log_probs", "values", "advantages")},
        add_batch_rank=True,
    )
    spec = {"threads": 1, "seed": 1, **execution}
    return GraphExecutor(
        Learner(), {"records": records}, backend=backend, execution_spec=spec, api_methods=["update"]
    )


def stream_of(executor: GraphExecutor) -> np.random.Generator:
    """A generator that draws what the learner will: the order of the records in each epoch."""
    theirs = executor.storage.stream("epochs").bit_generator
    ours = type(theirs)()
    ours.state = theirs.state
    return np.random.Generator(ours)


def order_of(rng: np.random.Generator, number: int) -> np.ndarray:
    """Which records each minibatch has, ``[updates, M]``."""
    return np.stack([rng.permutation(number) for _ in range(EPOCHS)]).reshape(UPDATES, -1)


def random_batch(size: int, seed: int = 0) -> dict[str, np.ndarray]:
    """A rollout of `MINIBATCHES` minibatches of `size`."""
    rng = np.random.default_rng(seed)
    number = MINIBATCHES * size
    floats = {name: rng.normal(size=number).astype(np.float32) for name in ("values", "advantages")}
    return {
        "states": rng.normal(size=(number, STATE_SIZE)).astype(np.float32),
        "actions": rng.integers(0, NUM_ACTIONS, number),
        "log_probs": np.log(rng.uniform(0.3, 0.7, number)).astype(np.float32),
        **floats,
    }
