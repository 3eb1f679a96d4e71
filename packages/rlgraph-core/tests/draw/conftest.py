"""Graphs to draw: two components, a cycle with borrowed parts, a whole DQN, one that computes nothing, random ones."""

import numpy as np
import pytest

from rlgraph.components import (
    Adam,
    Dense,
    DQNLoss,
    DuelingPolicy,
    EpsilonGreedy,
    ReplayMemory,
    Synchronizer,
)
from rlgraph.core import Component, assemble, branch, build, graph_fn, loop, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox

VECTOR = FloatBox(shape=(3,), add_batch_rank=True)


class Adder(Component):
    @rlgraph_api
    @graph_fn
    def add(self, ops, inputs):
        return inputs + 1.0

    @rlgraph_api
    @graph_fn(returns=2)
    def both(self, ops, first, second):
        return first + second, first * second


class Two(Component):
    """`double` behind `adder`."""

    def __init__(self):
        self.adder = Adder(scope="adder")
        super().__init__(self.adder, scope="two")

    @rlgraph_api
    def run(self, inputs):
        return self._double(self.adder.add(inputs))

    @graph_fn
    def _double(self, ops, inputs):
        return 2.0 * inputs


class Outer(Component):
    def __init__(self):
        self.inner = Adder(scope="inner")
        super().__init__(self.inner, scope="outer")

    @rlgraph_api
    def go(self, inputs):
        return self._halve(self.inner.add(inputs))

    @graph_fn
    def _halve(self, ops, inputs):
        return 0.5 * inputs


class Borrower(Component):
    """Calls a component that is composed elsewhere."""

    def __init__(self, other):
        self.other = other
        super().__init__(scope="borrower")

    @rlgraph_api
    def run(self, inputs):
        return self._own(self.other.add(self._own(inputs)))

    @graph_fn
    def _own(self, ops, inputs):
        return inputs - 1.0


class Tangle(Component):
    """A cycle between siblings, a borrowed component, nested results, an input handed back and one not used."""

    def __init__(self):
        self.first, self.second, self.outer = Adder(scope="first"), Adder(scope="second"), Outer()
        self.borrower = Borrower(self.outer.inner)
        super().__init__(self.first, self.second, self.outer, self.borrower, scope="tangle")

    @rlgraph_api
    def run(self, inputs, unused=1.0):
        there_and_back = self.second.add(self.first.add(inputs))
        total, product = self.first.both(there_and_back, inputs)
        return {"a": self.outer.go(total), "deep": {"b": self.borrower.run(product)}, "same": inputs}


class Idle(Component):
    @rlgraph_api
    def same(self, inputs):
        return inputs

    @rlgraph_api
    def nothing(self):
        return None


class DQN(Component):
    def __init__(self):
        layers = [{"type": "dense", "units": 64, "activation": "relu"}] * 2
        self.policy = DuelingPolicy(layers, IntBox(2))
        self.target = self.policy.copy(scope="target-policy", trainable=False)
        self.memory, self.loss, self.optimizer = ReplayMemory(1000), DQNLoss(), Adam()
        self.synchronizer, self.exploration = Synchronizer(), EpsilonGreedy(IntBox(2))
        super().__init__(
            self.policy,
            self.target,
            self.memory,
            self.loss,
            self.optimizer,
            self.synchronizer,
            self.exploration,
            scope="dqn",
        )

    @rlgraph_api
    def get_actions(self, states, progress):
        return self.exploration.get_action(self.policy.get_deterministic_action(states)["action"], progress)

    @rlgraph_api
    def insert(self, states, actions, rewards, terminals, next_states):
        records = {"states": states, "actions": actions, "rewards": rewards}
        return self.memory.insert_records({**records, "terminals": terminals, "next_states": next_states})

    @rlgraph_api
    def update(self, states, actions, rewards, terminals, next_states):
        q_values, q_next = (
            self.policy.get_q_values(states)["q_values"],
            self.policy.get_q_values(next_states)["q_values"],
        )
        q_target = self.target.get_q_values(next_states)["q_values"]
        losses = self.loss.loss(q_values, actions, rewards, terminals, q_next, q_target)
        self.optimizer.step(self.policy.variables(), losses["loss"])
        return {"loss": losses["loss"], "per_item": losses["loss_per_item"]}

    @rlgraph_api
    def update_from_memory(self, num_records):
        r = self.memory.get_records(num_records)
        return self.update(r["states"], r["actions"], r["rewards"], r["terminals"], r["next_states"])

    @rlgraph_api
    def sync(self):
        return self.synchronizer.sync(self.policy.variables(), self.target.variables())


