"""``python -m rlgraph.execution.simulation``: measure costs, and simulate with them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from math import inf
from pathlib import Path
from typing import Any

from rlgraph.cli.exit_codes import ExitCode, code_of
from rlgraph.cli.options import parsed_spec
from rlgraph.core import RLGraphError, SpecError
from rlgraph.core.errors import type_and_text
from rlgraph.execution.simulation.costs import Costs
from rlgraph.execution.simulation.measure import measure
from rlgraph.execution.simulation.run import Simulated, simulate
from rlgraph.spaces import SpaceError

ACTORS = (1, 2, 4, 16, 64, 256, 1024, 4096)


def main(given: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, as those of ``rlgraph``."""
    try:
        _run(_options(given))
    except (RLGraphError, SpaceError, OSError) as error:
        print(type_and_text(error), file=sys.stderr)
        return code_of(error)
    return ExitCode.DONE


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m rlgraph.execution.simulation", description=__doc__)
    parser.add_argument("command", choices=("measure", "run"))
    parser.add_argument("costs", type=Path, help="a JSON file: `measure` writes it, `run` reads it")
    parser.add_argument("--agent", default="impala", help="name or spec as JSON")
    parser.add_argument("--env", default="CartPole-v1", help="environment, or its spec as JSON")
    parser.add_argument("--executor", help="default: the one that suits the agent")
    parser.add_argument("--num-envs", type=int, default=8, help="of each actor")
    parser.add_argument("--backend", default="torch", help="of the measured updates")
    parser.add_argument("--engine", default="ray", help="whose messages are measured")
    parser.add_argument("--actors", type=int, nargs="+", default=ACTORS)
    parser.add_argument("--cores", type=float, default=inf, help="that all share; default: enough for all")
    parser.add_argument("--set", action="append", default=[], metavar="COST=VALUE", help="another cost")
    parser.add_argument("--sensitivity", action="store_true", help="halve each cost in turn")
    return parser.parse_args(given)


def _run(options: argparse.Namespace) -> None:
    agent, environment = parsed_spec(options.agent, "agent"), parsed_spec(options.env, "environment")
    agent = {"type": agent} if isinstance(agent, str) else agent
    task = {"executor": options.executor, "num_envs": options.num_envs}
    if options.command == "measure":
        if not options.costs.parent.is_dir():
            raise SpecError("expected a file in a folder that exists", path=str(options.costs))
        costs = measure(agent, environment, backend=options.backend, engine=options.engine, **task)
        costs.save(options.costs)
        print(json.dumps(asdict(costs), indent=2))
        return
    costs = _changed(Costs.load(options.costs), options.set)
    print(
        f"{'actors':>7} {'steps/s':>12} {'updates/s':>10} {'age':>8}  limit, idle and what the learner does"
    )
    for number in options.actors:
        result = simulate(agent, environment, costs, number, cores=options.cores, **task)
        print(_line(result))
        if options.sensitivity:
            print(_sensitivity(agent, environment, costs, result, options.cores, task))


def _changed(costs: Costs, changes: Sequence[str]) -> Costs:
    for change in changes:
        name, _, value = change.partition("=")
        try:
            costs = costs.with_cost(name, float(value))
        except ValueError:
            raise SpecError(f"expected COST=NUMBER, given {change!r}", path="--set") from None
    return costs


def _line(result: Simulated) -> str:
    idle = ", ".join(f"{role} {share:.0%}" for role, share in result.idle.items())
    spent = ", ".join(f"{what} {share:.0%}" for what, share in result.spent.items())
    age = result.metrics["weights_age"]
    return (
        f"{result.actors:>7} {result.steps_per_second:>12,.0f} {result.updates_per_second:>10,.1f} {age:>8.1f}  "
        f"{result.limit}; idle: {idle}; learner: {spent}"
    )


def _sensitivity(
    agent: Any, environment: Any, costs: Costs, result: Simulated, cores: float, task: dict[str, Any]
) -> str:
    """How many more steps there are with half of each cost (twice the bandwidth)."""
    found = []
    for field in fields(Costs):
        if field.name != "jitter" and getattr(costs, field.name):
            factor = 2.0 if field.name == "bandwidth" else 0.5
            changed = costs.with_cost(field.name, factor * getattr(costs, field.name))
            other = simulate(agent, environment, changed, result.actors, cores=cores, **task)
            more = other.steps_per_second / result.steps_per_second - 1.0
            if abs(more) >= 0.01:
                found.append(f"{field.name} {more:+.0%}")
    return f"        half of it: {', '.join(found) or 'nothing changes by 1 %'}"


if __name__ == "__main__":
    sys.exit(main())
