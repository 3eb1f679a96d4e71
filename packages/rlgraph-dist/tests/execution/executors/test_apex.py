"""Ape-X's flow, on actors and shards of this process."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from rlgraph.core import SpecError
from rlgraph.core.errors import CheckpointWarning
from rlgraph.core.runtime.programs import Programs
from rlgraph.execution import ApexExecutor, TooManyRestarts
from rlgraph.execution.engine import ActorDied
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.execution.remote.replay_shard import BatchFormat
from rlgraph.execution.remote.sampling import SamplerSpec
from rlgraph.experience.messages import pack_message
from rlgraph.runs import resume, train

LAYERS = [{"type": "dense", "units": 8, "activation": "tanh"}]
APEX = {
    "type": "apex",
    "network_spec": LAYERS,
    "memory_spec": {"capacity": 200},
    "update_spec": {"steps_before_update": 64, "update_interval": 4, "batch_size": 8},
    "sync_interval": 10,
    "execution_spec": {"threads": 1},
}
PRIORITIZED = {"type": "prioritized_replay", "capacity": 200, "beta": [0.4, 1.0]}


class Faulty(InProcessEngine):
    """Calls fail, hang or return garbage, by the method and the number of its call.

    Args:
        faults: (method, number of its call) -> what happens to it; "kills" also to later calls of its actor.
    """

    def __init__(self, faults=()):
        super().__init__()
        self.faults, self.calls, self.names, self.dead = dict(faults), [], [], []

    def start(self, make, name, is_light=False):
        self.names.append(name)
        return super().start(make, name, is_light)

    def call(self, actor, method, *arguments):
        call = super().call(actor, method, *arguments)
        call.kind = self.faults.get((method, self.methods.count(method)))
        self.calls.append((actor.name, method))
        if call.kind == "kills":
            self.dead.append(actor)
        if actor in self.dead:
            call.fault = ActorDied("killed")
        elif call.kind == "garbage":
            call.body = call.body[:-100]
        return call

    @property
    def methods(self):
        return [method for _, method in self.calls]

    def wait(self, calls, timeout):
        return [call for call in calls if call.kind != "hangs"]


def make(spec=APEX, **options):
    options = {"backend": "torch", "actors": 2, "num_envs": 4, "seed": 1, "report_interval": 10**6, **options}
    return ApexExecutor(spec, "CartPole-v1", **options)


def priorities_of(shard):
    tree = shard.executor.storage.read("memory/priorities")
    return tree[len(tree) // 2 :][: shard.inserted]


def shards_of(engine):
    return [actor.host._hosted for actor in engine._actors if actor.name.startswith("replay shard")]


def test_updates_follow_the_rate_of_the_agent():
    engine, reports = Faulty(), []
    executor = make(engine=engine)
    result = executor.execute_timesteps(512, callbacks=lambda worker, metrics: reports.append(metrics))
    assert (result.timesteps, result.updates) == (512, (512 - 64) // 4 + 1)
    (metrics,) = reports
    assert metrics["replay_ratio"] == pytest.approx(result.updates * 8 / 512)
    assert (metrics["actor_restarts"], metrics["shard_restarts"]) == (0, 0)
    # In one process all but one wait at any time.
    assert 0 < metrics["actor_wait"] < 1 and 0 < metrics["shard_wait"] < 1
    assert metrics["weights_age"] > 0
    # Two actors, so two shards of four; every fragment of 16 x 4 steps goes to the shard of its actor.
    assert [name for name in engine.names if "shard" in name] == [
        "replay shard 0 (incarnation 0)",
        "replay shard 1 (incarnation 0)",
    ]
    assert engine.methods.count("insert") == 512 // 64
    # Actors are never further ahead than the fragments that they were asked for.
    assert engine.methods.count("sample") == 512 // 64 + 2 * executor.requests_per_actor
    assert {len(shard._writers) for shard in shards_of(engine)} == {1}
    # Windows of three steps wait for up to two more, and for the value of the next state.
    assert 512 - 3 * 4 * 2 <= sum(shard.inserted for shard in shards_of(engine)) < 512
    assert engine.methods.count("update") == result.updates
    # Those ahead, and at first some of the second shard, which is still empty.
    assert result.updates < engine.methods.count("draw") <= result.updates + 2 * executor.batches_ahead
    executor.terminate()
    assert all(actor.is_gone for actor in engine._actors)


def test_equal_seeds_give_equal_weights():
    weights = []
    for _ in range(2):
        executor = make()
        executor.execute(steps=384)
        weights.append(executor.local_agent.get_weights())
    for name, value in weights[0].items():
        np.testing.assert_array_equal(value, weights[1][name], err_msg=name)


def test_a_shard_keeps_what_a_local_memory_keeps_and_draws_by_its_priorities():
    """The records of a shard equal those of a learner that inserts the same fragments; importance weights are PER's."""
    executor = make({**APEX, "memory_spec": {"capacity": 1000}})
    learner, spec = executor.agent.learner, executor._shard_spec(0, 0)
    shard, format_ = spec(), BatchFormat(executor._experience, learner.spec)
    sampler = SamplerSpec(**executor._sampler_spec, actor=learner.spec)()
    for _ in range(3):
        _, message = sampler.sample(learner.weights_message())
        shard.insert(message)
        learner.insert(executor._fragments.from_bytes(message))
    storage = learner.executor.storage
    rows = {name: storage.read(name) for name in storage.variables if "memory/rows/" in name}
    assert len(rows) == 6
    assert (
        shard.inserted == learner.executor.execute("get_memory_size") - 4 == 3 * 64 - 3 * 4
    )  # one step later
    indices = np.arange(8)
    errors = np.linspace(0.5, 4.0, 8, dtype=np.float32)
    shard.update(pack_message({"inserted": shard.inserted}, {"indices": indices, "priorities": errors}))
    batch = format_.from_bytes(shard.draw(pack_message({"progress": 0.0}, {}))[1])
    for name, values in rows.items():
        np.testing.assert_array_equal(batch.records[name.split("/")[-1]], values[batch.indices], err_msg=name)
    priorities = priorities_of(shard)
    np.testing.assert_allclose(priorities[:8], (errors + 1e-6) ** 0.6, rtol=1e-5)
    weights = (priorities[batch.indices] / priorities.sum() * len(priorities)) ** -0.4
    np.testing.assert_allclose(batch.records["importance_weights"], weights / weights.max(), rtol=1e-5)


