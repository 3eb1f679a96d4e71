"""A program with its environment does what the same root does that is stepped from outside."""

from copy import copy
from functools import partial

import numpy as np
import pytest

from rlgraph.agents import Agent
from rlgraph.components.environments.cart_pole import CartPole
from rlgraph.components.environments.masked_grid import MaskedGrid
from rlgraph.components.environments.pendulum import Pendulum
from rlgraph.components.memories.tensor_replay import TensorReplay
from rlgraph.core import executor_class, registry, rlgraph_api
from rlgraph.core.graph.nodes import Loop
from rlgraph.learning.replay_training_graph import ReplayTrainingGraph
from rlgraph.learning.training_graph import RolloutTrainingGraph
from rlgraph.spaces import BoolBox, Dict, FloatBox

LENGTH, NUMBER, UPDATES = 16, 4, 20
DENSE, LSTM = [{"type": "dense", "units": 16, "activation": "tanh"}], [{"type": "lstm", "units": 8}]
#: Agent, environment, layers.
CASES = {
    "ppo": ("ppo", CartPole, DENSE),
    "a2c": ("a2c", CartPole, DENSE),
    "floats": ("ppo", Pendulum, DENSE),
    "a2c-floats": ("a2c", Pendulum, DENSE),
    "impala": ("impala", CartPole, DENSE),
    "masks": ("ppo", MaskedGrid, DENSE),
    "lstm": ("ppo", CartPole, [*DENSE, *LSTM]),
}
#: Backends whose programs a compiler changes. PyTorch's takes half a minute.
COMPILERS = [
    pytest.param(name, marks=pytest.mark.repetition if name == "torch" else ())
    for name in ("tf", "torch")
    if name in registry("rlgraph.backends")
]


class SteppedFromOutside(RolloutTrainingGraph):
    """The same root, one step of all copies in a call."""

    @rlgraph_api
    def one_step(self, progress=None):
        before = self._read()
        states = self.environment.get_states(before["task"])
        internal = before["internal_states"] if self._table_space else None
        acted, _ = self._acted("act", states, internal, progress)
        stepped = self.environment.step(before["task"], acted["actions"])
        running = {"task": stepped["task"], "begins": stepped["ends"]}
        record = {
            "states": states,
            "actions": acted["actions"],
            "next_states": stepped["reached"],
            "rewards": stepped["rewards"],
            "terminals": stepped["terminated"],
            "ends": stepped["ends"],
        }
        if internal is not None:
            running["internal_states"] = self._cleared(stepped["ends"], acted["internal_states"])
            record |= {"begins": before["begins"], "internal_states": internal}
        if "remembered" in acted:
            record["remembered"] = acted["remembered"]
        self._keep(running)
        return record


class RoundFromOutside(ReplayTrainingGraph):
    """The same root, a step of all copies or an update in a call."""

    @rlgraph_api
    def one_step(self, progress):
        running = self._read()
        states = self.environment.get_states(running["task"])
        (after, states), steps = self._step_into_memory(running, states, progress)
        self._keep(after)
        return steps["ends"]

    @rlgraph_api
    def one_update(self, progress):
        records = self.ring.get_records(self.experience.batch_size)
        return self._learned("update", records, None, None, progress)["loss"]


def agent_on(backend, kind, environment, layers, **options):
    return Agent.from_spec(
        {"type": kind, "network_spec": layers, **options},
        state_space=environment.state_space,
        action_space=environment.action_space,
        backend=backend,
        seed=3,
        execution_spec={"dtype": "float64", "threads": None},
    )


def executor_of(agent, graph, spaces, methods, compiled=False):
    backend = agent.executor.backend.name
    return executor_class(backend)(
        graph,
        spaces,
        action_space=agent.action_space,
        backend=backend,
        execution_spec={"seed": 3, "dtype": "float64", "threads": None, "compile": compiled},
        api_methods=methods,
    )


def of_rollouts(agent, environment, make, methods, compiled=False):
    learner = agent.learner
    graph = learner.spec.make_graph(copy(learner.experience), partial(make, environment.copies(NUMBER)))
    internal = graph.algorithm.internal_states_space
    spaces = {"progress": FloatBox(0.0, 1.0)}
    if internal or "update" in methods:
        methods = [*dict.fromkeys((*methods, "update"))]
        spaces |= learner.experience.input_spaces(learner.state_space, agent.action_space, internal)
    return executor_of(agent, graph, spaces, methods, compiled)


def of_replay(agent, environment, make, methods, compiled=False):
    replay = copy(agent.learner.experience)
    replay.memory = TensorReplay(replay.memory.capacity)
    graph = agent.learner.spec.make_graph(replay, partial(make, environment.copies(NUMBER), 16))
    due = Dict(sync_target=BoolBox(shape=(graph.rounds * graph.updates_per_round,)))
    spaces = {"progress": FloatBox(0.0, 1.0), "change": FloatBox(), "due": due}
    if "train" not in methods:
        del spaces["change"], spaces["due"]
    return executor_of(agent, graph, spaces, methods, compiled)


