"""What options and ids of environments were called: unknown ones are answered with what there is now."""

from __future__ import annotations

import re
from types import MappingProxyType

from rlgraph.core.errors import OtherNames

_VIDEO = "Give learn(folder=FOLDER) for the record of a run, and evaluate(video=FOLDER) for videos."

#: Option of `OpenAIGymEnv` -> its name, or a sentence.
OF_GYM: OtherNames = MappingProxyType(dict.fromkeys(("monitor", "monitor_safe", "monitor_video"), _VIDEO))

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
