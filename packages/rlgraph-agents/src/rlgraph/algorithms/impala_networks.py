"""The networks of Espeholt et al. (2018), https://arxiv.org/abs/1802.01561, for the states of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components import LargeIMPALANetwork, SmallIMPALANetwork
from rlgraph.components.preprocessing.text_codes import is_text
from rlgraph.core import SpecError
from rlgraph.environments.masked_states import OBSERVATION
from rlgraph.experience.previous_steps import PREVIOUS
from rlgraph.spaces import Dict, Space

NETWORKS = {"small_impala_network": SmallIMPALANetwork, "large_impala_network": LargeIMPALANetwork}
#: Parts of states that are the action and the reward before them.
_PREVIOUS_PARTS = ("previous_action", "previous_reward")


def is_impala_network(spec: Any) -> bool:
    """Whether a spec is that of one of these networks."""
    kind = spec.get("type") if isinstance(spec, Mapping) else spec
    return isinstance(kind, str | type) and (kind in NETWORKS or kind in NETWORKS.values())


def with_keys(space: Space, spec: Any) -> dict[str, Any]:
    """The spec of one of these networks with the keys that it does not give, for states of `space`.

    The image is the only part with three axes, and the instruction the only text. The network sees the previous action
    and reward if the agent adds them to its states (``previous_action_and_reward``), or the states have both parts.

    Raises:
        SpecError: there is no image or several, there are several texts, or a part of the states would not be used.
    """
    given = dict(spec) if isinstance(spec, Mapping) else {"type": spec}
    leaves = space.flatten()
    is_seen = isinstance(space, Dict) and set(space) == {OBSERVATION, PREVIOUS}
    for name in ("image_key", "text_key"):
        inner = f"{OBSERVATION}/{given.get(name)}"
        if is_seen and given.get(name) not in leaves and inner in leaves:
            given[name] = inner
    if "previous_keys" not in given:
        both = isinstance(space, Dict) and set(_PREVIOUS_PARTS) <= set(space)
        given["previous_keys"] = [PREVIOUS] if is_seen else list(_PREVIOUS_PARTS) if both else []
    if "text_key" not in given:
        texts = [path for path, box in leaves.items() if is_text(box)]
        given["text_key"] = _the_only(texts, "text_key", "texts", space) if texts else None
    if "image_key" not in given:
        images = [path for path, box in leaves.items() if box.rank == 3 and not is_text(box)]
        given["image_key"] = _the_only(images, "image_key", "images [H, W, C]", space)
        used = {given["image_key"], given["text_key"], *given["previous_keys"]}
        if unused := [path for path in leaves if not used & {path, path.partition("/")[0]}]:
            raise SpecError(
                f"{given['type']} takes an image, an instruction, and the previous action and reward; given {space!r}, "
                f"it would not see {', '.join(unused)}: leave them out of the states, or give image_key to do without",
                path="network_spec",
            )
    return given


def _the_only(paths: list[str], key: str, what: str, space: Space) -> str:
    if len(paths) != 1:
        raise SpecError(
            f"expected states with one of {what}, given {', '.join(paths) or 'none'} in {space!r}"
            + (f": choose one with {key}" if paths else ""),
            path="network_spec",
        )
    return paths[0]
