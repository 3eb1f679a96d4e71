"""PPO as one call of one root, against a loop over minibatches that are cut and fed by hand."""

import numpy as np
import pytest

from rlgraph.components import (
    Adam,
    GeneralizedAdvantageEstimation,
    IterativeOptimization,
    Policy,
    PPOLoss,
    ValueFunction,
)
from rlgraph.core import Component, GraphExecutor, InputError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

STEPS, COLUMNS, UNITS = 6, 9, 5
EPOCHS, MINIBATCHES = 4, 4
#: Steps of the sequences that rollouts are cut into.
LENGTH = 2
LAMBDA, DISCOUNT = 0.9, 0.95
DENSE = {"type": "dense", "units": 8, "activation": "tanh"}
#: Feed-forward, and recurrent.
NETWORKS = {
    False: [DENSE, {"type": "dense", "units": UNITS}],
    True: [DENSE, {"type": "lstm", "units": UNITS, "scope": "lstm"}],
}
STORED = {"states": FloatBox(shape=(3,)), "actions": IntBox(4), "begins": BoolBox()}
ROLLOUT = {
    **STORED,
    "rewards": FloatBox(),
    "terminals": BoolBox(),
    "ends": BoolBox(),
    "next_values": FloatBox(),
}
COMPUTED = {name: FloatBox() for name in ("log_probs", "values", "advantages")}
TIME = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}


class PPO(Component):
    """Its policy and value function are called on the rollout, and in the minibatches."""

    def __init__(self, recurrent):
        layers = NETWORKS[recurrent]
        self.policy, self.value_function = Policy(layers, IntBox(4)), ValueFunction(layers)
        self.gae = GeneralizedAdvantageEstimation(gae_lambda=LAMBDA, discount=DISCOUNT)
        self.loss, self.optimizer = PPOLoss(clip_ratio=0.1, weight_entropy=0.01, weight_vf=0.5), Adam(1e-2)
        self.epochs = IterativeOptimization(EPOCHS, MINIBATCHES, recurrent, scope="epochs")
        parts = self.policy, self.value_function, self.gae, self.loss, self.optimizer, self.epochs
        super().__init__(*parts, scope="ppo")

    @rlgraph_api
    def evaluate(self, records, internal_states=None):
        observations = observed(records, internal_states)
        return {
            "log_probs": self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"],
            "values": self.value_function.get_state_values(observations)["state_values"],
        }

    @rlgraph_api
    def update(self, records, internal_states=None):
        computed = self.evaluate(records, internal_states)
        advantages = self.gae.calc_gae_values(
            computed["values"],
            records["rewards"],
            records["terminals"],
            records["ends"],
            records["next_values"],
        )
        observations = observed(records, internal_states)
        return self.epochs.run(
            self.step, records, {**computed, "advantages": advantages, "observations": observations}
        )

    @rlgraph_api
    def step(self, records):
        observations = records["observations"]
        losses = self.loss.loss(
            self.policy.get_log_likelihood(observations, records["actions"])["log_likelihood"],
            records["log_probs"],
            self.value_function.get_state_values(observations)["state_values"],
            records["values"],
            records["advantages"],
            self.policy.get_entropy(observations)["entropy"],
        )
        self.optimizer.step(self.policy.variables() + self.value_function.variables(), losses["loss"])
        return losses

    @rlgraph_api
    def step_by_hand(self, fields, internal_states=None):
        given = {name: fields[name] for name in (*STORED, *COMPUTED)}
        return self.step({**given, "observations": observed(fields, internal_states)})


def observed(records, internal_states):
    """The observations of records: states alone, or with what recurrent networks need."""
    if internal_states is None:
        return records["states"]
    return {"states": records["states"], "internal_states": internal_states, "resets": records["begins"]}


def rollout():
    rng = np.random.default_rng(2)
    shape = (STEPS, COLUMNS)
    ends = rng.uniform(size=shape) < 0.2
    ends[-1] = True
    return {
        "states": rng.normal(size=(*shape, 3)),
        "actions": rng.integers(4, size=shape),
        "begins": np.concatenate([np.ones((1, COLUMNS), bool), ends[:-1]]),
        "rewards": rng.normal(size=shape),
        "terminals": ends & (rng.uniform(size=shape) < 0.5),
        "ends": ends,
        "next_values": rng.normal(size=shape),
    }


def states_ahead(*parts):
    """Of policy and value function, ``[*parts, COLUMNS, UNITS]`` each."""
    rng = np.random.default_rng(3)
    return {
        name: {"lstm": tuple(rng.normal(size=(2, *parts, COLUMNS, UNITS)))}
        for name in ("policy", "value_function")
    }


def advantages_by_hand(steps, values):
    """Schulman et al. (2016), equation 16, step by step and column by column."""
    advantages = np.zeros_like(values)
    for column in range(COLUMNS):
        following = 0.0
        for t in reversed(range(STEPS)):
            ended = steps["ends"][t, column]
            following = 0.0 if ended else following
            behind = steps["next_values"][t, column] if ended else values[t + 1, column]
            behind *= 1.0 - steps["terminals"][t, column]
            delta = steps["rewards"][t, column] + DISCOUNT * behind - values[t, column]
            following = advantages[t, column] = delta + DISCOUNT * LAMBDA * following
    return advantages


