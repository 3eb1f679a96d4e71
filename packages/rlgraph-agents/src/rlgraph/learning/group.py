"""The group of learners that an agent is one of, and the others that learner 0 starts."""

from __future__ import annotations

import hashlib
import hmac
import json
import pickle
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core import (
    Collective,
    CollectiveError,
    ExecutionSpec,
    GraphExecutor,
    SpecError,
    default_backend,
    registry,
)
from rlgraph.core.collectives.place import (
    TIMEOUT,
    Place,
    collective_class,
    make_collective,
    place_from_environment,
)
from rlgraph.core.specs.connections import check_connections
from rlgraph.core.specs.policy import SpecPolicy, spec_policy, using_spec_policy

#: Seconds over which waiting is measured, at least: learners tell of theirs every second.
MEASURED_OVER = 5.0
#: Updates between two comparisons of the learners' weights.
COMPARED_EVERY = 100


class LearnerGroup(Collective):
    """A learner's group. It is joined when training begins, and left when that ends.

    Under ``torchrun`` or ``horovodrun``, and in processes that RLgraph started, the environment says where this learner
    stands. Elsewhere this is learner 0, and starts the others.

    Args:
        execution: has the number of learners, their devices, the collective and the launcher.
        kind, arguments: class and arguments of the learner's agent, which the others are made with too.

    Attributes:
        starts_others: whether this learner starts them.

    Raises:
        SpecError: unknown collective or launcher; or the environment has another number of learners.
        PluginError: what they need is not installed.
    """

    def __init__(self, execution: ExecutionSpec, kind: type, arguments: Mapping[str, Any]):
        self._spec, self._agent = execution.collective, (kind, arguments)
        collective, options = collective_class(self._spec)
        place = place_from_environment()
        self.starts_others = place is None
        if place is None:
            place = Place(0, execution.number_of_learners, "")
            self._launch: Any = registry("rlgraph.launchers").load(
                execution.launcher, where="execution_spec.launcher"
            )
            check_connections(self._launch, {}, "execution_spec.launcher")
        elif execution.learners not in (None, place.size):
            raise SpecError(
                f"expected {place.size}, the number of processes that were started, given {execution.learners}: leave "
                "it out",
                path="execution_spec.learners",
            )
        super().__init__(place.rank, place.size, place.address, float(options.get("timeout", TIMEOUT)))
        self.local_rank, self._secret = place.local_rank, place.secret
        device = execution.of_learner(self.local_rank).device
        self._device = device.get("ops") if isinstance(device, Mapping) else device
        #: Signs what learner 0 tells those that it starts.
        self.key = secrets.token_bytes(32)
        self._joined: Any = None
        self._launched: Any = None
        self._measured: tuple[float, list[float]] | None = None
        if getattr(collective, "joins_first", False):
            self.open()

    # The session.

    def open(self) -> None:
        """Join the others, which are started first if nothing else has.

        Raises:
            CollectiveError: one did not come; says which and, where it is known, why.
        """
        if self._joined is not None:
            return
        try:
            if self.starts_others:
                self._launched = self._launch()
                self.address = self._launched.start(self._make_others(), self.size)
            secret = getattr(self._launched, "secret", self._secret)
            place = Place(self.rank, self.size, self.address, self.local_rank, self._device, secret)
            self._joined = make_collective(self._spec, place)
            self.session += 1
        except BaseException as error:
            self._end_others(error)
            raise
        self._measured = None

    def _make_others(self) -> Any:
        """What the other learners are made of."""
        kind, arguments = self._agent
        backend = arguments.get("backend") or default_backend()
        return OtherLearner(kind, {**arguments, "backend": backend}, self.key)

    def close(self) -> None:
        self.leave("")

    def leave(self, why: str) -> None:
        """Leave the others; why, if it is not the end of a training."""
        joined, self._joined = self._joined, None
        if joined is not None:
            getattr(joined, "leave", lambda why: joined.close())(why)
        self._end_others(None)

    def _end_others(self, error: BaseException | None) -> None:
        launched, self._launched = self._launched, None
        if launched is not None:
            said = launched.stop()
            if error is not None and said:
                error.add_note(said)

    def explain(self, error: BaseException) -> None:
        """Add to an error what is known of the learners that were started here."""
        if isinstance(error, CollectiveError):
            self._end_others(error)

    # The collective.

    @property
    def _ready(self) -> Collective:
        if self._joined is None and self.starts_others:
            raise CollectiveError(
                "the other learners work during learn() only: call that, or start this program with torchrun or "
                "horovodrun, so that every learner calls the same methods"
            )
        if self._joined is None:
            self.open()
        joined: Collective = self._joined
        return joined

    def all_reduce(self, array: np.ndarray) -> np.ndarray:
        return self._ready.all_reduce(array)

    def all_gather(self, message: bytes) -> list[bytes]:
        return self._ready.all_gather(message)

    # What every learner must do alike.

    def share(self, number: int, path: str) -> int:
        """This learner's part of a number that is meant for all together.

        Raises:
            SpecError: it cannot be divided equally.
        """
        if number < self.size or number % self.size:
            raise SpecError(
                f"expected a multiple of {self.size}, the number of learners, which have a share each; given {number}",
                path=path,
            )
        return number // self.size

    def agree(self, facts: Mapping[str, Any], what: str) -> None:
        """Compare facts.

        Args:
            facts: name -> JSON-able value, in the same order on all.
            what: these are, for the message.

        Raises:
            CollectiveError: they differ; names the first and who has which.
        """
        messages = self.all_gather(json.dumps(facts, default=str).encode())
        if len(set(messages)) == 1:
            return
        everyone: list[Mapping[str, Any]] = [json.loads(message) for message in messages]
        names = dict.fromkeys(name for each in everyone for name in each)
        name = next(n for n in names if len({json.dumps(each.get(n)) for each in everyone}) > 1)
        given: dict[str, list[str]] = {}
        for rank, each in enumerate(everyone):
            given.setdefault(json.dumps(each.get(name)), []).append(str(rank))
        shown = "; ".join(f"learner {', '.join(ranks)}: {value[:200]}" for value, ranks in given.items())
        raise CollectiveError(f"{what}: the learners differ in {name!r} ({shown})")

    def compare_weights(self, weights: Mapping[str, np.ndarray], when: str) -> None:
        """Compare the weights of all learners, which must be equal bit for bit.

        Raises:
            CollectiveError: they are not; names the first variable that differs.
        """
        digests = {
            name: hashlib.blake2b(np.ascontiguousarray(w).data, digest_size=8).hexdigest()
            for name, w in weights.items()
        }
        self.agree(
            digests, f"{when}, weights that must be equal are not. Only learn() and updates may change them"
        )

    def all_are(self, state: bool) -> bool:
        """Whether something is so on all learners."""
        return all(message == b"1" for message in self.all_gather(b"1" if state else b"0"))

    @contextmanager
    def own_draws(self, executor: GraphExecutor) -> Iterator[None]:
        """Inside, the state of learner 0 is loaded; afterwards the draws of each learner are its own all the same."""
        storage = executor.storage
        tensor_streams = storage.read_tensor_streams() if self.rank else {}
        yield
        if self.rank:
            if tensor_streams:
                storage.write_tensor_streams(tensor_streams)
            storage.streams.restart([storage.seed, self.rank, 1])

    # Who is slow.

    def waiting(self) -> Sequence[float]:
        """The share of time since the last call that each learner waited in collective calls; empty: it is unknown."""
        membership = getattr(self._joined, "membership", None)
        if membership is None:
            return ()
        now, waited = time.monotonic(), [beat.waited for beat in membership.beats]
        waited[self.rank] = membership.waited
        before = self._measured
        if before is not None and now - before[0] < MEASURED_OVER:
            return ()
        self._measured = now, waited
        if before is None:
            return ()
        return [min((b - a) / (now - before[0]), 1.0) for a, b in zip(before[1], waited, strict=True)]

    def metrics(self) -> dict[str, float]:
        """How much learners wait, and for whom; by the names of the glossary."""
        shares = self.waiting()
        if not shares:
            return {}
        slowest = int(np.argmin(shares))
        others = [share for rank, share in enumerate(shares) if rank != slowest]
        return {"learner_wait": float(np.mean(others)), "slowest_learner": float(slowest)}


