"""The costs of an agent, an environment and an engine, measured on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean, median, stdev
from typing import Any

import numpy as np

from rlgraph.core import registry
from rlgraph.execution.engine import ActorDied, Engine
from rlgraph.execution.executors.apex import ApexExecutor
from rlgraph.execution.executors.executor import Executor, make_engine
from rlgraph.execution.remote.host import packed
from rlgraph.execution.remote.replay_shard import BatchFormat
from rlgraph.execution.remote.sampling import RemoteSampler, Sample, SamplerSpec
from rlgraph.execution.simulation.costs import Costs
from rlgraph.experience.messages import pack_message
from rlgraph.learning.base_agent import BaseAgent

#: Fragments that are measured, after some that are not.
FRAGMENTS, WARM_UP = 40, 5
#: Seconds in which all of them are there.
SECONDS = 300.0
#: Bytes whose way is measured.
LARGE = 16 * 2**20


class Echo:
    """Returns bytes."""

    def send(self, size: bytes) -> tuple[bytes, bytes]:
        """As many as `size` says."""
        return b"", bytes(int(bytes(size)))


def measure(
    agent: Mapping[str, Any],
    environment: Any,
    *,
    backend: str,
    engine: Any = "ray",
    executor: str | None = None,
    seed: int = 0,
    **options: Any,
) -> Costs:
    """Measure what acting, stepping, messages and updates cost, in about a minute.

    Args:
        agent, environment, backend: as for training.
        engine: whose messages are measured.
        executor: registered name; None: the one that suits the agent.
        seed: of the agent.
        options: of the executor, such as `num_envs`.
    """
    learner = BaseAgent.from_spec(agent, env=environment, backend=backend, seed=seed)
    kind: type[Executor] = registry("rlgraph.executors").load(
        executor or type(learner).algorithm_class.executor
    )
    run = kind(learner, environment, engine="in_process", actors=1, **options)
    spec = SamplerSpec(actor=run._actor_spec.of_actor(0, 1), **run._sampler_spec)
    started = make_engine(engine)
    try:
        costs = _wire(run, started, spec)
    finally:
        if started is not engine:
            started.close()
    costs |= _shares(spec(), learner.learner.weights_message(), costs.pop("sampling"), spec.length)
    if isinstance(run, ApexExecutor):
        costs |= _replay(run, spec())
    else:
        costs |= _updates(run, spec())
    return Costs(**costs)


def _seconds(action: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def _times(action: Callable[[], Any], number: int = FRAGMENTS) -> float:
    """The median time of an action."""
    return median([_seconds(action) for _ in range(number + WARM_UP)][WARM_UP:])


def _wait(engine: Engine, calls: Sequence[Any]) -> None:
    """Wait until all calls are done.

    Raises:
        ActorDied: they are not within `SECONDS`.
    """
    until = time.monotonic() + SECONDS
    while len(engine.wait(calls, SECONDS)) < len(calls):
        if time.monotonic() >= until:
            raise ActorDied(f"the actor that is measured did not answer within {SECONDS:g} s")
        time.sleep(1e-3)


def _wire(run: Executor, engine: Engine, spec: SamplerSpec) -> dict[str, Any]:
    """What calls of a sampler elsewhere cost, and the seconds that it works."""
    learner = run.agent.learner
    message = learner.weights_message()
    sending = _times(lambda: engine.share(learner.weights_message()))
    weights, sampler = engine.share(message), engine.start(packed(spec, "executor"), "actor 0")
    asked, answered, received, worked = list[float](), list[float](), list[float](), list[float]()
    for _ in range(FRAGMENTS + WARM_UP):
        begun = time.perf_counter()
        call = engine.call(sampler, "sample", weights)
        asked.append(time.perf_counter() - begun)
        _wait(engine, [call])
        answered.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        sample = Sample.from_facts(*engine.result(call))
        sample = sample.read(engine.fetch(sample.body), run._fragments)
        received.append(time.perf_counter() - begun)
        worked.append(sample.times[1])
    # Many calls one after another: what each takes besides its work is the engine's.
    begun = time.perf_counter()
    calls = [engine.call(sampler, "sample", weights) for _ in range(FRAGMENTS)]
    _wait(engine, calls)
    period = (time.perf_counter() - begun) / len(calls)
    waiting = _times(lambda: engine.wait(calls, 1.0)) / len(calls)
    engine.kill(sampler)
    # What is at hand is waited for; facts tell of the work before their own.
    asking, working, mean = median(asked[WARM_UP:]), median(worked[WARM_UP:]), fmean(worked[WARM_UP:])
    hosting = max(period - working, 0.0)
    latency = (median(answered[WARM_UP:]) - asking - working - hosting) / 2
    return {
        "sampling": working,
        "jitter": stdev(worked[WARM_UP:]) / mean,
        "fragment_bytes": sample.size,
        "weights_bytes": len(message),
        "sending_weights": sending,
        "asking": asking,
        "receiving": median(received[WARM_UP:]),
        "hosting": hosting,
        "waiting": waiting,
        "latency": max(latency, 0.0),
        "bandwidth": _bandwidth(engine),
    }


def _bandwidth(engine: Engine) -> float:
    """Bytes per second from an actor to this process."""
    echo = engine.start(packed(Echo, "executor"), "echo")

    def send(size: int) -> None:
        call = engine.call(echo, "send", str(size).encode())
        _wait(engine, [call])
        np.frombuffer(engine.fetch(engine.result(call)[1]), np.uint8).sum()

    more = _times(partial(send, LARGE), 10) - _times(partial(send, 1000), 10)
    engine.kill(echo)
    return LARGE / max(more, 1e-6)


def _shares(sampler: RemoteSampler, weights: bytes, seconds: float, length: int) -> dict[str, float]:
    """How the time of a fragment, in seconds, is divided."""
    spent = {"stepping": 0.0, "packing": 0.0}

    def watch(owner: Any, method: str, what: str) -> None:
        original = getattr(owner, method)

        def watched(*arguments: Any) -> Any:
            begun = time.perf_counter()
            result = original(*arguments)
            spent[what] += time.perf_counter() - begun
            return result

        setattr(owner, method, watched)

    watch(sampler.environments, "step", "stepping")
    watch(sampler._format, "to_bytes", "packing")
    for _ in range(WARM_UP):
        sampler.sample(weights)
    spent |= dict.fromkeys(spent, 0.0)
    total = _seconds(lambda: [sampler.sample(weights) for _ in range(FRAGMENTS)])
    stepping, packing = (seconds * spent[what] / total for what in ("stepping", "packing"))
    return {
        "acting": (seconds - stepping - packing) / length,
        "stepping": stepping / length,
        "packing": packing,
    }


def _updates(run: Executor, sampler: RemoteSampler) -> dict[str, float]:
    """An update on one fragment and on several."""
    learner, times = run.agent.learner, {}
    for number in (1, 4):
        taken = []
        for _ in range(10 + WARM_UP):
            results = [sampler.sample(learner.weights_message()) for _ in range(number)]
            samples = [Sample.from_facts(*result).read(result[1], run._fragments) for result in results]
            fragments = [sample.fragment for sample in samples if sample.fragment is not None]
            taken.append(_seconds(partial(learner.learn_from, fragments)))
        times[number] = median(taken[WARM_UP:])
    each = max((times[4] - times[1]) / 3, 0.0)
    return {"update": max(times[1] - each, 0.0), "update_fragment": each}


def _replay(run: ApexExecutor, sampler: RemoteSampler) -> dict[str, Any]:
    """An update on a batch, and the methods of a shard."""
    learner, shard = run.agent.learner, run._shard_spec(0, 0)()
    messages = [sampler.sample(learner.weights_message())[1] for _ in range(FRAGMENTS + WARM_UP)]
    inserted = iter(messages)
    insert = _times(lambda: shard.insert(next(inserted)))
    progress = pack_message({"progress": 0.0}, {})
    body = shard.draw(progress)[1]
    batch = BatchFormat(run._experience, learner.spec).from_bytes(body)
    arrays = {"indices": batch.indices, "priorities": np.ones(len(batch.indices), np.float32)}
    given = pack_message({"inserted": batch.inserted}, arrays)
    return {
        "update": _times(lambda: learner.update_from_batch(batch.records)),
        "update_fragment": 0.0,
        "batch_bytes": len(body),
        "insert": insert,
        "draw": _times(lambda: shard.draw(progress)),
        "set_priorities": _times(lambda: shard.update(given)),
    }
