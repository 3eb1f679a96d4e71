"""Cases of losses of Q-learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components import CategoricalDQNLoss, DQFDLoss, DQNLoss, QuantileDQNLoss
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing.conformance.cases.case import PARTS, PER_ITEM, VALUES, Case

LOSS_SPACES = {
    "q_values": VALUES,
    "actions": IntBox(4, add_batch_rank=True),
    "rewards": FloatBox(-3.0, 3.0, add_batch_rank=True),
    "terminals": BoolBox(add_batch_rank=True),
    "q_next": VALUES,
    "q_next_target": VALUES,
}

PART_VALUES = Dict(
    jump=FloatBox(shape=(2,)), move=Tuple(FloatBox(shape=(3,)), FloatBox(shape=(2, 2))), add_batch_rank=True
)
PART_LOSS_SPACES = {
    **LOSS_SPACES,
    **dict.fromkeys(("q_values", "q_next", "q_next_target"), PART_VALUES),
    "actions": PARTS.with_batch_rank(),
}


def _loss(spaces: Mapping[str, Any] = LOSS_SPACES, **options: Any) -> Case:
    return Case(
        lambda: DQNLoss(**options), spaces, ("loss", "loss_per_item", "get_td_errors"), by=("q_values",)
    )


def _demonstrations(spaces: Mapping[str, Any] = LOSS_SPACES, **options: Any) -> Case:
    return Case(lambda: DQFDLoss(**options), spaces, ("loss", "loss_per_item"), by=("q_values",))


def _distributional(kind: Any, number: int, parts: bool = False, **options: Any) -> Case:
    """Action values of `number` atoms each."""

    def with_atoms(_path: str, box: Any) -> Any:
        return FloatBox(-2.0, 2.0, shape=(*box.shape, number), **box.ranks.options())

    spaces = dict(PART_LOSS_SPACES if parts else LOSS_SPACES)
    for name in ("q_values", "q_next", "q_next_target"):
        spaces[name] = spaces[name].map(with_atoms)
    if parts:
        spaces |= {"weights": PER_ITEM, "discounts": PER_ITEM}
    methods = ("loss", "loss_per_item", "get_td_errors")
    return Case(lambda: kind(**options), spaces, methods, by=("q_values",))


CASES: dict[str, Case] = {
    "categorical_dqn_loss": _distributional(CategoricalDQNLoss, 7, low=-3.0, high=3.0),
    "categorical_dqn_loss_parts": _distributional(CategoricalDQNLoss, 5, parts=True, double_q=True),
    "quantile_dqn_loss": _distributional(QuantileDQNLoss, 5),
    "quantile_dqn_loss_parts": _distributional(
        QuantileDQNLoss, 4, parts=True, double_q=True, huber_delta=0.5
    ),
    "dqn_loss": _loss(double_q=False),
    "dqn_loss_double": _loss(double_q=True),
    "dqn_loss_double_huber": _loss(double_q=True, huber_loss=True),
    "dqn_loss_parts": _loss(PART_LOSS_SPACES, action_space=PARTS),
    "dqn_loss_parts_one_target": _loss(
        PART_LOSS_SPACES,
        action_space=PARTS,
        double_q=False,
        shared_container_action_target=True,
        td_aggregation="mean_error",
    ),
    "dqn_loss_weights_and_discounts": _loss(
        {**LOSS_SPACES, "weights": PER_ITEM, "discounts": PER_ITEM}, huber_loss=True
    ),
    "dqfd_loss": _demonstrations(),
    "dqfd_loss_margins": _demonstrations(
        {
            **LOSS_SPACES,
            "expert_margins": PER_ITEM,
            "apply_demo_loss": BoolBox(add_batch_rank=True),
            "weights": PER_ITEM,
            "discounts": PER_ITEM,
        },
        supervised_weight=0.5,
        huber_loss=True,
    ),
    "dqfd_loss_n_step": _demonstrations(
        {
            **LOSS_SPACES,
            **{
                f"n_step_{name}": LOSS_SPACES[name]
                for name in ("rewards", "terminals", "q_next", "q_next_target")
            },
            "n_step_discounts": PER_ITEM,
            "weights": PER_ITEM,
        },
        n_step_weight=0.5,
    ),
    "dqfd_loss_parts": _demonstrations(
        {**PART_LOSS_SPACES, "expert_margins": PER_ITEM, "apply_demo_loss": BoolBox()}, action_space=PARTS
    ),
}
