"""``python -m rlgraph.testing --backend NAME``: the conformance suite as a table.

With ``--table`` that of the component library instead: ``--backend numpy torch --table``, in Markdown. With
``--agent NAME`` the suite of agents, which rlgraph-agents registers; with ``--collective NAME`` that of collectives.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rlgraph.core import RLGraphError, registry
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.testing.backends import installed_backends
from rlgraph.testing.collectives import run_collective_conformance
from rlgraph.testing.conformance import Outcome, Subject, run_conformance
from rlgraph.testing.conformance.suite import load_checks, summary


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite and print what came of it; 0 if nothing failed, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m rlgraph.testing", description="Test a backend, an agent or a collective of RLgraph."
    )
    parser.add_argument(
        "--backend",
        nargs="+",
        metavar="NAME",
        help="registered names of backends; of an agent by default all that learn",
    )
    parser.add_argument("--agent", nargs="+", metavar="NAME", help="registered names of agents")
    parser.add_argument("--collective", nargs="+", metavar="NAME", help="registered names of collectives")
    parser.add_argument(
        "--allow-network",
        action="store_true",
        help="allow the collectives to start servers that other machines can reach",
    )
    parser.add_argument(
        "--options",
        type=json.loads,
        default={},
        metavar="JSON",
        help="options of the agents, as a JSON object",
    )
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="CHECK", help="sections or single checks (section/name)"
    )
    parser.add_argument(
        "--explain",
        nargs="+",
        metavar="ROW",
        help="with --agent: say what a row does and what usually breaks it, in place of running the suite",
    )
    parser.add_argument("--device", default="", help="where everything is placed, such as cuda:0")
    parser.add_argument(
        "--table", action="store_true", help="what is seen of each component of the library, in Markdown"
    )
    options = parser.parse_args(arguments)
    if not (options.agent or options.backend or options.collective):
        parser.error("expected --backend, --agent or --collective")
    if options.explain and not options.agent:
        parser.error("expected --agent beside --explain")
    try:
        if options.collective:
            return max(_run_collective(name, options.allow_network) for name in options.collective)
        if options.agent:
            return _run_agents(options)
        if options.table:
            return _print_components(options.backend)
        return max(_run_backend(backend, options.only, options.device) for backend in options.backend)
    except (RLGraphError, ImportError) as error:
        print(error, file=sys.stderr)
        return 1


def _run_backend(backend: str, only: Sequence[str], device: str) -> int:
    declared = ", ".join(sorted(Subject(backend).capabilities)) or "nothing"
    place = f" on {device}" if device else ""
    print(f"backend {backend}{place}, contract {CONTRACT_VERSION}; it declares: {declared}\n")
    return _run(partial(run_conformance, backend, only=only, device=device), only)


def _run_agents(options: argparse.Namespace) -> int:
    run_suite: Any = registry("rlgraph.conformance").load("agent")
    if options.explain:
        return max(_explain(run_suite, agent, options) for agent in options.agent)
    found = []
    for agent in options.agent:
        for backend in options.backend or installed_backends("gradients"):
            print(f"agent {agent}, backend {backend}\n")
            run = partial(run_suite, agent, backend, only=options.only, options=options.options)
            found.append(_run(run, options.only))
    return max(found, default=1)


def _explain(run_suite: Any, agent: str, options: argparse.Namespace) -> int:
    """Print what rows do with an agent; 1 if there is no such row."""
    (backend, *_) = options.backend or installed_backends("gradients")
    outcomes = run_suite(agent, backend, only=options.explain, options=options.options, explain=True)
    for outcome in outcomes:
        print(f"{outcome.check.id}\n{outcome.details}\n")
    if not outcomes:
        print(f"there is no check {' or '.join(options.explain)}", file=sys.stderr)
    return 0 if outcomes else 1


def _run_collective(name: str, is_allowed: bool) -> int:
    print(f"collective {name}\n")
    spec = {"type": name, **({"allow_network": True} if is_allowed else {})}
    return _run(lambda report: run_collective_conformance(spec, report=report), ())


def _run(suite: Callable[..., list[Outcome]], only: Sequence[str]) -> int:
    started = time.perf_counter()
    outcomes = suite(report=_print_row)
    failures = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failures:
        print(f"\n{outcome.check.id}\n{outcome.details}")
    print(f"\n{summary(outcomes, started)}")
    if not outcomes:
        print(f"there is no check {' or '.join(only)}", file=sys.stderr)
    return 1 if failures or not outcomes else 0


def _print_components(backends: Sequence[str]) -> int:
    load_checks()  # it says what to install
    from rlgraph.testing.conformance.table import component_table, table_markdown

    table = component_table(backends)
    print(table_markdown(table), end="")
    cells = [cell for cells in table.values() for cell in cells.values()]
    return 1 if any(cell.backends("failed") for cell in cells) else 0


def _print_row(outcome: Outcome) -> None:
    first, *_ = outcome.message.splitlines() or [""]
    check = outcome.check
    print(f"{check.section:<11} {check.name:<33} {outcome.status:<7} {first}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
