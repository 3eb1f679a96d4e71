#!/usr/bin/env python3
"""Builds Horovod for the frameworks of an environment, and installs it there.

    python3 tools/build_horovod.py [--python PYTHON] [--minutes M] [--only-build]

What `python -m rlgraph.execution.horovod.build` does, where RLgraph is not installed. Standard library only.
"""

import runpy

from devlib.project import ROOT

if __name__ == "__main__":
    runpy.run_path(
        str(ROOT / "packages/rlgraph-dist/src/rlgraph/execution/horovod/build.py"), run_name="__main__"
    )
