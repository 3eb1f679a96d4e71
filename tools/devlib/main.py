"""The command line of `tools/dev.py`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from devlib import matrix, release, steps
from devlib.environments import Environment, EnvironmentFailure, ensure
from devlib.output import run, say
from devlib.project import ROOT, load_packages, with_siblings


def main(arguments: Sequence[str]) -> int:
    """Runs a subcommand; its exit status."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and not options.passes_on:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        return options.command(options, rest)
    except EnvironmentFailure as failure:
        say(f"\n{failure}")
        return 1
    except KeyboardInterrupt:
        say("\nInterrupted.")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/dev.py", description="The one command of this repository.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    quickstart = commands.add_parser(
        "quickstart", help="install RLgraph with one backend and let an agent learn", allow_abbrev=False
    )
    quickstart.add_argument("--backend", choices=["torch", "tf"], default="torch")
    quickstart.set_defaults(command=_quickstart, passes_on=True)

    test = commands.add_parser("test", help="run every check of the repository", allow_abbrev=False)
    extent = test.add_mutually_exclusive_group()
    extent.add_argument(
        "--fast", action="store_true", help="without slow tests, suites, types and documentation"
    )
    extent.add_argument("--all", action="store_true", help="with repetitions on other backends")
    test.set_defaults(
        command=lambda options, rest: steps.test(options.fast, options.all, rest), passes_on=True
    )

    rows = commands.add_parser("matrix", help="check every package from its wheel in clean environments")
    rows.add_argument("--all", action="store_true", help="run the whole test folders in every row, too")
    rows.add_argument("--only", metavar="NAME", action="append", help="this row alone (may be repeated)")
    rows.add_argument("--keep", action="store_true", help="keep the environments and say where they are")
    rows.add_argument("--json", action="store_true", help="print the rows as JSON and do nothing else")
    rows.set_defaults(command=lambda options, _: matrix.main(options), passes_on=False)

    releases = commands.add_parser("release", help="bump a package by its changelog and build it")
    releases.add_argument("package", metavar="PACKAGE")
    releases.add_argument("--version", help="default: the changelog decides")
    releases.set_defaults(command=lambda options, _: release.main(options), passes_on=False)

    docs = commands.add_parser("docs", help="build the documentation, every warning an error")
    docs.set_defaults(command=_docs, passes_on=False)
    return parser


def _quickstart(options: argparse.Namespace, rest: list[str]) -> int:
    packages = load_packages()
    selection = with_siblings([f"rlgraph-agents[{options.backend}]"], packages)
    python = ensure(Environment(f"quickstart-{options.backend}", selection))
    return run([python, "-m", "rlgraph.cli", "quickstart", "--backend", options.backend, *rest], cwd=ROOT)


def _docs(options: argparse.Namespace, rest: list[str]) -> int:
    status = steps.build_docs(ensure(steps.development_environment()))
    if status == 0:
        say(f"Built {(ROOT / 'docs/_build/html/index.html').as_uri()}")
    return status
