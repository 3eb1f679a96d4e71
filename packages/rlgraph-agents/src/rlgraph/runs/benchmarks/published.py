"""What others published: ``published.yaml``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rlgraph.core.specs.documents import read_spec_file
from rlgraph.experience.specs import Spec, parse_spec


class Source(Spec):
    """Who published scores, where (None: here), and how they were measured."""

    title: str
    page: str | None = None
    protocol: str


class Score(Spec):
    """A published mean return.

    Attributes:
        source: a key of the sources.
        mean, std: of the returns.
        steps: environment steps of training.
    """

    source: str
    mean: float | int
    std: float | int | None = None
    steps: int


class Published(Spec):
    """The content of ``published.yaml``.

    Attributes:
        sources: by key.
        scores: environment -> agent -> scores.
        scales: environment -> the returns that become 0 and 1 in profiles.
    """

    sources: dict[str, Source]
    scores: dict[str, dict[str, list[Score]]]
    scales: dict[str, list[float | int]]

    def of(self, environment: str, agent: str) -> list[Score]:
        """The scores of an agent in an environment."""
        return self.scores.get(environment, {}).get(agent, [])


@cache
def published() -> Published:
    """What is shipped."""
    file = Path(__file__).with_name("published.yaml")
    return parse_spec(Published, read_spec_file(file, "published"), "published")
