"""What docs/spaces.md shows as printed is what its code prints."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs/spaces.md"
BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of the package")
def test_printed_output(capsys):
    pytest.importorskip("gymnasium")
    pytest.importorskip("hypothesis")
    namespace: dict[str, object] = {"__name__": "docs_spaces"}
    blocks = BLOCKS.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 10
    for code, printed in blocks:
        exec(code, namespace)
        # Long lines are folded on the page.
        assert capsys.readouterr().out.split() == printed.split(), code
