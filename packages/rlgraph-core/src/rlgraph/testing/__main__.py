"""``python -m rlgraph.testing --backend NAME``: the conformance suite as a table."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from rlgraph.core import RLGraphError
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.testing.conformance import Outcome, Subject, run_conformance
from rlgraph.testing.conformance.suite import summary


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite and print what came of it; 0 if nothing failed, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m rlgraph.testing", description="Test a backend of RLgraph."
    )
    parser.add_argument("--backend", required=True, help="registered name of the backend")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="CHECK", help="sections or single checks (section/name)"
    )
    parser.add_argument("--device", default="", help="where everything is placed, such as cuda:0")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    try:
        declared = ", ".join(sorted(Subject(options.backend).capabilities)) or "nothing"
        place = f" on {options.device}" if options.device else ""
        print(f"backend {options.backend}{place}, contract {CONTRACT_VERSION}; it declares: {declared}\n")
        outcomes = run_conformance(
            options.backend, only=options.only, device=options.device, report=_print_row
        )
    except (RLGraphError, ImportError) as error:
        print(error, file=sys.stderr)
        return 1
    failures = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failures:
        print(f"\n{outcome.check.id}\n{outcome.details}")
    print(f"\n{summary(outcomes, started)}")
    if not outcomes:
        print(f"there is no check {' or '.join(options.only)}", file=sys.stderr)
    return 1 if failures or not outcomes else 0


def _print_row(outcome: Outcome) -> None:
    first, *_ = outcome.message.splitlines() or [""]
    print(
        f"{outcome.check.section:<12}{outcome.check.name:<34}{outcome.status:<8}{first}".rstrip(), flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