class Repeats(Component):
    """Loops and branches of every kind. `layer` is called from inside and outside, `inner` only from inside."""

    def __init__(self):
        self.layer, self.inner = Dense(units=3, scope="layer"), Dense(units=3, scope="inner")
        self.left = Adder(scope="left")
        super().__init__(self.layer, self.inner, self.left, scope="repeats")

    @rlgraph_api
    def repeat(self, inputs, shift):
        return loop(4, lambda i, x: self._add(self.inner.call(x), shift), self.layer.call(inputs))

    @rlgraph_api
    def twice(self, inputs, shift):
        return self._add(self.repeat(inputs, shift), shift)

    @rlgraph_api
    def gather(self, inputs, n):
        def step(i, x, total):
            x = self.layer.call(x)
            return (x, self._add(total, x)), self._mean(x, i)

        (_, total), means = loop(n, step, inputs, inputs, collect=True)
        return {"total": total, "means": means}

    @rlgraph_api
    def search(self, inputs):
        return loop(9, lambda i, x: self.inner.call(x), inputs, until=self._is_small)

    @rlgraph_api
    def choose(self, inputs, flag):
        return branch(flag, self.left.add, lambda x: self._add(x, x), inputs)

    @rlgraph_api
    def perhaps(self, inputs, flag):
        return branch(flag, lambda x: self._add(x, x), lambda x: x, inputs)

    @rlgraph_api
    def nested(self, inputs):
        return loop(2, lambda i, x: loop(3, lambda j, y: self.inner.call(y), x), inputs)

    @rlgraph_api
    def last(self, inputs):
        return loop(3, lambda i, x: self._add(inputs, inputs), inputs)

    @graph_fn
    def _add(self, ops, first, second):
        return first + second

    @graph_fn
    def _mean(self, ops, inputs, index):
        return ops.mean(inputs)

    @graph_fn
    def _is_small(self, ops, inputs):
        return ops.mean(inputs) < 1.0


class Random(Component):
    """Components wired at random, some of them inside others; values may go round in circles."""

    def __init__(self, seed):
        self.seed = seed
        self.parts = [Adder(scope=f"adder-{i}") for i in range(2 + seed % 4)]
        self.outer = Outer()
        super().__init__(*self.parts, self.outer, scope=f"random-{seed}")

    @rlgraph_api
    def one(self, inputs, others):
        return self._wire(np.random.default_rng(self.seed), [inputs, others])

    @rlgraph_api
    def two(self, inputs):
        return self._wire(np.random.default_rng(self.seed + 1000), [inputs])

    def _wire(self, rng, values):
        for _ in range(int(rng.integers(2, 9))):
            first, second = (values[i] for i in rng.integers(len(values), size=2))
            part = self.parts[rng.integers(len(self.parts))]
            kind = rng.integers(4)
            if kind == 0:
                values.append(part.add(first))
            elif kind == 1:
                values.extend(part.both(first, second))
            elif kind == 2:
                values.append(self.outer.go(first))
            else:
                values.append(self.outer.inner.add(second))
        return tuple(values[-2:])


STATES = FloatBox(shape=(4,), add_batch_rank=True)
GRAPHS = {
    "two": (Two, {"inputs": VECTOR}),
    "tangle": (Tangle, {"inputs": VECTOR, "unused": float}),
    "repeats": (Repeats, {"inputs": VECTOR, "shift": VECTOR, "n": IntBox(1, None), "flag": bool}),
    "idle": (lambda: Idle(scope="idle"), {"inputs": VECTOR}),
    "dqn": (
        DQN,
        {
            "states": STATES,
            "next_states": STATES,
            "actions": IntBox(2, add_batch_rank=True),
            "rewards": FloatBox(add_batch_rank=True),
            "terminals": BoolBox(add_batch_rank=True),
            "progress": float,
            "num_records": int,
        },
    ),
}


GRAPHS |= {
    f"random-{seed}": (lambda seed=seed: Random(seed), {"inputs": VECTOR, "others": VECTOR})
    for seed in range(10)
}


def make(name):
    root, spaces = GRAPHS[name]
    return build(assemble(root()), spaces)


@pytest.fixture
def make_root():
    """An unbuilt root by name, and its input Spaces."""
    return lambda name: (GRAPHS[name][0](), GRAPHS[name][1])


@pytest.fixture
def two():
    return make("two")


@pytest.fixture
def tangle():
    return make("tangle")


@pytest.fixture
def repeats():
    return make("repeats")


@pytest.fixture(scope="session")
def dqn():
    return make("dqn")


@pytest.fixture(params=sorted(GRAPHS))
def built(request):
    return make(request.param)


@pytest.fixture(params=sorted(GRAPHS))
def unbuilt(request):
    return GRAPHS[request.param][0]()
