"""The page of an API method: plan, values, sources with their helpers, papers; as text, Markdown and HTML."""

import re
from html.parser import HTMLParser

import pytest

from rlgraph.core import RLGraphError, assemble
from rlgraph.draw import method_page, plan_text
from rlgraph.draw.pages import Bullets, Code, Heading, Page, Prose, Table
from rlgraph.draw.papers import cited


def headings(page, level):
    return [block.text for block in page.blocks if isinstance(block, Heading) and block.level == level]


def test_an_update(dqn):
    page = method_page(dqn, "update_from_memory")
    assert page.title == "dqn.update_from_memory"
    assert headings(page, 2) == ["Plan", "Values", "Functions", "Helper functions", "Papers"]
    text = page.text()
    assert "def update_from_memory(num_records):" in text
    # Each function once, however many components call it.
    assert text.count("def _call(self, ops: Any, inputs: Any)") == 1
    assert re.search(r"called for `policy/network/dense-0`.*`target-policy/network/dense-0`", text)
    # What a graph function calls is there with its paper; and what that calls.
    for helper in ("q_learning_target", "double_q_next_values", "action_values", "dueling_q_values", "adam"):
        assert f"    def {helper}(" in text
    assert "* van Hasselt et al. (2016), https://arxiv.org/abs/1509.06461\n" in text
    assert "* Kingma and Ba (2015), https://arxiv.org/abs/1412.6980\n" in text


def test_every_value_of_the_plan_has_its_type(dqn):
    page = method_page(dqn, "update_from_memory")
    (table,) = (block for block in page.blocks if isinstance(block, Table))
    types = {name: (made_by, kind) for name, made_by, kind in table.rows}
    assigned = set(
        re.findall(r"^    (v\d+(?:_\d+)?)[, ]", plan_text(dqn, "update_from_memory"), re.MULTILINE)
    )
    assert assigned and assigned <= set(types)
    assert ("loss._loss", "float32[]") in types.values()
    assert types["num_records"] == ("the caller", "IntBox()")


def test_a_plan_without_papers_and_helpers(two):
    page = method_page(two, "run")
    assert headings(page, 2) == ["Plan", "Values", "Functions"]
    assert "return 2.0 * inputs" in page.text()
    assert Prose("`double` behind `adder`.") in page.blocks


def test_wrong_arguments(two, unbuilt):
    with pytest.raises(RLGraphError, match=r"two has no API method 'rum'\. Did you mean 'run'\?"):
        method_page(two, "rum")
    with pytest.raises(RLGraphError, match="a plan needs a build"):
        method_page(assemble(unbuilt), "run")


PAGE = Page(
    (
        Heading("Title <1>", 1),
        Prose("One `a < b` and https://example.org/x."),
        Code("if a:\n    b()\n"),
        Table(("name", "type"), (("x|y", "float32[B]"), ("longer", ""))),
        Bullets(("one", "two")),
    )
)


def test_text():
    assert PAGE.text() == (
        "Title <1>\n=========\n\nOne `a < b` and https://example.org/x.\n\n    if a:\n        b()\n\n"
        "name    type\nx|y     float32[B]\nlonger\n\n* one\n* two\n"
    )


def test_markdown():
    assert PAGE.markdown() == (
        "# Title <1>\n\nOne `a < b` and https://example.org/x.\n\n```python\nif a:\n    b()\n```\n\n"
        "| name | type |\n| --- | --- |\n| `x\\|y` | `float32[B]` |\n| `longer` |  |\n\n* one\n* two\n"
    )


def test_html():
    page = PAGE.html()
    assert "<h1>Title &lt;1&gt;</h1>" in page and "<title>Title &lt;1&gt;</title>" in page
    assert "<code>a &lt; b</code>" in page and '<a href="https://example.org/x">' in page

    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open = []

        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    tags = Tags()
    tags.feed(page)
    assert tags.open == []


@pytest.mark.parametrize(
    ("name", "begin"), [("p.txt", "Title"), ("p.md", "# Title"), ("p.html", "<!doctype")]
)
def test_files(tmp_path, name, begin):
    PAGE.save(tmp_path / name)
    assert (tmp_path / name).read_text().startswith(begin)


def test_another_suffix(tmp_path):
    with pytest.raises(
        RLGraphError, match=r"the suffix of a page must be one of .md, .html, .txt, given 'p.pdf'"
    ):
        PAGE.save(tmp_path / "p.pdf")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Huber (1964).", ["Huber (1964)"]),
        ("(Kingma and Ba, 2015, Algorithm 1)", ["Kingma and Ba (2015)"]),
        (
            "DQN, Mnih et al. (2015), https://a.org/x. Soft: van Hasselt et al. (2016),\n  https://b.org.",
            ["Mnih et al. (2015), https://a.org/x", "van Hasselt et al. (2016), https://b.org"],
        ),
        ("(Lin, 1992; Mnih et al., 2015)", ["Lin (1992)", "Mnih et al. (2015)"]),
        ("Adam in 2015 of https://a.org and 4096 rows", []),
    ],
)
def test_citations(text, expected):
    assert [str(paper) for paper in cited([text])] == expected


def test_an_address_given_once_is_enough():
    (paper,) = cited(["Mnih et al. (2015)", "(Mnih et al., 2015, https://a.org)", "Mnih et al. (2015)"])
    assert paper.address == "https://a.org"
