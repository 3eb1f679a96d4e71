"""What other libraries call the methods of agents and their arguments: unknown names are answered with those here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from rlgraph.core.errors import Fault, OtherNames, SpecError, offer

P = ParamSpec("P")
R = TypeVar("R")

#: Argument -> its name in `Agent.learn`, or a sentence.
IN_LEARN: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "total_timesteps",
                "max_timesteps",
                "num_timesteps",
                "total_steps",
                "num_steps",
                "steps",
                "n_steps",
            ),
            "timesteps",
        ),
        **dict.fromkeys(("environment", "env_spec", "env_id"), "env"),
        "n_envs": "num_envs",
        "callback": "callbacks",
        "log_interval": "report_interval",
        "validate": "validate_states",
        **dict.fromkeys(("eval_freq", "eval_interval"), "evaluation_interval"),
        **dict.fromkeys(("n_eval_episodes", "eval_episodes"), "evaluation_episodes"),
        "eval_env": "Evaluations use new environments like those of training: give 'evaluation_interval'.",
        "save_freq": "checkpoint_interval",
        **dict.fromkeys(("tensorboard_log", "tb_log_name", "log_path", "eval_log_path", "log_dir"), "folder"),
        "verbose": "progress_bar",
        "reset_num_timesteps": "Every call continues the count of steps: leave it out.",
    }
)

#: Argument -> its name in `Agent.evaluate`, or a sentence.
IN_EVALUATE: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(("n_eval_episodes", "n_episodes", "num_episodes", "eval_episodes"), "episodes"),
        **dict.fromkeys(("environment", "env_spec", "env_id", "eval_env"), "env"),
        **dict.fromkeys(("n_envs", "num_environments"), "num_envs"),
        **dict.fromkeys(("explore", "use_exploration", "sample"), "stochastic"),
        **dict.fromkeys(("record_video", "video_folder", "video_path", "render"), "video"),
        **dict.fromkeys(("deterministic", "greedy"), "Give 'stochastic', which is the opposite."),
    }
)


def hint_unknown_arguments(
    other_names: OtherNames, options: Callable[[], Iterable[str]] = tuple
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function refuse unknown keyword arguments with the name that they have here.

    Args:
        other_names: what other libraries call the arguments.
        options: gives the names that its ``**`` parameter takes.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(function).parameters.values()
        named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        named.remove("self")

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            known = {*named, *options()} if kwargs.keys() - named else named
            faults = [
                Fault(
                    f"there is no such argument. {offer(key, known, other_names)}",
                    f"{function.__name__}.{key}",
                )
                for key in kwargs
                if key not in known
            ]
            if faults:
                raise SpecError(*faults)
            return function(*args, **kwargs)

        return checked

    return decorate


#: The processes of IMPALA had API methods of their own in RLgraph 0.5.
_PARTS = ("actor", "learner", "single")

#: Methods and attributes of agents in other libraries, and in RLgraph 0.5.
OF_AN_AGENT: OtherNames = MappingProxyType(
    {
        "predict": "Call get_actions(states, use_exploration=False).",
        "save": "store_model",
        "set_parameters": "set_weights",
        "get_parameters": "get_weights",
        "set_env": "Give env to learn or evaluate.",
        "get_env": "env_spec",
        "num_timesteps": "timesteps",
        "set_logger": "Give folder to learn, which writes metrics and TensorBoard events.",
        "train": "learn",
        **dict.fromkeys(
            ("define_graph_api", "define_api_methods", *(f"define_api_methods_{of}" for of in _PARTS)),
            "An algorithm has API methods instead: see rlgraph.agents.Algorithm.",
        ),
        "policy": "Its weights are those below policy in get_weights(); its layers are agent.network.",
    }
)
