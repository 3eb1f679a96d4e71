"""The glossary of metrics on the documentation page is that of the code."""

from devlib.project import ROOT
from rlgraph.workers.metrics import glossary_table


def test_the_page_is_up_to_date() -> None:
    text = (ROOT / "docs" / "workers.md").read_text(encoding="utf-8")
    page = text.partition("<!-- glossary -->\n")[2].partition("<!-- end -->")[0].strip()
    # The page itself defines one, which is there once the page was run in this process.
    table = "\n".join(line for line in glossary_table().splitlines() if "entropy_of_goals" not in line)
    assert page == table
