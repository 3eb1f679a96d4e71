"""What other libraries call the options of experience: unknown names are answered with those here."""

from __future__ import annotations

from types import MappingProxyType

from rlgraph.core.errors import OtherNames

#: Key -> its name in `UpdateSpec`.
WHEN_TO_LEARN = MappingProxyType(
    {
        **dict.fromkeys(("batch_size", "train_batch_size"), "batch_size"),
        **dict.fromkeys(("learning_starts", "steps_before_update"), "steps_before_update"),
        **dict.fromkeys(("train_freq", "train_frequency", "update_interval"), "update_interval"),
        **dict.fromkeys(("gradient_steps", "update_steps"), "update_steps"),
        "do_updates": "do_updates",
    }
)

_PPO = "PPO has it, as num_epochs and num_minibatches of the agent: leave it out."
#: Key -> its place in `UpdateSpec`, or a sentence.
IN_UPDATES: OtherNames = MappingProxyType(
    {
        **WHEN_TO_LEARN,
        "update_mode": "Intervals are environment steps, as in the mode time_steps: leave it out.",
        "num_iterations": _PPO,
        "sample_size": _PPO,
        "max_timesteps": "The run has the number of steps: leave it out.",
        "sync_interval": "The targets of this agent follow with every update: leave it out.",
        "sync_tau": "The targets of this agent follow with every update: give the agent's option tau.",
    }
)

#: Key -> its place in ``hindsight_spec``.
IN_HINDSIGHT: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(("n_sampled_goal", "k", "replay_k"), "goals"),
        **dict.fromkeys(("goal_selection_strategy", "type"), "strategy"),
    }
)