def built(recurrent, backend, length=None, **execution):
    ppo = PPO(recurrent)
    spaces = {
        "records": Dict(ROLLOUT, **TIME),
        "fields": Dict({**STORED, **COMPUTED}, **(TIME if recurrent else {"add_batch_rank": True})),
    }
    if recurrent:
        networks = ppo.policy, ppo.value_function
        spaces["internal_states"] = Dict(
            {k: v for one in networks for k, v in one.internal_states_space.items()}
        )
        if length is not None:
            spaces["update.internal_states"] = spaces["internal_states"].with_extra_ranks(
                True, "parts", time_major=True
            )
    return GraphExecutor(
        ppo,
        spaces,
        backend=backend,
        execution_spec={"seed": 5, "dtype": "float64", **execution},
        api_methods=["evaluate", "update", "step_by_hand"],
    )


def part(fields, chosen, axis):
    if isinstance(fields, dict):
        return {name: part(field, chosen, axis) for name, field in fields.items()}
    if isinstance(fields, tuple):
        return tuple(part(field, chosen, axis) for field in fields)
    return np.take(fields, chosen, axis)


def joined(parts, axis):
    """Fields of the same names side by side."""
    if isinstance(parts[0], dict):
        return {name: joined([part[name] for part in parts], axis) for name in parts[0]}
    if isinstance(parts[0], tuple):
        return tuple(joined(list(of_one), axis) for of_one in zip(*parts, strict=True))
    return np.concatenate(parts, axis)


def update_in_parts_by_hand(executor, rng, steps, states):
    """The mean loss of 16 minibatches of 6 of the 27 sequences of 2 steps, each from its own states."""
    numbers, slices = range(STEPS // LENGTH), [slice(i, i + LENGTH) for i in range(0, STEPS, LENGTH)]
    cut = [{name: field[each] for name, field in steps.items()} for each in slices]
    before = [part(states, i, 0) for i in numbers]
    computed = joined([executor.execute("evaluate", cut[i], before[i]) for i in numbers], 0)
    fields = {**{name: steps[name] for name in STORED}, **computed}
    fields["advantages"] = advantages_by_hand(steps, computed["values"])
    sequences = joined([{name: field[each] for name, field in fields.items()} for each in slices], 1)
    before, losses, size = joined(before, 0), [], 27 // MINIBATCHES
    for _ in range(EPOCHS):
        order = rng.permutation(27)
        for chosen in (order[i * size : (i + 1) * size] for i in range(MINIBATCHES)):
            given = part(sequences, chosen, 1), part(before, chosen, 0)
            losses.append(executor.execute("step_by_hand", *given)["loss"])
    return np.mean(losses)


def update_by_hand(executor, rng, recurrent, steps, *states):
    """The mean loss of 16 minibatches: of 2 of the 9 columns, or of 13 of the 54 steps."""
    computed = executor.execute("evaluate", steps, *states)
    fields = {**{name: steps[name] for name in STORED}, **computed}
    fields["advantages"] = advantages_by_hand(steps, computed["values"])
    if not recurrent:
        fields = {name: field.reshape(-1, *field.shape[2:]) for name, field in fields.items()}
    number, losses = COLUMNS if recurrent else STEPS * COLUMNS, []
    size = number // MINIBATCHES
    for _ in range(EPOCHS):
        order = rng.permutation(number)
        for chosen in (order[i * size : (i + 1) * size] for i in range(MINIBATCHES)):
            minibatch = part(fields, chosen, int(recurrent))
            losses.append(executor.execute("step_by_hand", minibatch, *part(states, chosen, 0))["loss"])
    assert len(losses) == 16
    return np.mean(losses)


@pytest.mark.parametrize(
    ("recurrent", "length", "execution"),
    [
        pytest.param(False, None, {}, id="feed-forward"),
        pytest.param(True, None, {}, id="recurrent"),
        pytest.param(True, LENGTH, {}, id="parts"),
        pytest.param(False, None, {"compile": ["update"]}, id="compiled", marks=pytest.mark.repetition),
    ],
)
def test_one_call_does_what_a_loop_by_hand_does(trainer, recurrent, length, execution):
    steps, states = rollout(), (states_ahead(*[STEPS // LENGTH] * bool(length)),) if recurrent else ()
    one = built(recurrent, trainer, length, **execution)
    other = built(recurrent, trainer)
    start = one.get_weights()
    rng = np.random.Generator(type(one.storage.stream("epochs").bit_generator)())
    rng.bit_generator.state = one.storage.stream("epochs").bit_generator.state
    for _ in range(2):
        if length is None:
            expected = update_by_hand(other, rng, recurrent, steps, *states)
        else:
            expected = update_in_parts_by_hand(other, rng, steps, *states)
        found = one.execute("update", steps, *states)
        assert found["num_updates"] == 16
        np.testing.assert_allclose(found["loss"], expected, rtol=0, atol=1e-9)
    weights = one.get_weights()
    for name, value in other.get_weights().items():
        np.testing.assert_allclose(weights[name], value, rtol=0, atol=1e-8, err_msg=name)
    for name in one.get_weights(trainable_only=True):
        assert np.abs(weights[name] - start[name]).max() > 1e-3
    if length is not None:
        with pytest.raises(
            InputError, match=r"internal_states: .* parts of equal length of the 6 steps, given 4"
        ):
            one.execute("update", steps, states_ahead(4))


def test_acting_without_derivatives():
    """NumPy takes none; everything else of the root runs there."""
    one = built(False, "numpy")
    assert one.execute("evaluate", rollout())["values"].shape == (STEPS, COLUMNS)