def test_priorities_of_records_that_were_overwritten_are_not_set():
    executor = make({**APEX, "memory_spec": {"capacity": 160}})  # 80 in each of two shards
    shard = executor._shard_spec(0, 0)()
    sampler = SamplerSpec(**executor._sampler_spec, actor=executor.agent.learner.spec)()
    weights = executor.agent.learner.weights_message()
    shard.insert(sampler.sample(weights)[1])
    before = shard.inserted  # 52: places 0 to 51
    shard.insert(sampler.sample(weights)[1])  # 64 more: places 52 to 79, then 0 to 35
    assert (before, shard.inserted) == (52, 116)
    indices = np.array([0, 35, 36, 51])
    expected = priorities_of(shard)[indices]
    given = {"indices": indices, "priorities": np.full(4, 9.0, np.float32)}
    shard.update(pack_message({"inserted": before}, given))
    expected[2:] = 9.0**0.6
    np.testing.assert_allclose(priorities_of(shard)[indices], expected, rtol=1e-5)


@pytest.mark.parametrize("n_step", [1, 3])
def test_new_records_have_the_errors_of_the_values_that_acting_knew(n_step):
    """The records of two fragments, against their TD errors by the learner's network, which acted."""
    executor = make({**APEX, "n_step": n_step, "memory_spec": {"capacity": 1000}})
    agent, spec = executor.agent, executor._sampler_spec
    sampler = SamplerSpec(**spec, actor=agent.learner.spec, max_timesteps_per_episode=9)()
    shard, acted = executor._shard_spec(0, 0)(), set()
    for _ in range(2):
        _, message = sampler.sample(agent.learner.weights_message())
        shard.insert(message)
        states = executor._fragments.from_bytes(message).states[:-1]
        acted |= {state.tobytes() for state in states.reshape(-1, 4)}
    storage, number = shard.executor.storage, shard.inserted
    rows = {
        name.split("/")[-1]: storage.read(name)[:number] for name in storage.variables if "/rows/" in name
    }
    q, next_q = (agent.call_api_method("get_q_values", rows[name]) for name in ("states", "next_states"))
    after = np.where(rows["terminals"], 0.0, next_q.max(axis=1))
    errors = rows["rewards"] + rows.get("discounts", 0.99) * after - q[np.arange(number), rows["actions"]]
    # Nobody acts in the state that a truncated episode reached: such records have the largest priority so far.
    known = rows["terminals"] | np.array([state.tobytes() in acted for state in rows["next_states"]])
    priorities = priorities_of(shard)
    np.testing.assert_allclose(priorities[known], (np.abs(errors[known]) + 1e-6) ** 0.6, rtol=1e-4)
    assert 0 < (~known).sum() < number / 2
    assert np.all(priorities[~known] >= 1.0)


