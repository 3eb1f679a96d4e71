"""``python -m rlgraph.cli``."""

import sys

from rlgraph.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
