"""MiniGrid and BabyAI: Chevalier-Boisvert et al. (2023), https://arxiv.org/abs/2306.13831."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rlgraph.core import SpecError
from rlgraph.environments.adapters.gym_env import OpenAIGymEnv

#: Kinds of objects, colours, and states of doors or directions of the agent, of which each field has one.
SIZES = (11, 6, 4)

#: Characters of a mission at most.
LONGEST_MISSION = 500


class MiniGrid(OpenAIGymEnv):
    """An environment of MiniGrid or BabyAI whose view is one-hot.

    A state is the view of the agent ``[7, 7, 21]``, bools: for each field the kind of object, its colour, and the
    state of a door. The view is turned with the agent, so that its direction is left out. Rewards are MiniGrid's:
    ``1 - 0.9 * steps / max_steps`` for reaching the goal.

    Args:
        env_id: such as "MiniGrid-DoorKey-5x5-v0".
        mission: keep the mission: states are a Dict of ``image`` and the text ``mission``, for a network with layers
            `string_to_hash_bucket` and `embedding_lookup`.
        wrappers: see `OpenAIGymEnv`; ``"minigrid.wrappers:FullyObsWrapper"`` shows the whole grid.
        options: see `OpenAIGymEnv`.

    Raises:
        SpecError: MiniGrid is not installed, or the environment has no such view.
    """

    def __init__(
        self, env_id: str, mission: bool = False, wrappers: Sequence[Any] = (), **options: Any
    ) -> None:
        super().__init__(env_id, wrappers=[*wrappers, partial(OneHotView, mission=mission)], **options)


class OneHotView(gymnasium.ObservationWrapper[Any, Any, Any]):
    """The wrapper that makes the view of an environment of MiniGrid one-hot; see `MiniGrid`."""

    def __init__(self, env: gymnasium.Env[Any, Any], mission: bool = False) -> None:
        super().__init__(env)
        given = env.observation_space
        view = given["image"] if isinstance(given, spaces.Dict) and "image" in given.spaces else None
        if view is None or len(view.shape or ()) != 3 or view.shape[-1] != len(SIZES):  # type: ignore[index]
            raise SpecError(
                f"expected an environment of MiniGrid, with a view [rows, columns, 3] as part 'image', given {given}",
                path="MiniGrid.env_id",
            )
        assert isinstance(given, spaces.Dict)
        shape = (*view.shape[:2], sum(SIZES))  # type: ignore[index]
        image = spaces.Box(0, 1, shape, np.bool_)  # type: ignore[arg-type]
        self._mission = mission
        self._offsets = np.cumsum((0, *SIZES[:-1]))
        text = spaces.Text(LONGEST_MISSION, charset=string.printable)
        self.observation_space = spaces.Dict({"image": image, "mission": text}) if mission else image

    def observation(self, observation: Any) -> Any:
        """The one-hot view, with the mission or alone."""
        view = observation["image"]
        image = np.zeros((*view.shape[:2], sum(SIZES)), np.bool_)
        np.put_along_axis(image, view + self._offsets, True, axis=-1)
        return {"image": image, "mission": observation["mission"]} if self._mission else image
