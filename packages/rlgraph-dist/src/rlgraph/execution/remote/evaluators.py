"""Evaluations in actors of their own, for which training does not wait."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgraph.core import InputError
from rlgraph.environments.state_bounds import Report
from rlgraph.environments.stepped_env import stepped
from rlgraph.execution.engine import Bytes, Engine
from rlgraph.execution.remote.actors import Actors
from rlgraph.execution.remote.host import Hosted
from rlgraph.execution.remote.requests import Calls
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.workers.evaluation import Evaluation, evaluation_environments, play


@dataclass(frozen=True)
class EvaluatorSpec:
    """Describes an evaluator; picklable. Called without arguments it makes one.

    Attributes:
        actor: what acts.
        environment: spec of one environment, or a function that makes them.
        frameskip, max_timesteps_per_episode: see `rlgraph.workers.Worker`.
        episodes: of one evaluation.
        validate_states: see `rlgraph.workers.evaluation.evaluate`.
    """

    actor: ActorSpec
    environment: Any
    frameskip: int
    max_timesteps_per_episode: int | None
    episodes: int
    validate_states: bool

    def __call__(self) -> Evaluator:
        return Evaluator(self)


class Evaluator:
    """Plays whole episodes greedily, in fresh environments."""

    def __init__(self, spec: EvaluatorSpec):
        self._spec = spec

    def evaluate(self, weights: Bytes, message: Bytes) -> tuple[bytes, bytes]:
        """Facts are ``{"returns", "lengths", "bounds"}``; for the last see `Sample.bounds`.

        Args:
            weights: see `Learner.weights_message`.
            message: JSON, ``{"seed"}``.
        """
        spec, seed = self._spec, int(json.loads(bytes(message))["seed"])
        actor = spec.actor.build(draw_seed=seed)
        actor.set_weights(weights)
        bounds: list[tuple[str, str]] = []
        actor.graph.report_bounds = lambda *found: bounds.append(found)
        env = stepped(spec.environment, spec.frameskip, spec.max_timesteps_per_episode)
        environments = evaluation_environments(env, spec.episodes, validate_states=spec.validate_states)
        try:
            returns, lengths = play(actor, environments, spec.episodes, seed)
        finally:
            environments.terminate()
        return json.dumps({"returns": returns, "lengths": lengths, "bounds": bounds}).encode(), b""


@dataclass(frozen=True)
class Asked:
    """An evaluation that was asked for.

    Attributes:
        weights: see `Learner.weights_message`.
        timesteps: steps that the agent had observed.
        seed: see `rlgraph.workers.evaluation.evaluate`.
    """

    weights: bytes
    timesteps: int
    seed: int


class Evaluators:
    """Asks evaluators in turn; one that fails is started again, and asked once more.

    Args:
        engine, make, count, max_restarts, folder: see `Actors`.
        timeout: seconds until an evaluation is done.
        report: takes floats of states outside their bounds.
    """

    def __init__(
        self,
        engine: Engine,
        make: Callable[[int, int], Callable[[], Hosted]],
        count: int,
        max_restarts: int,
        folder: Path | None,
        timeout: float,
        report: Report,
    ):
        self._report = report
        self._actors = Actors(engine, make, count, max_restarts, "evaluator", folder=folder)
        self._calls = Calls(engine, self._actors, self._read, timeout, timeout)
        self._next = 0

    @property
    def restarts(self) -> int:
        """How often evaluators were started again."""
        return self._actors.restarts

    def ask(self, asked: Asked) -> None:
        """Ask the next evaluator."""
        self._call(self._next, asked)
        self._next = (self._next + 1) % len(self._actors)

    def finished(self, most_open: int) -> list[tuple[Asked, Evaluation]]:
        """The evaluations that are done; waits while more than `most_open` are under way.

        Raises:
            TooManyRestarts: evaluators failed more often than is allowed.
        """
        found: list[tuple[Asked, Evaluation]] = []
        while answers := self._calls.answers(waits=len(self._calls) > most_open):
            for answer in answers:
                if answer.value is None:
                    self._call(answer.number, answer.about)
                else:
                    returns, lengths, bounds = answer.value
                    for bound, message in bounds:
                        self._report(bound, message)
                    found.append((answer.about, Evaluation(returns, lengths, answer.about.timesteps)))
        return found

    def close(self) -> None:
        """End all evaluators."""
        self._actors.close()

    def _call(self, number: int, asked: Asked) -> None:
        message = json.dumps({"seed": asked.seed}).encode()
        self._calls.call(number, "evaluate", asked.weights, message, about=asked)

    def _read(self, method: str, facts: bytes, body: Any) -> tuple[tuple[float, ...], tuple[int, ...], Any]:
        given = json.loads(facts)
        returns, lengths = tuple(map(float, given["returns"])), tuple(map(int, given["lengths"]))
        if not returns or len(returns) != len(lengths):
            raise InputError(f"expected as many returns as lengths, given {given}")
        return returns, lengths, [(str(bound), str(message)) for bound, message in given["bounds"]]
