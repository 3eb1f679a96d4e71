"""Clusters of several nodes, on one machine: placement, and a node that leaves."""

import pytest

pytest.importorskip("ray")

import ray
from ray.cluster_utils import Cluster

from rlgraph.core import SpecError
from rlgraph.execution import SyncBatchExecutor
from rlgraph.execution.engine import Demand
from rlgraph.execution.ray import placement
from rlgraph.execution.ray.engine import RayEngine
from rlgraph.workers import Callback

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

PPO = {
    "type": "ppo",
    "network_spec": [{"type": "dense", "units": 8, "activation": "tanh"}],
    "rollout_length": 8,
    "num_epochs": 1,
    "num_minibatches": 1,
    "execution_spec": {"threads": 1},
}


class Leaves(Callback):
    """Removes a node after the second update, and ends the run after the next one with a new actor."""

    def __init__(self, cluster, node):
        self.cluster, self.node, self.updates = cluster, node, 0

    def on_update(self, worker, results):
        self.updates += 1
        if self.updates == 2:
            self.cluster.remove_node(self.node, allow_graceful=False)
        return worker.actor_restarts > 0


def test_actors_of_a_node_that_leaves_start_elsewhere(monkeypatch):
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    try:
        engine = RayEngine(address=cluster.address, placement="SPREAD")
        executor = SyncBatchExecutor(
            PPO,
            "CartPole-v1",
            engine=engine,
            backend="torch",
            seed=1,
            actors=2,
            num_envs=4,
            sample_timeout=30.0,
        )
        result = executor.execute(steps=10**6, callbacks=Leaves(cluster, second))
        assert executor.actor_restarts >= 1
        assert result.timesteps == result.updates * 2 * 4 * 8 < 10**6
        monkeypatch.setattr(placement, "_SECONDS", 2.0)
        strict = RayEngine(placement="STRICT_SPREAD")
        with pytest.raises(
            SpecError, match=r"engine.placement: expected nodes on which .* by STRICT_SPREAD, given"
        ):
            strict.check_room(Demand(2, 0))
        engine.close()
    finally:
        ray.shutdown()
        cluster.shutdown()
