"""The page of speed shows what was measured in the graph."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPORTS = json.loads((ROOT / "docs" / "results" / "in_graph_speed.json").read_text(encoding="utf-8"))


def test_the_table_is_that_of_the_rounds():
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    for report in REPORTS:
        rows = {row["name"].partition(", ")[2]: row for row in report["rows"]}
        outside, inside = rows["from outside"], rows["in the graph"]
        assert len(inside["figure"]["rounds"]) >= 3
        beside = rows.get("in the graph, beside rejax")
        told = "" if beside is None else f"{beside['ratio']['median']:.1f}"
        line = (
            f"| {report['agent']}, {report['copies']} copies, {report['backend']} "
            f"| {outside['figure']['median']:,.0f} | {inside['figure']['median']:,.0f} "
            f"| {inside['ratio']['median']:.1f} | {told} |"
        )
        assert line in page
