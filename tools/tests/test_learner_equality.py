"""What the page on groups of learners says of equal results."""

from __future__ import annotations

import json

from devlib.project import ROOT
from rlgraph.agents.conformance.learner_groups import CASES

RESULTS = json.loads((ROOT / "docs" / "results" / "learner_equality.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "learner_groups.md").read_text(encoding="utf-8")


def test_every_case_is_equal_on_every_collective() -> None:
    assert RESULTS.keys() == {"torch gloo", "torch horovod", "tf horovod", "tf tensorflow"}
    for group in RESULTS.values():
        assert group["updates"] == 100 and not group["git"]["dirty"]
        assert group["differences"].keys() == CASES.keys()
        assert max(max(kinds.values()) for kinds in group["differences"].values()) < 1e-10


def test_the_page_has_the_differences() -> None:
    order = ("torch gloo", "torch horovod", "tf tensorflow", "tf horovod")
    for case in CASES:
        largest = [max(RESULTS[group]["differences"][case].values()) for group in order]
        assert f"| {' | '.join(f'{each:.0e}' for each in largest)} |" in PAGE