@pytest.mark.parametrize(
    "changed",
    [{"value_rescaling": True}, {"scale_rewards": True}, {"type": "dqn", "memory_spec": PRIORITIZED}],
)
def test_values_of_another_scale_are_not_sent(changed):
    assert not make({**APEX, **changed})._sampler_spec["keeps_values"]


def test_an_empty_shard_gives_no_batch():
    shard = make()._shard_spec(1, 0)()
    facts, body = shard.draw(pack_message({"progress": 0.0}, {}))
    assert (json.loads(facts)["inserted"], body) == (0, b"")


def test_updates_that_are_due_while_no_record_is_complete_are_left_out():
    spec = {**APEX, "n_step": 5, "update_spec": {**APEX["update_spec"], "steps_before_update": 0}}
    executor = make(spec, fragment_length=4, actors=1)
    assert executor.execute_timesteps(16).updates == 0  # four steps of each environment
    assert executor.execute_timesteps(16).updates == 4  # and as many again


FAULTS = [(kind, method) for kind in ("kills", "hangs") for method in ("sample", "insert", "draw", "update")]


@pytest.mark.parametrize(("kind", "method"), [*FAULTS, ("garbage", "sample"), ("garbage", "draw")])
def test_what_fails_is_replaced(kind, method):
    engine = Faulty({(method, 5): kind})
    executor = make(engine=engine, start_timeout=0.05, sample_timeout=0.05)
    result = executor.execute_timesteps(640)
    assert result.timesteps == 640
    restarts = (executor.actor_restarts, executor.shard_restarts)
    assert restarts == ((1, 0) if method == "sample" else (0, 1))
    assert result.updates == (640 - 64) // 4 + 1
    assert sum("incarnation 1" in name for name in engine.names) == 1


def test_shards_get_what_actors_sent_from_where_it_is():
    """The driver reads no fragment; a shard says what is none, and its actor is started again."""
    engine = Faulty({("sample", 3): "garbage"})
    executor = make(engine=engine)
    fetched, engine.fetch = [], lambda body: fetched.append(len(body)) or body
    executor.execute_timesteps(640)
    assert (executor.actor_restarts, executor.shard_restarts) == (1, 0)
    assert engine.methods.count("insert") == 640 // 64
    assert len(fetched) < engine.methods.count("draw")  # batches alone


def test_too_many_restarts_of_shards_stop_the_run():
    engine = Faulty({("draw", number): "kills" for number in range(3, 300)})
    executor = make(engine=engine, max_actor_restarts=2)
    with pytest.raises(
        TooManyRestarts, match=r"replay shard \d failed 3 times, and .*max_actor_restarts is 2"
    ):
        executor.execute_timesteps(1000)


def test_shards_of_a_second_run_are_filled_first():
    executor = make({**APEX, "update_spec": {**APEX["update_spec"], "steps_before_update": 96}})
    assert executor.execute(steps=128).updates == (128 - 96) // 4 + 1
    # A fragment has 64 steps. What it makes due is left out, since new shards have less than 96 steps then.
    assert executor.execute(steps=128).updates == 64 // 4


@pytest.mark.parametrize("changed", [{"type": "dqn"}, {"memory_spec": {"type": "replay_memory"}}])
def test_an_agent_without_priorities_is_refused(changed):
    with pytest.raises(SpecError, match=r"a prioritized memory of transitions, given (DQN|Apex)Agent"):
        make({**APEX, **changed})


def test_a_recurrent_agent_is_refused_with_what_takes_it():
    memory = {"type": "sequence_replay", "capacity": 200, "sequence_length": 4, "burn_in": 1}
    spec = {**APEX, "network_spec": [{"type": "lstm", "units": 4}], "memory_spec": memory}
    with pytest.raises(SpecError, match=r"type: expected a network without memory, .* take 'sync_batch'"):
        make(spec)


def test_dqn_with_priorities_is_taken():
    assert make({**APEX, "type": "dqn", "memory_spec": PRIORITIZED}).execute(steps=128).updates == 17


def test_statistics_are_the_learners():
    executor = make({**APEX, "normalize_states": True, "scale_rewards": True})
    assert executor.execute(steps=256).updates == 49
    assert executor.agent.learner.steps == 256
    assert executor.agent.learner.statistics.get_state() is not None


def test_an_actor_that_keeps_values_links_its_program_once(monkeypatch):
    """Actors but the first draw from streams of their own, and every program over these is a new one."""
    executor, linked = make(), []
    program = Programs.of_method

    def counting(self, method, streams=None):
        linked.append(method)
        return program(self, method, streams)

    monkeypatch.setattr(Programs, "of_method", counting)
    sampler = SamplerSpec(**executor._sampler_spec, actor=executor.agent.learner.spec, number=1)()
    sampler.sample(executor.agent.learner.weights_message())
    assert linked.count("act_with_extras") == 1


