"""The classes of the agents that RLgraph ships, each of its algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.agents.agent import Agent
from rlgraph.algorithms.a2c import A2C
from rlgraph.algorithms.apex import Apex
from rlgraph.algorithms.behaviour_cloning import BehaviourCloning
from rlgraph.algorithms.c51 import C51, Rainbow
from rlgraph.algorithms.dqfd import DQFD
from rlgraph.algorithms.dqn import DQN
from rlgraph.algorithms.impala import IMPALA
from rlgraph.algorithms.iql import IQL
from rlgraph.algorithms.ppo import PPO
from rlgraph.algorithms.qr_dqn import QRDQN
from rlgraph.algorithms.random import Random
from rlgraph.algorithms.sac import SAC
from rlgraph.algorithms.td3 import TD3


class QLearningAgent(Agent):
    """An agent that learns action values, and tells their errors."""

    def get_td_loss(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> tuple[float, np.ndarray]:
        """The loss of an external batch, and that of each item [B], without learning from it.

        Batches and errors are those of `update`.
        """
        records = self._batches.records("get_td_loss", batch, sequence_indices)
        results = self.executor.program("get_td_loss")(**self.learner.on_records(records))
        return float(results["loss"]), results["loss_per_item"]

    def post_process(self, batch: Mapping[str, Any], sequence_indices: Any = None) -> dict[str, Any]:
        """As `Agent.post_process`; also ``priorities`` [B], the sizes of TD errors (Horgan et al., 2018)."""
        fields = super().post_process(batch, sequence_indices)
        records = {name: values for name, values in fields.items() if name != "importance_weights"}
        return {**fields, "priorities": self.executor.program("get_td_errors")(records)}


class A2CAgent(Agent):
    algorithm_class = A2C


class BehaviourCloningAgent(Agent):
    algorithm_class = BehaviourCloning


class C51Agent(QLearningAgent):
    algorithm_class = C51


class DQFDAgent(QLearningAgent):
    algorithm_class = DQFD


class DQNAgent(QLearningAgent):
    algorithm_class = DQN


class ApexAgent(DQNAgent):
    algorithm_class = Apex


class IMPALAAgent(Agent):
    algorithm_class = IMPALA


class IQLAgent(Agent):
    algorithm_class = IQL


class PPOAgent(Agent):
    algorithm_class = PPO


class QRDQNAgent(QLearningAgent):
    algorithm_class = QRDQN


class RainbowAgent(QLearningAgent):
    algorithm_class = Rainbow


class RandomAgent(Agent):
    algorithm_class = Random


class SACAgent(Agent):
    algorithm_class = SAC


class TD3Agent(Agent):
    algorithm_class = TD3
