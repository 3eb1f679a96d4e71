"""Writes the page of a suite, with its pictures."""

from __future__ import annotations

from pathlib import Path

from rlgraph.runs.benchmarks.results import State, check_results_folder
from rlgraph.runs.benchmarks.suite import Suite
from rlgraph.runs.benchmarks.tables import suite_markdown
from rlgraph.runs.run_files import replace_file, storing


def write_page(suite: Suite, folder: str | Path) -> Path:
    """Write ``SUITE.md`` and its pictures into a folder of results.

    Args:
        suite: the suite, whole.
        folder: of the results.

    Returns:
        The page.

    Raises:
        RunFolderError: the folder is a root, or another one that holds more than results.
        StorageError: it cannot be written.
    """
    from rlgraph.runs.benchmarks.pictures import draw_curves, draw_profiles

    folder = Path(folder)
    check_results_folder(folder)
    state = State(suite, folder)
    with storing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    page = folder / f"{suite.name}.md"
    for draw, name in ((draw_curves, "curves"), (draw_profiles, "profiles")):
        with storing(folder):
            if not draw(state, folder / picture_name(suite, name)):
                (folder / picture_name(suite, name)).unlink(missing_ok=True)
    replace_file(page, suite_markdown(suite, state, pictures_of(suite, folder)))
    return page


def pictures_of(suite: Suite, folder: Path) -> dict[str, str]:
    """Titles and names of the pictures that a page shows."""
    titles = {"Curves": "curves", "Performance profiles": "profiles"}
    names = {title: picture_name(suite, name) for title, name in titles.items()}
    return {title: name for title, name in names.items() if (folder / name).exists()}


def picture_name(suite: Suite, what: str) -> str:
    """The name of a picture's file."""
    return f"{suite.name}_{what}.png"
