"""Whether an agent and an environment belong together."""

from __future__ import annotations

from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.core import SpecError
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.spaces import BoxSpace, IntBox, Space


def check_fits(agent: BaseAgent, environment: VectorEnv | EnvironmentComponent) -> None:
    """Whether the agent was made for states and actions such as those of the environment.

    Structure, shapes, kinds of numbers and categories have to agree; other bounds may differ: they are learned.

    Raises:
        SpecError: they do not; says which Space differs.
    """
    name = (
        type(environment).__name__
        if isinstance(environment, EnvironmentComponent)
        else environment.describe(0).partition(",")[0]
    )
    for what, own, other in (
        ("states", agent.state_space, environment.state_space),
        ("actions", agent.action_space, environment.action_space),
    ):
        made_for, given = _form(own), _form(other)
        if made_for != given:
            parts = sorted(p for p in made_for.keys() | given.keys() if made_for.get(p) != given.get(p))
            where = f" (they differ in {', '.join(map(repr, parts))})" if any(parts) else ""
            raise SpecError(
                f"the agent does not fit the environment {name}: it was made for "
                f"{what} {own!r}, and those of the environment are {other!r}{where}; "
                "make the agent with env= this environment"
            )


def _form(space: Space) -> dict[str, object]:
    return {path: _leaf_form(box) for path, box in space.flatten().items()}


def _leaf_form(box: BoxSpace) -> tuple[object, ...]:
    if not isinstance(box, IntBox):
        return type(box), box.shape
    low, high = box.low, box.high
    if box.dtype == "uint8":  # without bounds it has those of its dtype
        low, high = 0 if low is None else low, 256 if high is None else high
    return type(box), box.shape, str(low), str(high)
