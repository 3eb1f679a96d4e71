"""The training loop with environments in processes of their own: they step while the agent updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError
from rlgraph.environments.factory import make_vector_env
from rlgraph.environments.process_vector_env import STEP_TIMEOUT, ProcessVectorEnv
from rlgraph.environments.restarts import MAX_RESTARTS
from rlgraph.environments.stepped_env import stepped
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult
from rlgraph.workers.course import Course
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker


class ParallelWorker(SingleThreadedWorker):
    """Trains an agent in environments that step in processes while it updates.

    The actions of a step are sent; then comes the update that the step before made due; then the results are received.
    A step takes as long as the slower of the two and not both. Each action is therefore chosen with the weights of one
    update less than by `SingleThreadedWorker`; nothing depends on which of the two is ready first, so that equal seeds
    give equal runs as long as no environment is restarted. All updates are done before an evaluation, a checkpoint and
    the end.

    Args:
        agent, env_spec, options: as of `SingleThreadedWorker`; `env_spec` must be one that can be sent to a process.
        processes: how many; None: as many as there are cores, less one.
        step_timeout: seconds after which an environment hangs; None: any time.
        max_restarts: how often each environment may be replaced after a crash.

    Raises:
        SpecError: an option is wrong.
    """

    def __init__(
        self,
        agent: Agent,
        env_spec: Any,
        *,
        processes: int | None = None,
        step_timeout: float | None = STEP_TIMEOUT,
        max_restarts: int = MAX_RESTARTS,
        vectorization: str = "processes",
        **options: Any,
    ):
        if vectorization not in ("auto", "processes"):
            raise SpecError(
                f"vectorization: the parallel worker has environments in processes, given {vectorization!r}"
            )
        self.processes, self.step_timeout, self.max_restarts = processes, step_timeout, max_restarts
        self._is_due = False
        self._results: dict[str, Any] | None = None
        super().__init__(agent, env_spec, vectorization="processes", **options)

    def _make_environments(self, limit: int | None) -> VectorEnv:
        spec = stepped(self.env_spec, self.frameskip, limit)
        environments = make_vector_env(
            spec,
            self.num_envs,
            "processes",
            validate=self.validate,
            processes=self.processes,
            step_timeout=self.step_timeout,
            max_restarts=self.max_restarts,
        )
        assert isinstance(environments, ProcessVectorEnv)
        return _Meanwhile(environments, self._catch_up)

    def _updater(self) -> Callable[[], dict[str, Any] | None]:
        return self._put_off

    def _put_off(self) -> dict[str, Any] | None:
        """Leaves the update to the time of the next step; the results of the last one."""
        self._is_due, results, self._results = True, self._results, None
        return results

    def _catch_up(self) -> None:
        """The update that was put off."""
        if self._is_due:
            self._is_due = False
            self._results = self.agent.update_if_due()

    def _finish_update(self) -> None:
        """Do the update that was put off, and report it now: a resumed run could not do so later."""
        self._catch_up()
        results, self._results = self._results, None
        if results is not None:
            self._course.report.add_update(results)
            self._course.stop_if(self._listeners.tell("on_update", self, results))

    def _run(self, course: Course, use_exploration: bool) -> None:
        self._is_due, self._results = False, None
        super()._run(course, use_exploration)
        self._finish_update()

    def _evaluate(self) -> bool:
        self._finish_update()
        return super()._evaluate()

    def _checkpoint(self, vector: VectorEnv, course: Course, states: Any) -> Any:
        self._finish_update()
        return super()._checkpoint(vector, course, states)


class _Meanwhile(VectorEnv):
    """Environments in processes, with something to do while they step."""

    def __init__(self, vector: ProcessVectorEnv, do: Callable[[], None]):
        self.vector, self._do = vector, do
        self.num_environments = vector.num_environments
        self.state_space, self.action_space = vector.state_space, vector.action_space
        self.finished = []

    def reset(self, seed: int | None = None) -> Any:
        self.finished, self.dropped = [], ()
        return self.vector.reset(seed)

    def step(self, actions: Any) -> VectorStepResult:
        self.vector.send(actions)
        self._do()
        result = self.vector.receive()
        self.finished, self.dropped = self.vector.finished, self.vector.dropped
        self.restarts = self.vector.restarts
        return result

    @property
    def final_states(self) -> Any:
        return self.vector.final_states

    def describe(self, index: int) -> str:
        return self.vector.describe(index)

    def render(self, index: int = 0) -> Any:
        return self.vector.render(index)

    def get_states(self) -> list[Any] | None:
        return self.vector.get_states()

    def set_states(self, states: Any) -> Any:
        self.finished, self.dropped = [], ()
        return self.vector.set_states(states)

    def terminate(self) -> None:
        self.vector.terminate()
