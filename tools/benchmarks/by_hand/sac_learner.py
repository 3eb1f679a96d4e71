"""An update of soft actor-critic (Haarnoja et al., 2018): critics, temperature, actor, targets.

Noise is an input, so that code by hand can be given the same; actor and critics are therefore not the library's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlgraph.components import Adam, Dense, EntropyTemperature, NeuralNetwork, SACLoss, Synchronizer
from rlgraph.core import Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox

STATE_SIZE, ACTION_SIZE, BATCH_SIZE, UNITS = 3, 1, 256, 256
DISCOUNT, TAU, TARGET_ENTROPY = 0.99, 0.005, -1.0
LOWEST, HIGHEST = -20.0, 2.0
LEARNING_RATE, EPSILON = 3e-4, 1e-5
LAYERS = [{"type": "dense", "units": UNITS, "activation": "relu"}] * 2
_VARIABLES = [f"{layer}/{kind}" for layer in ("dense-0", "dense-1", "head") for kind in ("weights", "biases")]
_CRITICS = [f"{network}/{variable}" for network in ("first", "second") for variable in _VARIABLES]
#: Variables of actor, critics, targets and temperature, and the fields of a batch, as code by hand takes them.
NAMES = (
    [f"actor/network/{variable}" for variable in _VARIABLES],
    [f"critics/{variable}" for variable in _CRITICS],
    [f"targets/{variable}" for variable in _CRITICS],
    ["entropy-temperature/log-alpha"],
)
KEYS = ("states", "actions", "rewards", "terminals", "next_states", "noise", "next_noise")


class Actor(Component):
    """Actions in (-1, 1) and the logarithm of their density, from states and standard normal noise."""

    def __init__(self) -> None:
        self.network = NeuralNetwork([*LAYERS, Dense(2 * ACTION_SIZE, scope="head")])
        super().__init__(self.network, scope="actor")

    @rlgraph_api
    def act(self, states: Any, noise: Any) -> Any:
        return self._squash(self.network.call(states), noise)

    @graph_fn(returns=2)
    def _squash(self, ops: Any, parameters: Any, noise: Any) -> Any:
        mean, log_deviation = parameters[:, :ACTION_SIZE], parameters[:, ACTION_SIZE:]
        log_deviation = ops.clip(log_deviation, LOWEST, HIGHEST)
        actions = ops.tanh(mean + ops.exp(log_deviation) * noise)
        normal = 0.5 * ops.square(noise) + log_deviation + 0.5 * math.log(2.0 * math.pi)
        return actions, -ops.sum(normal + ops.log(1.0 - ops.square(actions) + 1e-6), axis=1)


class Critics(Component):
    """Two values of states with actions."""

    def __init__(self) -> None:
        self.networks = [
            NeuralNetwork([*LAYERS, Dense(1, scope="head")], scope=scope) for scope in ("first", "second")
        ]
        super().__init__(*self.networks, scope="critics")

    @rlgraph_api
    def evaluate(self, states: Any, actions: Any) -> Any:
        inputs = self._join(states, actions)
        return tuple(self._flat(network.call(inputs)) for network in self.networks)

    @graph_fn
    def _join(self, ops: Any, states: Any, actions: Any) -> Any:
        return ops.concat([states, actions], axis=1)

    @graph_fn
    def _flat(self, ops: Any, values: Any) -> Any:
        return ops.squeeze(values, axis=1)


class SAC(Component):
    def __init__(self) -> None:
        self.actor, self.critics, self.temperature = Actor(), Critics(), EntropyTemperature()
        self.targets = self.critics.copy(scope="targets", trainable=False)
        self.loss = SACLoss(TARGET_ENTROPY, DISCOUNT, temperature_loss="log_alpha")
        self.optimizers = [
            Adam(LEARNING_RATE, epsilon=EPSILON, scope=f"{name}-optimizer")
            for name in ("critics", "temperature", "actor")
        ]
        self.synchronizer = Synchronizer(TAU)
        super().__init__(
            *(self.actor, self.critics, self.temperature, self.targets, self.loss, self.synchronizer),
            *self.optimizers,
            scope="sac",
        )

    @rlgraph_api
    def update(
        self,
        states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        noise: Any,
        next_noise: Any,
    ) -> Any:
        """The losses of critics, temperature and actor."""
        critic_step, temperature_step, actor_step = (optimizer.step for optimizer in self.optimizers)
        loss, alpha = self.loss, self.temperature.get_alpha()
        next_actions, next_log_probs = self.actor.act(next_states, next_noise)
        critic_loss = loss.loss_average(
            loss.critic_loss_per_item(
                alpha=alpha,
                log_probs_next_sampled=next_log_probs,
                q_values_next_sampled=self.targets.evaluate(next_states, next_actions),
                q_values=self.critics.evaluate(states, actions),
                rewards=rewards,
                terminals=terminals,
            )
        )
        new_actions, log_probs = self.actor.act(states, noise)
        drawn = {"alpha": alpha, "log_probs_sampled": log_probs}
        temperature_loss = loss.loss_average(loss.alpha_loss_per_item(**drawn))
        critic_step(self.critics.variables(), critic_loss)
        q_values = self.critics.evaluate(states, new_actions)
        actor_loss = loss.loss_average(loss.actor_loss_per_item(**drawn, q_values_sampled=q_values))
        actor_step(self.actor.variables(), actor_loss)
        temperature_step(self.temperature.variables(), temperature_loss)
        self.synchronizer.sync(self.critics.variables(), self.targets.variables())
        return critic_loss, temperature_loss, actor_loss


def make_executor(backend: str, **execution: Any) -> GraphExecutor:
    states, actions = (FloatBox(shape=(n,), add_batch_rank=True) for n in (STATE_SIZE, ACTION_SIZE))
    spaces = {
        "states": states,
        "next_states": states,
        "actions": actions,
        "noise": actions,
        "next_noise": actions,
        "rewards": FloatBox(add_batch_rank=True),
        "terminals": BoolBox(add_batch_rank=True),
    }
    return GraphExecutor(
        SAC(), spaces, backend=backend, execution_spec={"threads": 1, "seed": 1, **execution}
    )


def random_batch(seed: int = 0) -> dict[str, np.ndarray]:
    """Transitions of something like Pendulum, and the noise for two actions each."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=(BATCH_SIZE, *shape)).astype(np.float32)

    return {
        "states": normal(STATE_SIZE),
        "next_states": normal(STATE_SIZE),
        "actions": np.tanh(normal(ACTION_SIZE)),
        "rewards": normal(),
        "noise": normal(ACTION_SIZE),
        "next_noise": normal(ACTION_SIZE),
        "terminals": rng.random(BATCH_SIZE) < 0.01,
    }