class Alone:
    """The group of a learner that has no others."""

    rank = 0
    size = 1
    starts_others = False

    def share(self, number: int, path: str) -> int:
        """All of it."""
        return number

    def all_are(self, state: bool) -> bool:
        return state

    def compare_weights(self, weights: Mapping[str, np.ndarray], when: str) -> None:
        """There is nothing to compare them with."""

    def own_draws(self, executor: GraphExecutor) -> AbstractContextManager[None]:
        """Draws go on as they were stored."""
        return nullcontext()

    def metrics(self) -> dict[str, float]:
        return {}

    def close(self) -> None:
        """There is nothing to leave."""


def group_of(execution: ExecutionSpec, kind: type, arguments: Mapping[str, Any]) -> LearnerGroup | None:
    """The group that an execution spec asks for, of agents of a class with these arguments; None: of one."""
    one = execution.number_of_learners == 1 and place_from_environment() is None
    return None if execution.collective is None or one else LearnerGroup(execution, kind, arguments)


@dataclass(frozen=True)
class OtherLearner:
    """A learner that learner 0 starts in another process; picklable. Called without arguments it works to the end.

    Attributes:
        kind, arguments: class and arguments of the agent, which joins the group by itself.
        key: with which learner 0 signs its order: nothing else on the port is unpickled.
        allowed: what the user has allowed there; learner 0 has checked the specs.
    """

    kind: type
    arguments: Mapping[str, Any]
    key: bytes = field(repr=False)
    allowed: SpecPolicy = field(default_factory=spec_policy)

    def __call__(self) -> None:
        with using_spec_policy(replace(self.allowed, is_data=False)):
            self._work()

    def _work(self) -> None:
        agent = self.kind(**self.arguments)
        order = pickle.loads(verified(self.key, agent.group.all_gather(b"")[0]))
        if order["checkpoint"] is not None:
            agent.load_model(order["checkpoint"])
        worker = order["worker"](agent, *order["arguments"], **order["options"])
        worker.continue_at(order["done"])
        try:
            worker.execute_timesteps(order["timesteps"], order["limit"], order["use_exploration"])
        finally:
            worker.terminate()
            if order["checkpoint"] is not None:  # learner 0 may have been killed before it removed it
                shutil.rmtree(Path(order["checkpoint"]).parent, ignore_errors=True)


def signed(key: bytes, message: bytes) -> bytes:
    """A message with its signature ahead (HMAC, SHA-256)."""
    return hmac.digest(key, message, hashlib.sha256) + message


def verified(key: bytes, message: bytes) -> bytes:
    """What was `signed`.

    Raises:
        CollectiveError: with another key, or not at all.
    """
    size = hashlib.sha256().digest_size
    if not hmac.compare_digest(message[:size], hmac.digest(key, message[size:], hashlib.sha256)):
        raise CollectiveError("what listens as learner 0 is not the process that started this learner")
    return message[size:]
