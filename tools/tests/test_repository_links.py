"""Links to the source lead to this project's repository, whose address is one setting of the documentation."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
#: Repositories of the original RLgraph.
FOREIGN = re.compile(
    r"(?:github\.com|raw\.githubusercontent\.com)/rl(?:graph|core|-graph)(?:/|\b)", re.IGNORECASE
)


def texts():
    for folder in ("docs", "packages", "tools"):
        for suffix in ("md", "py", "toml", "yaml", "html"):
            yield from (path for path in (ROOT / folder).rglob(f"*.{suffix}") if "_build" not in path.parts)
    yield from (path for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".cff"))


def test_no_link_leads_to_another_project():
    assert [str(path) for path in texts() if FOREIGN.search(path.read_text(encoding="utf-8"))] == []


def test_the_address_is_set_in_one_place():
    settings = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert len(re.findall(r"^repository_address = ", settings, re.MULTILINE)) == 1
    assert '"source_repository": repository_address' in settings


@pytest.mark.parametrize("address", ["", "https://example.org/rlgraph/"])
def test_the_role_links_where_the_setting_leads(monkeypatch, address):
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_extensions"))
    monkeypatch.delitem(sys.modules, "repository", raising=False)
    from repository import RepositoryRole

    role = RepositoryRole()
    environment = SimpleNamespace(config=SimpleNamespace(repository_address=address))
    settings = SimpleNamespace(env=environment)
    inliner = SimpleNamespace(document=SimpleNamespace(settings=settings))
    ((shown,), messages) = role("repository", "`docs/a.py`", "docs/a.py", 1, inliner)
    assert shown.astext() == "docs/a.py" and messages == []
    if address:
        assert shown["refuri"] == "https://example.org/rlgraph/tree/main/docs/a.py"
    else:
        assert isinstance(shown, nodes.literal)


def test_every_path_of_a_role_exists():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    paths = set(re.findall(r"\{repository\}`([^`]+)`", pages))
    assert len(paths) > 10 and not [path for path in paths if not (ROOT / path).exists()]


def test_what_install_lines_mean_is_said_where_it_is_read():
    for page in ("README.md", "docs/installation.md"):
        assert 'pip install "packages/rlgraph-dist[ray]"' in (ROOT / page).read_text(encoding="utf-8")
