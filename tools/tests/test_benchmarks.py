"""The list of benchmarks in their README."""

import re
import subprocess
import sys

from devlib.project import ROOT


def test_the_readme_has_every_script_and_no_other() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools/benchmarks"], capture_output=True, text=True)
    scripts = set(re.findall(r"\w+/\w+", done.stderr.partition("one of: ")[2]))
    text = (ROOT / "tools/benchmarks/README.md").read_text(encoding="utf-8")
    assert scripts == set(re.findall(r"`((?:micro|distributed|learning|paper)/\w+)(?=[ `])", text))
