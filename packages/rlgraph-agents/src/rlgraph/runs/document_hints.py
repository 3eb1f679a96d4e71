"""What other libraries call the keys of a run's document: unknown names are answered with those here."""

from __future__ import annotations

from types import MappingProxyType

from rlgraph.core.errors import OtherNames
from rlgraph.learning.option_hints import IN_AN_AGENT


def _first(hint: str | tuple[str, ...]) -> str:
    return hint if isinstance(hint, str) else hint[0]


#: Key -> its place in the document of a run, outside of the agent, or a sentence.
OUTSIDE_AN_AGENT: OtherNames = MappingProxyType(
    {
        "demonstrations": "data.file",
        "dataset": "data.file",
        "env": "environment",
        "env_id": "environment",
        "timesteps": "steps",
        "total_timesteps": "steps",
        "max_timesteps": "steps",
        "num_envs": "worker.num_envs",
        "n_envs": "worker.num_envs",
        "num_environments": "worker.num_envs",
        "frameskip": "worker.frameskip",
        "max_timesteps_per_episode": "worker.max_timesteps_per_episode",
        **dict.fromkeys(("validate", "validate_states"), "worker.validate_states"),
        "eval_freq": "evaluation.interval",
        "n_eval_episodes": "evaluation.episodes",
        "save_freq": "checkpoints.interval",
        "log_interval": "logging.report_interval",
        "tensorboard": "logging.tensorboard",
        "tensorboard_log": "logging.tensorboard",
        "verbose": "The command line shows the progress: leave it out.",
        "wandb": "logging.wandb",
    }
)

#: Key -> its place in the document of a run, or a sentence.
IN_A_RUN: OtherNames = MappingProxyType(
    {
        **{
            name: _first(hint) if _first(hint).endswith(".") else f"agent.{_first(hint)}"
            for name, hint in IN_AN_AGENT.items()
        },
        **OUTSIDE_AN_AGENT,
        "network_spec": "agent.network_spec",
        "optimizer_spec": "agent.optimizer_spec",
        "memory_spec": "agent.memory_spec",
        "update_spec": "agent.update_spec",
        "exploration_spec": "agent.exploration_spec",
        "execution_spec": "agent.execution_spec",
        "preprocessing_spec": "agent.preprocessing_spec",
        "discount": "agent.discount",
    }
)
