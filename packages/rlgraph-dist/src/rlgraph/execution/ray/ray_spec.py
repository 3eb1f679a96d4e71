"""The options of executors where RLgraph 0.5 had them: ``execution_spec.ray_spec`` of the agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rlgraph.core import SpecError
from rlgraph.core.errors import Fault, nearest
from rlgraph.core.specs.parameters import parameters_of

_PATH = "agent_config.execution_spec.ray_spec"
_NUMPY = "Actors act on NumPy, with a thread each: leave it out."
_ACTORS = "Actors always do it: leave it out."
_EPSILONS = "The agent 'apex' gives every actor an epsilon of its own: leave it out."

#: Section and key -> option of the executor, ``engine.`` and option of the engine, or a sentence that says what to do.
NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "executor_spec": {
            "redis_address": "engine.address",
            "num_cpus": "engine.num_cpus",
            "num_gpus": "Learners take GPUs by 'execution_spec.device', actors by 'engine.gpus_per_actor'.",
            "num_cpus_per_worker": "engine.cpus_per_actor",
            "num_gpus_per_worker": "engine.gpus_per_actor",
            "num_cpus_per_replay_actor": "Replay shards take no CPU of their own: leave it out.",
            "num_sample_workers": "actors",
            "num_worker_samples": "fragment_length",
            "env_interaction_task_depth": "requests_per_actor",
            "num_replay_workers": "replay_shards",
            "replay_sampling_task_depth": "batches_ahead",
            "learn_queue_size": "Batches are drawn 'batches_ahead': leave it out.",
            "weight_sync_steps": "Weights follow updates: give the executor 'weights_interval'.",
        },
        "worker_spec": {
            "num_worker_environments": "num_envs",
            "num_background_envs": "Give the executor 'processes', the number of processes that step environments.",
            "worker_frame_skip": "frameskip",
            "env_internal_frame_skip": "It is an option of the environment: leave it out.",
            "num_cpus": "engine.cpus_per_actor",
            "execution_spec": _NUMPY,
            "n_step_adjustment": "Replay shards make the transitions: leave it out.",
            "compress_states": "Messages are not compressed: leave it out.",
            "sample_exploration": _EPSILONS,
            "ray_constant_exploration": _EPSILONS,
            "worker_executes_exploration": _ACTORS,
            "worker_executes_preprocessing": _ACTORS,
            "worker_executes_postprocessing": "Replay shards do it: leave it out.",
        },
        "apex_replay_spec": {
            "memory_spec": "Give it as 'memory_spec' of the agent.",
            "min_sample_memory_size": "Give it as 'update_spec.steps_before_update' of the agent.",
            "clip_rewards": "Give it to the environment: 'atari' has it.",
        },
    }
)


def options_of(ray_spec: Any, kind: Callable[..., Any]) -> dict[str, Any]:
    """The options of an executor that a `ray_spec` means; values that are None are left out.

    Args:
        ray_spec: its sections.
        kind: class of the executor.

    Raises:
        SpecError: a key has no such option; says for all of them what to do.
    """
    known = parameters_of(kind).named
    options, engine, faults = dict[str, Any](), dict[str, Any](), list[Fault]()
    for section, values in _mapping(ray_spec, _PATH).items():
        path = f"{_PATH}.{section}"
        if section not in NAMES:
            faults.append(Fault(f"unknown section. {nearest(section, NAMES)}", path))
            continue
        for key, value in _mapping(values, path).items():
            name = NAMES[section].get(key, f"unknown key. {nearest(key, NAMES[section])}")
            if name.endswith((".", "?")):
                faults.append(Fault(name, f"{path}.{key}"))
            elif value is not None and name.startswith("engine."):
                engine[name.removeprefix("engine.")] = value
            elif value is not None and name in known:
                options[name] = value
            elif value is not None:
                faults.append(Fault(f"{kind.__name__} has no {name!r}: leave it out", f"{path}.{key}"))
    if faults:
        raise SpecError(*faults)
    return {**options, "engine": {"type": "ray", **engine}} if engine else options


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SpecError(f"expected a mapping, given {value!r}", path=path)
    return value
