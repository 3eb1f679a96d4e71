"""A task with many actions, few of which are legal."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space

NUM_ACTIONS, NUM_LEGAL, NUM_CUES = 50, 5, 100


class LegalMoves(Environment):
    """The state shows one of 100 cues; 5 of 50 actions are legal then, and one of these is rewarded with 1.

    The next cue is random. An illegal action ends the episode. Episodes are truncated after 20 steps: random legal
    actions have a return of 4, random actions one of 0.02, the best is 20.

    Args:
        masks: whether states have the part ``"action_mask"`` beside ``"observation"``; False: they are the observation.
        seed: the seed of the first reset, unless `reset` is given one. The task itself is always the same.
    """

    LENGTH = 20

    def __init__(self, masks: bool = True, seed: int | None = None) -> None:
        states: Space = FloatBox(0.0, 1.0, shape=(NUM_CUES,))
        if masks:
            states = Dict(observation=states, action_mask=BoolBox(shape=(NUM_ACTIONS,)))
        super().__init__(states, IntBox(NUM_ACTIONS))
        task, self._masks = np.random.default_rng(0), masks
        #: The legal actions of each cue, the rewarded one first.
        self.legal = np.array([task.permutation(NUM_ACTIONS)[:NUM_LEGAL] for _ in range(NUM_CUES)])
        self._rng = np.random.default_rng(seed)
        self._cue, self._steps, self._running = 0, 0, False

    def reset(self, seed: int | None = None) -> Any:
        """A random cue."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._steps, self._running = 0, True
        return self._next_state()

    def _next_state(self) -> Any:
        self._cue = int(self._rng.integers(NUM_CUES))
        return self._state()

    def _state(self) -> Any:
        observation = np.zeros(NUM_CUES, np.float32)
        observation[self._cue] = 1.0
        if not self._masks:
            return observation
        mask = np.zeros(NUM_ACTIONS, bool)
        mask[self.legal[self._cue]] = True
        return {"observation": observation, "action_mask": mask}

    def step(self, action: Any) -> StepResult:
        """The reward of the action, and the next cue; ``info["is_legal"]`` says whether the action was legal."""
        if not self._running:
            raise not_running(self.name)
        self._steps += 1
        legal = self.legal[self._cue]
        is_legal, reward = bool(np.any(legal == action)), float(legal[0] == action)
        is_over = self._steps == self.LENGTH
        self._running = is_legal and not is_over
        return self._next_state(), reward, not is_legal, is_over, {"is_legal": is_legal}

    def get_state(self) -> dict[str, Any] | None:
        """The random numbers, the cue and the step; None before the first reset."""
        if not self._steps and not self._running:
            return None
        return {
            "random": self._rng.bit_generator.state,
            "cue": self._cue,
            "steps": self._steps,
            "running": self._running,
        }

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._rng.bit_generator.state = state["random"]
        self._cue, self._steps, self._running = state["cue"], state["steps"], state["running"]
        return self._state()
