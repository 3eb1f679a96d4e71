"""The program of a worker: python -m rlgraph.execution.distributed_tf --cluster FILE --index I."""

from __future__ import annotations

import argparse
import os
import sys
import threading

from rlgraph.core import RLGraphError
from rlgraph.execution.distributed_tf.worker import serve, work


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m rlgraph.execution.distributed_tf", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--cluster", metavar="FILE", help='JSON: {"learner": ["host:port"], "actor": [...]}')
    which.add_argument("--learner", metavar="HOST:PORT", help=argparse.SUPPRESS)
    parser.add_argument("--index", type=int, default=0, help="of this worker in the file")
    parser.add_argument("--number", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument(
        "--connect-timeout", type=float, default=60.0, metavar="SECONDS", help="until the learner is there"
    )
    options = parser.parse_args()
    try:
        if options.learner is None:
            serve(options.cluster, options.index, options.connect_timeout)
        else:
            threading.Thread(target=_end_with_learner, daemon=True).start()
            work(options.learner, options.number, options.connect_timeout)
    except RLGraphError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _end_with_learner() -> None:
    """End this process when the one that started it ends, which holds the other end of a pipe."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
