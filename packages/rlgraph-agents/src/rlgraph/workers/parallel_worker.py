"""The training loop with environments in processes of their own: they step while the agent acts and updates."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError
from rlgraph.environments.factory import make_process_vector_env
from rlgraph.environments.process_vector_env import ProcessVectorEnv
from rlgraph.environments.stepped_env import stepped
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.workers.course import Course
from rlgraph.workers.halves import AlternatingEnv, Halves
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker


class ParallelWorker(SingleThreadedWorker):
    """Trains an agent in environments that step in processes while it acts, observes and updates.

    The environments are two halves. While the agent acts in one of them the other one steps; while it updates, both
    do; while it observes a round, the first half is in the next one already (see `AlternatingEnv`). Each action is
    therefore chosen with the weights of one update less than by `SingleThreadedWorker`. Nothing depends on what is
    ready first, so that equal seeds give equal runs as long as no environment is restarted.

    For a report, an evaluation, a checkpoint and the end of the steps both halves finish the round and all updates are
    done. A run that ends earlier (a stop condition, episodes, Ctrl-C) leaves out a step of the first half.

    Args:
        agent, env_spec, options: as of `SingleThreadedWorker`; `env_spec` must be one that can be sent to a process.
        num_envs: how many environments; an even number.
        processes: how many processes, an even number; None: as many as there are cores, less one, but two at least.

    Raises:
        SpecError: an option is wrong.
    """

    def __init__(
        self,
        agent: Agent,
        env_spec: Any,
        *,
        num_envs: int = 2,
        num_environments: int | None = None,
        processes: int | None = None,
        vectorization: str = "processes",
        **options: Any,
    ):
        if vectorization not in ("auto", "processes"):
            raise SpecError(
                f"the parallel worker has environments in processes, given {vectorization!r}",
                path="vectorization",
            )
        number = num_envs if num_environments is None else num_environments
        for name, value in (("num_envs", number), ("processes", processes)):
            if value is not None and (not isinstance(value, int) or value < 2 or value % 2):
                raise SpecError(
                    "the parallel worker steps two halves in turn and needs an even number >= 2, "
                    f"given {value!r}",
                    path=name,
                )
        self._is_due = False
        self._results: dict[str, Any] | None = None
        super().__init__(
            agent, env_spec, num_envs=number, processes=processes, vectorization="processes", **options
        )

    def _make_environments(self, limit: int | None) -> VectorEnv:
        spec, half = stepped(self.env_spec, self.frameskip, limit), self.num_envs // 2
        processes = self.processes or max(2, (os.cpu_count() or 1) - 1)

        def make(first_index: int) -> ProcessVectorEnv:
            return make_process_vector_env(
                spec,
                half,
                processes=min(half, processes // 2),
                validate=self.validate,
                step_timeout=self.step_timeout,
                max_restarts=self.max_restarts,
                first_index=first_index,
            )

        first = make(0)
        try:
            return Halves(first, make(half))
        except BaseException:
            first.terminate()
            raise

    def _connect(self) -> tuple[VectorEnv, Callable[..., Any], Callable[..., None]]:
        _, _, observe = super()._connect()
        course, number = self._course, self.num_envs
        first, second = self.vector_env.parts  # type: ignore[attr-defined]
        seen = AlternatingEnv(self.agent, first, second, self._catch_up, lambda: course.goes_on_after(number))
        return seen, seen.act, observe

    def _updater(self) -> Callable[[], dict[str, Any] | None]:
        return self._put_off

    def _put_off(self) -> dict[str, Any] | None:
        """Leaves the update to the time of the next step, unless something is due now; the results of the last one."""
        results, self._results, self._is_due = self._results, None, True
        if self._course.goes_on_after(0):
            return results
        if results is not None:
            self._course.report.add_update(results)
            self._course.stop_if(self._listeners.tell("on_update", self, results))
        self._catch_up()
        results, self._results = self._results, None
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
        self._catch_up()  # one is left where the one before ended the run
        if self._results is not None:
            self._listeners.tell("on_update", self, self._results)
