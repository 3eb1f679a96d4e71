"""Training in a group of learners: all do the same, from the state of learner 0, to which the run belongs."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlgraph.core import CollectiveError
from rlgraph.core.collectives.membership import LEFT
from rlgraph.core.errors import type_and_text
from rlgraph.core.registry import version_of
from rlgraph.learning.agent_spec import stored_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.group import LearnerGroup, signed
from rlgraph.workers.worker_view import WorkerView

#: Distributions that must be the same on all learners.
_COMPARED = ("rlgraph-spaces", "rlgraph-core", "rlgraph-agents", "numpy", "torch", "tensorflow")

#: Options of a worker for what learner 0 does alone, and of executors for the agent.
_OF_LEARNER_0 = (
    "agent",
    "agent_config",
    "backend",
    "seed",
    "evaluation_actors",
    "store_checkpoint",
    "checkpoint_interval",
    "evaluation_interval",
)


@contextmanager
def train_together(
    worker: WorkerView, timesteps: int, limit: int | None, use_exploration: bool
) -> Iterator[None]:
    """Inside, the learners of the group train together.

    Args:
        worker: of this learner.
        timesteps, limit, use_exploration: see `Worker.execute_timesteps`.

    Raises:
        CollectiveError: a learner did not come or was lost, or learners differ in what must be equal.
    """
    group = worker.agent.group
    assert isinstance(group, LearnerGroup)
    try:
        group.open()
        _begin(worker, timesteps, limit, use_exploration)
        yield
    except CollectiveError as error:
        group.explain(error)
        group.leave(str(error))
        # The run belongs to learner 0: when that has ended it, the others have too.
        if group.rank == 0 or f"learner 0 of {group.size} is lost: {LEFT}" not in str(error):
            raise
    except BaseException as error:
        group.leave(type_and_text(error))
        raise
    else:
        group.close()


def _begin(worker: WorkerView, timesteps: int, limit: int | None, use_exploration: bool) -> None:
    """Learner 0 says what is done and gives its state; then all compare what must be equal."""
    agent, group = worker.agent, worker.agent.group
    assert isinstance(group, LearnerGroup)
    folder = None
    if group.starts_others:
        folder = _store(agent)
        arguments, options = worker.made_from
        order = {
            "worker": type(worker),
            "arguments": arguments[1:],
            "options": {name: value for name, value in options.items() if name not in _OF_LEARNER_0},
            "timesteps": timesteps,
            "limit": limit,
            "use_exploration": use_exploration,
            "done": worker.timesteps_of_run,
            "checkpoint": folder,
        }
        group.all_gather(signed(group.key, pickle.dumps(order)))
    try:
        group.agree(_facts(worker, timesteps), "training cannot begin")
        group.compare_weights(agent.executor.get_weights(), "the beginning of training")
    finally:
        if folder is not None:
            shutil.rmtree(Path(folder).parent, ignore_errors=True)


def _store(agent: BaseAgent) -> str | None:
    """A checkpoint of an agent that is not as it was made; None: it is."""
    if not (agent.timesteps or agent.updates):
        return None
    return str(agent.store_model(Path(tempfile.mkdtemp(prefix="rlgraph-learners-")) / "checkpoint"))


def _facts(worker: WorkerView, timesteps: int) -> dict[str, Any]:
    """What must be the same on all learners."""
    agent = worker.agent
    spec = stored_spec(type(agent), agent._arguments) or {"type": type(agent).__qualname__}
    return {
        **{f"version of {name}": version_of(name) or "none" for name in _COMPARED},
        "state_space": repr(agent.state_space),
        "action_space": repr(agent.action_space),
        "backend": agent.executor.backend.name,
        "seed": agent.seed,
        **{f"agent.{name}": value for name, value in spec.items() if name not in ("env", "execution_spec")},
        "timesteps": timesteps,
        "environments of each learner": worker.num_envs,
        "steps before": agent.timesteps,
        "updates before": agent.updates,
        "steps of this run before": worker.timesteps_of_run,
    }
