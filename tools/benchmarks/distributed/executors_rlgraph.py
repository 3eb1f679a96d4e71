"""RLgraph's side of `executors`, and what is written by hand."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from distributed import settings
from distributed.settings import APEX, NUM_ENVIRONMENTS, Apex, Subject

VERSIONS = ("rlgraph-dist", "ray", "torch", "gymnasium")
TANH = [{"type": "dense", "units": settings.UNITS, "activation": "tanh"}] * 2
PICTURES: list[dict[str, Any]] = [
    {"type": "divide", "divisor": 255},
    *(
        {"type": "conv2d", "filters": filters, "kernel_size": size, "strides": strides, "activation": "relu"}
        for filters, size, strides in settings.CONVOLUTIONS
    ),
    {"type": "reshape", "flatten": True},
    {"type": "dense", "units": settings.CONVOLUTION_UNITS, "activation": "relu"},
]
#: Units of the layers whose weights are sent: 1.7 million numbers.
MANY_UNITS = 1300


def impala(samplers: int, compiled: bool = False, engine: Any = "ray") -> Subject:
    from rlgraph.execution import ImpalaExecutor

    spec = {
        "type": "impala",
        "rollout_length": settings.IMPALA_STEPS,
        "network_spec": TANH,
        "weight_entropy": settings.WEIGHT_ENTROPY,
        "weight_vf": settings.WEIGHT_VALUES,
        "optimizer_spec": {
            "type": "adam",
            "learning_rate": settings.IMPALA_RATE,
            "clip_grad_norm": settings.IMPALA_CLIP_NORM,
        },
    }
    options = {"fragments_per_update": settings.IMPALA_FRAGMENTS, "engine": engine}
    return _trained(ImpalaExecutor, spec, compiled, samplers, 16_384, **options)


def ppo(samplers: int, compiled: bool = False) -> Subject:
    from rlgraph.execution.ray import SyncBatchExecutor

    return _trained(SyncBatchExecutor, ppo_spec(), compiled, samplers, 16_384)


def ppo_spec() -> dict[str, Any]:
    return {
        "type": "ppo",
        "rollout_length": settings.PPO_STEPS,
        "num_epochs": settings.PPO_EPOCHS,
        "num_minibatches": settings.PPO_MINIBATCHES,
        "weight_entropy": settings.WEIGHT_ENTROPY,
        "weight_vf": settings.WEIGHT_VALUES,
        "network_spec": TANH,
        "optimizer_spec": {
            "learning_rate": settings.PPO_RATE,
            "epsilon": settings.PPO_EPSILON,
            "clip_grad_norm": settings.PPO_CLIP_NORM,
        },
    }


def apex(task: Apex) -> Subject:
    from rlgraph.execution.ray import ApexExecutor

    is_pong = task.env == "Pong"
    spec = {
        "type": "apex",
        "network_spec": PICTURES if is_pong else TANH,
        "n_step": settings.N_STEP,
        "memory_spec": {"capacity": task.capacity},
        "sync_interval": settings.TARGET_INTERVAL // task.update_interval,
        "optimizer_spec": {"type": "adam", "learning_rate": settings.APEX_RATE},
        "update_spec": {
            "do_updates": task.learns,
            "steps_before_update": settings.LEARNING_STARTS,
            "update_interval": task.update_interval,
            "batch_size": task.batch_size,
        },
    }
    env: Any = {"type": "atari", "game": "Pong"} if is_pong else task.env
    steps = 512 if is_pong else 8192
    return _trained(ApexExecutor, spec, False, task.samplers, steps, env, num_envs=task.environments)


def _trained(
    executor_class: Any,
    spec: dict[str, Any],
    compiled: bool,
    samplers: int,
    steps: int,
    env: Any = "CartPole-v1",
    num_envs: int = NUM_ENVIRONMENTS,
    **options: Any,
) -> Subject:
    """An executor that trains, `steps` at a time."""
    execution = {"threads": 1, "compile": ["update"] if compiled else False}
    executor = executor_class(
        {**spec, "execution_spec": execution},
        env,
        backend="torch",
        seed=1,
        actors=samplers,
        num_envs=num_envs,
        **options,
    )
    results: list[Any] = []
    return Subject(
        lambda: results.append(executor.execute_timesteps(steps)),
        lambda: {"steps": executor.timesteps, "updates": executor.agent.updates},
        lambda: results[-1].returns,
        VERSIONS,
    )


def sampling(ahead: int) -> Subject:
    """One actor, asked for this number of fragments ahead; 0: the sampler of an actor in this process."""
    from rlgraph.execution.ray import SyncBatchExecutor
    from rlgraph.execution.remote.sampling import SamplerSpec

    executor = SyncBatchExecutor(
        {**ppo_spec(), "execution_spec": {"threads": 1}}, "CartPole-v1", backend="torch", seed=1, actors=1
    )
    counts = {"steps": 0}
    if ahead == 0:
        actor = executor.agent.learner.spec
        sampler = SamplerSpec(actor=actor, environment="CartPole-v1", length=settings.PPO_STEPS)()

        def collect() -> None:
            for _ in range(16):
                counts["steps"] += int(sampler.collect().valid.sum())

        return Subject(collect, lambda: counts, list, VERSIONS)
    requests = executor.start_actors()
    executor.send_weights()
    for _ in range(ahead):
        requests.ask(0)

    def receive() -> None:
        for _ in range(16):
            for sample in requests.receive():
                counts["steps"] += sample.steps
                requests.ask(0)

    return Subject(receive, lambda: counts, list, VERSIONS)


def by_hand(make: Callable[[Any], Any], steps: int = 16_384) -> Subject:
    """A subject of `by_hand/on_ray.py`."""
    from by_hand import on_ray

    subject, counts = make(on_ray), {"steps": 0}

    def advance() -> None:
        subject.learn(steps)
        counts["steps"] += steps

    return Subject(advance, lambda: counts, lambda: subject.returns, ("ray", "torch", "gymnasium"))


def _distributed_tf(_: Any) -> Any:
    from by_hand.on_distributed_tf import IMPALA

    return IMPALA(2)


class Receiver:
    """An actor that is only sent weights."""

    def __init__(self, spec: Any):
        self._actor = spec.build()

    def receive(self, weights: Any) -> tuple[bytes, bytes]:
        self._actor.set_weights(weights)
        return b"", b""


def weights() -> Subject:
    """The weights of a learner, until two actors have set them; a step is one time."""
    from functools import partial

    from rlgraph.agents import Agent
    from rlgraph.execution import packed
    from rlgraph.execution.ray.engine import RayEngine

    layers = [{"type": "dense", "units": MANY_UNITS, "activation": "tanh"}] * 2
    agent = Agent.from_spec(
        {"type": "dqn", "dueling_q": False, "network_spec": layers, "execution_spec": {"threads": 1}},
        env="CartPole-v1",
        backend="torch",
    )
    engine, counts = RayEngine(num_cpus=2), {"steps": 0}
    make = packed(partial(Receiver, agent.learner.spec), "receiver")
    actors = [engine.start(make, f"actor {number}") for number in range(2)]

    def advance() -> None:
        until = perf_counter() + 0.5
        while perf_counter() < until:
            shared = engine.share(agent.learner.weights_message())
            waiting = [engine.call(actor, "receive", shared) for actor in actors]
            while waiting:
                for call in engine.wait(waiting, 10.0):
                    engine.result(call)
                    waiting.remove(call)
            counts["steps"] += 1

    return Subject(advance, lambda: counts, list, VERSIONS)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "sampling local": lambda: sampling(0),
    "sampling 1 ahead": lambda: sampling(1),
    "sampling 2 ahead": lambda: sampling(2),
    "sampling local, by hand": lambda: by_hand(lambda module: module.LocalSampling()),
    "sampling 1 ahead, by hand": lambda: by_hand(lambda module: module.Sampling(1)),
    "sampling 2 ahead, by hand": lambda: by_hand(lambda module: module.Sampling(2)),
    "weights": weights,
    "impala 2 distributed_tf": lambda: impala(2, engine={"type": "distributed_tf", "allow_network": True}),
    "impala 2 distributed_tf by hand": lambda: by_hand(_distributed_tf),
    **{f"apex {name}": lambda task=task: apex(task) for name, task in APEX.items()},
}
for _n in (1, 2):
    for _compiled in (False, True):
        _how = " compiled" * _compiled
        SUBJECTS |= {
            f"impala {_n}{_how}": lambda n=_n, c=_compiled: impala(n, c),
            f"ppo {_n}{_how}": lambda n=_n, c=_compiled: ppo(n, c),
            f"impala {_n}{_how} by hand": lambda n=_n, c=_compiled: by_hand(lambda m: m.IMPALA(n, c)),
            f"ppo {_n}{_how} by hand": lambda n=_n, c=_compiled: by_hand(lambda m: m.PPO(n, c)),
        }
