#!/usr/bin/env python3
"""The one command of this repository: tries RLgraph out, tests it, builds its documentation.

    python3 tools/dev.py quickstart [--backend torch|tf] [arguments of `rlgraph quickstart`]
    python3 tools/dev.py test [--fast | --all] [arguments of pytest]
    python3 tools/dev.py matrix [--all] [--only NAME] [--keep] [--json]
    python3 tools/dev.py docs
    python3 tools/dev.py release PACKAGE [--version X]

Needs Python 3.11 or newer with pip and venv, nothing else. Everything is installed into `.venvs/`.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this line is for those who have an older one)
    sys.exit(
        "RLgraph needs Python 3.11 or newer; this is {}, version {}.{}.\n"
        "Name another interpreter: python3.11 tools/dev.py ...".format(sys.executable, *sys.version_info[:2])
    )

from devlib.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
