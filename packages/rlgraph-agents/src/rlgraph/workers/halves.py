"""Two vector environments behind one `reset` and one `step`, and one that acts in a half while the other one steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.environments.process_vector_env import ProcessVectorEnv
from rlgraph.environments.rows import Rows, join_rows, slice_rows
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult
from rlgraph.workers.preprocessed_env import PreprocessedVectorEnv


class Halves(VectorEnv):
    """Two halves of N environments as one `VectorEnv`; what it returns are copies.

    Args:
        first, second: with N/2 environments each and equal Spaces.
    """

    def __init__(self, first: VectorEnv, second: VectorEnv):
        self.parts = (first, second)
        self.half = first.num_environments
        self.num_environments = 2 * self.half
        self.rows = (slice(0, self.half), slice(self.half, 2 * self.half))
        self.state_space, self.action_space = first.state_space, first.action_space
        self.finished = []

    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode everywhere; `seed` goes to both, as they know their first index."""
        return self._begin([part.reset(seed) for part in self.parts])

    def step(self, actions: Any) -> VectorStepResult:
        return self.join(
            [part.step(slice_rows(actions, rows)) for part, rows in zip(self.parts, self.rows, strict=True)]
        )

    def join(self, results: Sequence[VectorStepResult]) -> VectorStepResult:
        """The result of a step of all, from those of the halves."""
        self.finished, self.dropped, self.idle = (self._all(name) for name in ("finished", "dropped", "idle"))
        states, rewards, terminated, truncated, infos = zip(*results, strict=True)
        return (
            join_rows(states),
            join_rows(rewards),
            join_rows(terminated),
            join_rows(truncated),
            [*infos[0], *infos[1]],
        )

    def _all(self, name: str) -> list[int]:
        first, second = (getattr(part, name) for part in self.parts)
        return [*first, *(self.half + i for i in second)]

    def _begin(self, states: Sequence[Rows]) -> Rows:
        self.finished, self.dropped, self.idle = [], (), ()
        return join_rows(states)

    @property
    def final_states(self) -> Rows:
        return join_rows([part.final_states for part in self.parts])

    @property
    def restarts(self) -> int:  # type: ignore[override]
        return sum(part.restarts for part in self.parts)

    def describe(self, index: int) -> str:
        return self.parts[index // self.half].describe(index % self.half)

    def render(self, index: int = 0) -> Any:
        return self.parts[index // self.half].render(index % self.half)

    def get_states(self) -> list[Any] | None:
        states = [part.get_states() for part in self.parts]
        return None if states[0] is None or states[1] is None else states[0] + states[1]

    def set_states(self, states: Sequence[Any]) -> Rows:
        return self._begin(
            [part.set_states(states[rows]) for part, rows in zip(self.parts, self.rows, strict=True)]
        )

    def terminate(self) -> None:
        for part in self.parts:
            part.terminate()


class AlternatingEnv(Halves):
    """Halves as an agent sees them that acts in one of them while the other one steps.

    A round of `act` and `step` is one step of all environments, as with any `VectorEnv`. In between:

    1. `act`: the agent acts in the second half (and in the first one, if it has not yet); its environments are sent
       off. Both halves step now.
    2. `step`: `meanwhile` is called; the first half is received; the agent acts there for the next round and sends it
       off; the second half is received while the first one steps already.

    The order is always the same, and never follows what is ready first.

    Args:
        agent: acts; with a preprocessor, `states` and `final_states` are preprocessed.
        first, second: the environments.
        meanwhile: done while all environments step.
        may_go_ahead: whether the first half may begin the next round. If not, both halves are where the round ended.
    """

    def __init__(
        self,
        agent: Agent,
        first: ProcessVectorEnv,
        second: ProcessVectorEnv,
        meanwhile: Callable[[], None],
        may_go_ahead: Callable[[], bool],
    ):
        self._halves = (_Half(agent, first, 0), _Half(agent, second, first.num_environments))
        super().__init__(self._halves[0].seen, self._halves[1].seen)
        self._meanwhile, self._may_go_ahead = meanwhile, may_go_ahead

    def act(self, states: Rows, use_exploration: bool, apply_preprocessing: bool) -> Any:
        """The actions of this round `[N, ...]`, as `Agent.get_actions`; the environments are doing them."""
        self._act = (use_exploration, apply_preprocessing)
        for half, rows in zip(self._halves, self.rows, strict=True):
            if half.actions is None:
                half.act(slice_rows(states, rows), *self._act)
        return join_rows([half.actions for half in self._halves])

    def step(self, actions: Any) -> VectorStepResult:
        """What came of the actions that `act` returned."""
        self._meanwhile()
        first, second = self._halves
        result = first.receive()
        if self._may_go_ahead():
            first.act(result[0], *self._act)
        return self.join([result, second.receive()])

    def _begin(self, states: Sequence[Rows]) -> Rows:
        for half in self._halves:
            half.actions = None
        return super()._begin(states)


class _Half:
    """One half: `actions` were sent and not yet received, if there are any."""

    def __init__(self, agent: Agent, vector: ProcessVectorEnv, first_index: int):
        self._agent, self._vector = agent, vector
        self._preprocessed = (
            None if agent.preprocessing is None else PreprocessedVectorEnv(vector, agent, "env", first_index)
        )
        self.seen: VectorEnv = self._preprocessed or vector
        self.actions: Any = None

    def act(self, states: Rows, use_exploration: bool, apply_preprocessing: bool) -> None:
        self.actions = self._agent.get_actions(states, use_exploration, apply_preprocessing)
        self._vector.send(self.actions)

    def receive(self) -> VectorStepResult:
        self.actions, result = None, self._vector.receive()
        return result if self._preprocessed is None else self._preprocessed.see(result)
