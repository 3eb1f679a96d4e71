"""Agents as people name them: they learn, evaluate and load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsIndex

from rlgraph.agents.method_hints import IN_EVALUATE, IN_LEARN, OF_AN_AGENT, hint_unknown_arguments
from rlgraph.core import SpecError
from rlgraph.core.name_hints import NameHints
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.learning.acting_arguments import as_flag
from rlgraph.learning.base_agent import BaseAgent

if TYPE_CHECKING:
    from rlgraph.workers.callbacks import Callback
    from rlgraph.workers.evaluation import Evaluation
    from rlgraph.workers.results import TrainingResult

# Workers and runs are imported when they are used, so that an agent that only acts does not wait for them.


def _worker_options() -> set[str]:
    """The arguments of the worker that `Agent.learn` takes."""
    from rlgraph.workers import SingleThreadedWorker

    return parameters_of(SingleThreadedWorker).named.keys() - {"agent", "env_spec"}


class Agent(NameHints, BaseAgent):
    """Acts, observes and learns; see `rlgraph.learning.base_agent.BaseAgent` for all but what runs it in environments.

    A subclass names an algorithm, and has its options and those of its experience; `of` makes it.

    ``SomeAgent(spec, state_space=..., action_space=...)`` with a mapping or a file's name is `from_spec`, and so is
    ``SomeAgent(env=..., ...)`` without Spaces.
    """

    _name_hints = MappingProxyType({"Agent": OF_AN_AGENT})
    refused_when_terminated = (*BaseAgent.refused_when_terminated, "learn", "evaluate")

    @hint_unknown_arguments(IN_LEARN, _worker_options)
    def learn(
        self,
        timesteps: int | None = None,
        *,
        updates: int | None = None,
        data: str | Path | None = None,
        env: Any = None,
        num_envs: int | None = None,
        callbacks: Callback | Callable[..., Any] | list[Any] | None = None,
        stop: Callback | list[Callback] | None = None,
        progress_bar: bool = False,
        folder: str | Path | None = None,
        wandb: Mapping[str, Any] | None = None,
        **worker_options: Any,
    ) -> TrainingResult:
        """Train in an environment, or offline; a thin front of `rlgraph.workers`.

        Args:
            timesteps: environment steps, over all environments, of which N step together: up to N - 1 more are done; in
                one program with the environment up to one call more.
            updates: in place of `timesteps`: updates from the memory, without an environment.
            data: with `updates`, a data set that is put into the memory first: see `import_observations`.
            env: environment spec, environment or vector environment; default: the one given to `from_spec`.
            num_envs: number of environments; default: that of the vector environment or the agent's preset, else 1.
            callbacks: objects whose methods are called at events (`rlgraph.workers.Callback`). A function of ``(worker,
                metrics)`` is called at every report, and stops training by returning False.
            stop: conditions that end it earlier; see `rlgraph.workers.stopping`.
            progress_bar: show a live line (`rlgraph.workers.LiveProgress`).
            folder: a run folder to write, as ``rlgraph train`` does: metrics, episodes, evaluations, checkpoints. An
                earlier run there is moved aside. Options of the worker then have the defaults of a run.
            wandb: with `folder`, log to Weights & Biases as well: ``{"project": ...}`` (`rlgraph.runs.WandbSpec`).
            worker_options: further arguments of the worker; default: those of the agent's preset, in its environment.

        Raises:
            SpecError: an option is wrong; or with `folder`, the agent or the environment has no JSON form.
        """
        from rlgraph.workers import LiveProgress, SingleThreadedWorker, learn_offline
        from rlgraph.workers.listeners import as_list

        shown = as_flag("learn", "progress_bar", progress_bar)
        if timesteps is None or updates is not None or data is not None:
            run = {"num_envs": num_envs, "callbacks": callbacks, "stop": stop, "progress_bar": shown or None}
            other = {"timesteps": timesteps, "env": env, **run, "folder": folder, "wandb": wandb}
            return learn_offline(self, updates, data, {**other, **worker_options})
        if num_envs is not None:
            worker_options["num_envs"] = num_envs
        if env is None and self.preset is not None:
            worker_options = {**self.preset.worker_options, **worker_options}
        if wandb is not None and folder is None:
            raise SpecError("expected folder= beside it, the folder of the run", path="learn.wandb")
        told, environment = [*as_list(callbacks), *as_list(stop, "stop")], self._environment(env)
        with LiveProgress() if shown else nullcontext() as progress:
            listening = [*as_list(progress), *told]
            if folder is not None:
                from rlgraph.runs.training import record

                options = {**worker_options, "wandb": wandb}
                return record(self, environment, timesteps, folder, options, listening).training
            worker = SingleThreadedWorker(self, environment, **worker_options)
            try:
                return worker.execute_timesteps(timesteps, callbacks=listening)
            finally:
                worker.terminate()

    @hint_unknown_arguments(IN_EVALUATE)
    def evaluate(
        self,
        episodes: int = 10,
        *,
        env: Any = None,
        num_envs: int | None = None,
        seed: int | None = None,
        stochastic: bool = False,
        video: str | Path | None = None,
    ) -> Evaluation:
        """Play whole episodes, greedily by default; nothing is observed or learned.

        Args:
            episodes: how many.
            env: environment spec, of which fresh environments are made, or an environment or vector environment, which
                is reset; default: the one given to `from_spec`.
            num_envs: environments that are stepped together; default: 10. Each plays its share of the episodes.
            seed: root seed of the environments and of drawn actions; default: derived from the agent's.
            stochastic: draw actions as in training: from the policy, or with the present exploration.
            video: a ``.gif`` or ``.mp4`` (extra ``video``) to record the first episode in.
        """
        from rlgraph.workers import evaluate

        seed = self.seed + 1_000_003 if seed is None else seed
        env = self._environment(env)
        return evaluate(self, env, episodes, seed, num_envs=num_envs, stochastic=stochastic, video=video)

    def _environment(self, env: Any) -> Any:
        spec = self.env_spec if env is None else env
        if spec is None:
            raise SpecError("the agent has no environment: give env= here or to Agent.from_spec")
        return spec

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "an agent holds programs, and is neither pickled nor copied: store_model(folder) and Agent.load(folder) "
            "make another one, and ActorHandle.of(agent) acts with a copy of its weights"
        )

    @classmethod
    def load(cls, path: str | Path, backend: str | None = None) -> Self:
        """The agent of a run, or that of a checkpoint; both know their agent's spec.

        Args:
            path: a run folder, of which the policy that the run ended with is taken; or a checkpoint.
            backend: name of a backend; default: the one that was used.

        Raises:
            CheckpointError: `path` is neither, is damaged, or the checkpoint does not know its agent's spec.
            SpecError: it is another kind of agent, or it names a module that may not be imported.
        """
        from rlgraph.runs.loading import load

        return load(path, backend, cls)

    def load_weights(self, path: str | Path, *, only: str | Sequence[str] | None = None) -> list[str]:
        """As `BaseAgent.load_weights`, of a run folder too: of the policy that the run ended with.

        Raises:
            CheckpointError: `path` is neither a run folder nor a checkpoint, or is damaged.
        """
        from rlgraph.runs.loading import policy_checkpoint

        return super().load_weights(policy_checkpoint(Path(path)), only=only)
