"""The page that shows callbacks has every method with its arguments."""

import inspect
import re
from pathlib import Path

from rlgraph.workers import Callback

PAGE = Path(__file__).parents[2] / "docs" / "workers.md"


def test_every_method_is_on_the_page_as_it_is():
    methods = {name: method for name, method in vars(Callback).items() if name.startswith("on_")}
    expected = [
        f"{name}({', '.join([*inspect.signature(method).parameters][1:])})"
        for name, method in methods.items()
    ]
    shown = re.findall(r"^\| `(on_\w+\(.*?\))` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == expected and len(expected) == 8