def test_a_shard_begins_with_its_snapshot(tmp_path):
    executor = make()
    executor.folder = tmp_path
    shard, format_ = (
        executor._shard_spec(1, 0)(),
        BatchFormat(executor._experience, executor.agent.learner.spec),
    )
    sampler = SamplerSpec(**executor._sampler_spec, actor=executor.agent.learner.spec)()
    shard.insert(sampler.sample(executor.agent.learner.weights_message())[1])
    shard.update(
        pack_message(
            {"inserted": shard.inserted}, {"indices": np.arange(4), "priorities": np.arange(1.0, 5.0)}
        )
    )
    shard.snapshot()
    inserted, priorities = shard.inserted, priorities_of(shard)
    rows = shard.executor.storage.read("memory/rows/rewards").copy()
    shard.insert(sampler.sample(executor.agent.learner.weights_message())[1])
    successor = executor._shard_spec(1, 1)()
    assert successor.inserted == inserted > 0
    np.testing.assert_array_equal(priorities_of(successor), priorities)
    batch = format_.from_bytes(successor.draw(pack_message({"progress": 0.0}, {}))[1])
    np.testing.assert_array_equal(batch.records["rewards"], rows[batch.indices])
    assert executor._shard_spec(0, 1)().inserted == 0
    of_another_run = replace(executor._shard_spec(1, 1), run="another")()
    assert of_another_run.inserted == 0 and "of another run" in json.loads(of_another_run.begin()[0])["fault"]
    other = make({**APEX, "memory_spec": {"capacity": 100}})
    other.folder = tmp_path
    with pytest.warns(CheckpointWarning, match=r"; this shard begins empty"):
        other.execute(steps=8)
    executor.keeps_memory = False
    assert executor._shard_spec(1, 1)().inserted == 0


def run_document(**checkpoints):
    return {
        "agent": APEX,
        "environment": "CartPole-v1",
        "backend": "torch",
        "steps": 256,
        "worker": {"num_envs": 4},
        "executor_spec": {"engine": "in_process", "actors": 2},
        "evaluation": {"interval": None, "final_episodes": 1},
        "checkpoints": checkpoints,
        "logging": {"tensorboard": False},
    }


@pytest.mark.parametrize("interval", [128, None])
def test_a_resumed_run_takes_the_snapshots_of_its_shards(tmp_path, interval):
    """They are written with each checkpoint, the one at the end as well."""
    folder = tmp_path / "run"
    train(run_document(interval=interval), folder)
    assert {snapshot.name for snapshot in (folder / "shards").iterdir()} == {"0-of-2", "1-of-2"}
    assert not any((folder / "checkpoints").glob("*/host.safetensors"))  # the learner's is empty
    summary = resume(folder, steps=320)
    assert summary.training.updates == (320 - 64) // 4 + 1  # it does not wait for the first steps again


def test_snapshots_of_another_number_of_shards_are_left_and_updates_wait_for_the_first_steps(tmp_path):
    folder = tmp_path / "run"
    updates = {**APEX["update_spec"], "steps_before_update": 128}
    train({**run_document(), "agent": {**APEX, "update_spec": updates}}, folder)
    before = (256 - 128) // 4 + 1
    assert resume(folder, steps=320, overrides=["executor_spec.actors=3"]).training.updates == before
    assert resume(folder, steps=448).training.updates > before


def test_a_shard_imports_no_framework():
    spec = pickle.dumps(make()._shard_spec(0, 0))
    code = (
        "import pickle, sys; pickle.loads(sys.stdin.buffer.read())(); "
        "print([name for name in ('torch', 'tensorflow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=spec, capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


@pytest.mark.slow
def test_the_values_of_a_small_world():
    """World, steps and figures of RLgraph 0.5's test of Ape-X on Ray."""
    spec = {
        **APEX,
        "n_step": 1,
        "discount": 0.9,
        "network_spec": [{**LAYERS[0], "units": 16}],
        "memory_spec": {"capacity": 2000},
        "optimizer_spec": {"learning_rate": 0.01},
        "update_spec": {"steps_before_update": 64, "update_interval": 5, "batch_size": 32},
        "sync_interval": 50,
    }
    world = {"type": "grid_world", "world": "2x2"}
    executor = ApexExecutor(spec, world, engine="in_process", actors=2, backend="torch", seed=1)
    executor.execute(steps=5000)
    values = executor.agent.call_api_method("get_q_values", np.array([0, 1]))
    np.testing.assert_allclose(values, [[0.62, -5.0, 0.8, 0.62], [0.62, 1.0, 0.8, 0.8]], atol=0.1)
