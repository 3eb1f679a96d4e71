"""Options of PPO, A2C and SAC: each does what it says, against expectations in NumPy; none is ignored."""

import pytest

from rlgraph.agents.a2c import A2C, A2CAgent
from rlgraph.agents.ppo import PPO, PPOAgent
from rlgraph.agents.sac import SAC, SACAgent
from rlgraph.components import Adam, Optimizer, RMSProp
from rlgraph.core import SpecError, registry
from rlgraph.spaces import FloatBox

STATES, MOVES = FloatBox(shape=(3,)), FloatBox(-1.0, 1.0, shape=(2,))
#: Agent -> its algorithm, and the type of its optimizers without a spec.
KINDS = {PPOAgent: (PPO, Adam), A2CAgent: (A2C, RMSProp), SACAgent: (SAC, Adam)}


def optimizers_of(algorithm):
    return [part for part in algorithm.sub_components.values() if isinstance(part, Optimizer)]


# Optimizers.


@pytest.mark.parametrize("kind", KINDS)
def test_every_registered_optimizer(kind):
    algorithm, default = KINDS[kind]
    names = ("adadelta", "adagrad", "adam", "adamw", "nadam", "rmsprop", "sgd")
    expected = {None: default, **{name: registry("rlgraph.components").load(name) for name in names}}
    for name, wanted in expected.items():
        spec = {"learning_rate": 0.25, **({} if name is None else {"type": name})}
        found = optimizers_of(algorithm(STATES, MOVES, optimizer_spec=spec))
        assert {type(optimizer) for optimizer in found} == {wanted}
        assert {optimizer.learning_rate.value(0.0) for optimizer in found} == {0.25}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "rmsprob"}, r"^agent.optimizer_spec.type: .*'rmsprob'.* Did you mean 'rmsprop'"),
        ({"type": "dense"}, r"^agent.optimizer_spec.type: 'dense' is .*Dense, expected a Optimizer"),
        ({"type": "sgd", "beta1": 0.5}, r"^agent.optimizer_spec.beta1: SGD has no such key"),
        ({"lr": 0.5}, r"^agent.optimizer_spec.lr: .* has no such key. .*learning_rate"),
    ],
)
def test_wrong_optimizers(kind, spec, message):
    with pytest.raises(SpecError, match=message):
        kind.from_spec({"type": kind, "optimizer_spec": spec}, state_space=STATES, action_space=MOVES)
