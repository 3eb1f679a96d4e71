"""What options, attributes and ids of environments were called: they are answered with what there is now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from rlgraph.core.errors import OtherNames

_VIDEO = "Give learn(folder=FOLDER) for the record of a run, and evaluate(video=FOLDER) for videos."

_ATARI_HAS_IT = 'Atari\'s environments have it: {"type": "atari", "game": GAME}.'
_STEPPER = "An EnvironmentStepper calls reset and step."
_FIELDS = "The number of a field is x * env.n_row + y."
_STATES = "Each step gives a new state; env.render() a picture."

#: Option of `OpenAIGymEnv` -> its name, or a sentence.
OF_GYM: OtherNames = MappingProxyType(
    {
        **dict.fromkeys(("monitor", "monitor_safe", "monitor_video"), _VIDEO),
        **dict.fromkeys(("max_num_noops", "episodic_life", "fire_reset"), _ATARI_HAS_IT),
        "noop_action": f"It is always 0. {_ATARI_HAS_IT}",
    }
)

#: Class -> its attribute -> a sentence.
OF_ENVIRONMENTS: Mapping[str, OtherNames] = MappingProxyType(
    {
        "Environment": {
            **dict.fromkeys(
                ("reset_for_env_stepper", "step_for_env_stepper", "reset_flow", "step_flow"), _STEPPER
            ),
            "seed": "Call reset(seed=...).",
        },
        "OpenAIGymEnv": {
            **dict.fromkeys(("episodic_reset", "noop_reset"), f"It is a part of reset. {_ATARI_HAS_IT}"),
            "noop_action": f"It is always 0. {_ATARI_HAS_IT}",
        },
        "GridWorld": {
            "get_discrete_pos": _FIELDS,
            "set_discrete_pos": "Give it to step.",
            "get_possible_next_positions": "Moves are certain: step(action, set_discrete_pos=FIELD) makes one.",
            **dict.fromkeys(("refresh_state", "update_cam_pixels"), _STATES),
        },
    }
)

#: The ids of Atari's games in Gym, which had no ``ALE/``.
_ATARI = re.compile(
    "(Adventure|AirRaid|Alien|Amidar|Assault|Asterix|Asteroids|Atlantis|BankHeist|BattleZone|BeamRider|"
    "Berzerk|Bowling|Boxing|Breakout|Carnival|Centipede|ChopperCommand|CrazyClimber|Defender|"
    "DemonAttack|DoubleDunk|ElevatorAction|Enduro|FishingDerby|Freeway|Frostbite|Gopher|Gravitar|Hero|"
    "IceHockey|Jamesbond|JourneyEscape|Kangaroo|Krull|KungFuMaster|MontezumaRevenge|MsPacman|"
    "NameThisGame|Phoenix|Pitfall|Pong|Pooyan|PrivateEye|Qbert|Riverraid|RoadRunner|Robotank|Seaquest|"
    "Skiing|Solaris|SpaceInvaders|StarGunner|Tennis|TimePilot|Tutankham|UpNDown|Venture|VideoPinball|"
    "WizardOfWor|YarsRevenge|Zaxxon)"
    "(-ram)?(NoFrameskip|Deterministic)?-v[04]"
)


def atari_id(gym_id: str) -> str | None:
    """The id of the game that had the id `gym_id` in Gym, such as ``BreakoutNoFrameskip-v4``; None: it is none."""
    game = _ATARI.fullmatch(gym_id)
    return f"ALE/{game[1]}-v5" if game else None
