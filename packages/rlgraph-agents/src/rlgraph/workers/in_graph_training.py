"""Training in one program with the environment, in place of the loop of `SingleThreadedWorker`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.core import SpecError
from rlgraph.core.specs.documents import is_json
from rlgraph.environments import environment_seed
from rlgraph.environments.adapters.component_env import environment_component
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.training_program import HostFunctionError, TrainingProgram, reasons_against
from rlgraph.workers.compatibility import check_fits
from rlgraph.workers.listeners import Listeners
from rlgraph.workers.run_schedule import RunSchedule
from rlgraph.workers.worker import Worker

_log = logging.getLogger(__name__)


def in_graph_training(
    agent: BaseAgent, env_spec: Any, num_envs: int, wanted: bool | None, options: Mapping[str, Any]
) -> InGraphTraining | None:
    """The training of an agent in one program with its environment; None: it is stepped from outside.

    Args:
        agent: the agent.
        env_spec: its environment.
        num_envs: number of copies.
        wanted: None: if all of it can be in a program.
        options: name -> value of those options of the worker that have not their defaults; they are for environments
            that are stepped from outside.

    Raises:
        SpecError: it is wanted, and something cannot be in a program.
    """
    if not _is_wanted(agent, env_spec, num_envs, wanted, options):
        return None
    agent.learner.check_environments(num_envs)
    try:
        training = InGraphTraining(agent, env_spec, num_envs)
    except HostFunctionError as error:
        if wanted:
            raise
        _tell_outside([f"{error.function}, a host function"])
        return None
    if agent.executor.backend.name == "torch" and not agent.executor.execution.compile:
        _log.warning(
            "PyTorch steps an environment in its program more slowly than from outside, unless the program is "
            "compiled: give the agent execution_spec={'compile': true}, or the worker in_graph=False"
        )
    return training


def _tell_outside(reasons: list[str]) -> None:
    _log.warning(
        "the environment is stepped from outside of the program, since there is %s", ", ".join(reasons)
    )


def _is_wanted(
    agent: BaseAgent, env_spec: Any, num_envs: int, wanted: bool | None, options: Mapping[str, Any]
) -> bool:
    """Whether there is to be a program, as far as can be said before it is built; see `in_graph_training`."""
    if wanted is False or (environment_component(env_spec) is None and wanted is None):
        return False
    reasons = [*reasons_against(agent, num_envs), *options]
    if environment_component(env_spec) is None:
        reasons = [f"the environment {env_spec!r}, which is no environment component", *reasons]
    if not reasons:
        return True
    if wanted:
        raise SpecError(
            f"{', '.join(reasons)}: cannot be in one program with the environment: leave it out, or give "
            "in_graph=False, which steps the environment from outside",
            path="worker.in_graph",
        )
    _tell_outside(reasons)
    return False


def _program_of(agent: BaseAgent, key: tuple[Any, int], component: EnvironmentComponent) -> TrainingProgram:
    """The program of the agent's last training if that was of the same specs, which takes seconds to compile."""
    if agent.kept_program is not None and agent.kept_program[0] == key:
        kept: TrainingProgram = agent.kept_program[1]
        if type(kept.environment) is type(component):  # its module may have been reloaded
            return kept
    agent.kept_program = None
    program = TrainingProgram.of(agent, component)
    if is_json(key):  # objects may change
        agent.kept_program = deepcopy(key), program
    return program


class InGraphTraining:
    """Trains an agent in copies of an environment component; a rollout of all and its update are one call.

    Reports, evaluations, checkpoints and the end of training come between two calls.

    Args:
        agent: the agent.
        env_spec: the environment component.
        num_envs: number of copies.
    """

    def __init__(self, agent: BaseAgent, env_spec: Any, num_envs: int):
        component = environment_component(env_spec, num_envs)
        assert component is not None
        check_fits(agent, component)
        self.agent, self.num_envs = agent, num_envs
        self.program = _program_of(agent, (env_spec, num_envs), component)

    def run(self, worker: Worker, schedule: RunSchedule, listeners: Listeners) -> None:
        """Train until the schedule is over."""
        if listeners.to("on_step"):
            raise SpecError(
                "expected no callback with on_step, which is called at every step: a program makes many; give "
                "in_graph=False",
                path="callbacks",
            )
        agent, learner = self.agent, self.agent.learner
        with agent.exclusive():
            learner.copy_memory_back(to_write=True)  # of a training whose callback trains
            outer, learner.program = learner.program, self.program
        try:
            with agent.exclusive():
                self._begin(schedule)
            self._train(worker, schedule, listeners)
        finally:  # Ctrl-C and errors keep what was learned from, too
            with agent.exclusive():
                learner.copy_memory_back(to_write=True)
                learner.program = outer

    def _train(self, worker: Worker, schedule: RunSchedule, listeners: Listeners) -> None:
        agent, program, on_update = self.agent, self.program, listeners.to("on_update")
        while not schedule.is_over:
            steps = program.steps
            # Progress is as from outside, where an update follows its last step.
            first, last = schedule.fraction, schedule.fraction_at(schedule.done + steps - self.num_envs)
            with agent.exclusive():
                agent.set_progress(last)
                numbers, episodes = program.run(first, last)
            schedule.done += steps
            worker.timesteps += steps
            self._take_in(worker, schedule, listeners, episodes)
            if on_update and numbers:
                schedule.stop_if(listeners.tell("on_update", worker, numbers))
            if schedule.done >= schedule.next_event:
                worker.do_what_is_due(schedule)

    def _begin(self, schedule: RunSchedule) -> None:
        state = self.agent.continue_with(self.program)
        if state is None or schedule.environments is None:
            agent = self.agent
            self.program.begin(
                environment_seed(agent.seed, 0, agent.timesteps) if agent.timesteps else agent.seed
            )
        else:
            self.program.set_state(state)
        schedule.environments = None

    def _take_in(self, worker: Worker, schedule: RunSchedule, listeners: Listeners, episodes: Any) -> None:
        """Count the episodes that ended, in the order of their steps."""
        for place in zip(*np.nonzero(episodes["ends"]), strict=True):
            ended = float(episodes["returns"][place]), int(episodes["lengths"][place])
            worker.episodes.record(*ended)
            schedule.stop_if(listeners.tell("on_episode", worker, *ended))
        schedule.stop_if(worker.episodes_of_run >= schedule.episodes)