def update_from_outside(executor):
    """A rollout, step by step, and an update on it."""
    steps = [executor.execute("one_step", 0.5) for _ in range(LENGTH)]
    beginnings = [steps[0].pop("internal_states")] if "internal_states" in steps[0] else []
    for step in steps[1:]:
        step.pop("internal_states", None)
    records = {name: stacked([step[name] for step in steps]) for name in steps[0]}
    records["weights"] = np.ones((LENGTH, NUMBER))
    executor.execute("update", records, *beginnings, progress=0.5)


def stacked(values):
    if isinstance(values[0], dict):
        return {name: stacked([value[name] for value in values]) for name in values[0]}
    return np.stack(values)


def check_equal(inside, outside, tolerance):
    one, other = inside.get_weights(), outside.get_weights()
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name], other[name], rtol=tolerance, atol=tolerance, err_msg=name)


def tolerance_of(backend):
    """TensorFlow's optimizer of graphs may round otherwise inside of a loop."""
    return 1e-12 if backend == "tf" else 0.0


@pytest.mark.parametrize("case", CASES)
def test_it_does_what_the_root_does_from_outside(case, backend):
    kind, make, layers = CASES[case]
    agent = agent_on(backend, kind, make(), layers, rollout_length=LENGTH)
    inside = of_rollouts(agent, make(), RolloutTrainingGraph, ["begin", "train"])
    outside = of_rollouts(agent, make(), SteppedFromOutside, ["begin", "one_step", "update"])
    np.testing.assert_equal(inside.execute("begin"), outside.execute("begin"))
    for _ in range(UPDATES):
        inside.execute("train", 0.5)
        update_from_outside(outside)
    check_equal(inside, outside, tolerance_of(backend))
    plan = inside.plan("train")
    assert len(plan.segments) == 1, "host functions cut the program"
    rollout = next(node for node in plan.nodes if isinstance(node, Loop))
    assert rollout.id not in plan.sliced, "derivatives go back into acting"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_compiled_program_rounds_otherwise_at_most(compiler):
    agent = agent_on(compiler, "ppo", CartPole(), DENSE, rollout_length=LENGTH)
    inside = of_rollouts(agent, CartPole(), RolloutTrainingGraph, ["begin", "train"], compiled=True)
    outside = of_rollouts(agent, CartPole(), SteppedFromOutside, ["begin", "one_step", "update"])
    np.testing.assert_equal(inside.execute("begin"), outside.execute("begin"))
    before = inside.get_weights()
    inside.execute("train", 0.5)
    update_from_outside(outside)
    check_equal(inside, outside, 1e-9)
    changed = [name for name, now in inside.get_weights().items() if not np.array_equal(before[name], now)]
    assert any("policy" in name for name in changed)


def test_a_program_with_a_memory_does_what_its_root_does_from_outside(backend):
    agent = agent_on(
        backend,
        "dqn",
        CartPole(),
        DENSE,
        memory_spec={"type": "replay_memory", "capacity": 50},
        update_spec={"update_interval": 8, "batch_size": 16, "update_steps": 2},
        optimizer_spec={"type": "adam", "learning_rate": [0.01, 0.0]},
        exploration_spec={"epsilon_spec": {"type": "linear_decay", "from": 1.0, "to": 0.1, "end": 0.8}},
    )
    inside = of_replay(agent, CartPole(), ReplayTrainingGraph, ["begin", "fill", "train"])
    methods = ["begin", "one_step", "one_update", "sync_target"]
    outside = of_replay(agent, CartPole(), RoundFromOutside, methods)
    graph = inside.root
    assert (graph.steps_per_round, graph.updates_per_round, graph.rounds) == (2, 2, 8)
    inside.execute("begin"), outside.execute("begin")
    progress = [0.25 + step / 64 for step in range(34)]
    inside.execute("fill", progress[0], 1 / 64)
    ends = [outside.execute("one_step", progress[step]) for step in range(2)]
    due = np.random.default_rng(0).random((2, 16)) < 0.2
    assert due.sum(1).all()
    results = [
        inside.execute("train", progress[first], 1 / 64, {"sync_target": flags})
        for first, flags in zip((2, 18), due, strict=True)
    ]
    losses = []
    for step, flags in zip(range(2, 34, 2), due.reshape(-1, 2), strict=True):
        ends += [outside.execute("one_step", each) for each in progress[step : step + 2]]
        for is_due in flags:
            losses.append(outside.execute("one_update", progress[step + 1]))
            if is_due:
                outside.execute("sync_target")
    told = np.concatenate([result["steps"]["ends"] for result in results])
    np.testing.assert_array_equal(told, np.stack(ends[2:]))
    np.testing.assert_allclose(
        np.mean([result["numbers"]["loss"] for result in results]), np.mean(losses), rtol=1e-9
    )
    check_equal(inside, outside, tolerance_of(backend))
    assert inside.get_weights()["memory/inserted"] == 34 * NUMBER
    assert len(inside.plan("train").segments) == 1
