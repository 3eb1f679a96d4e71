"""Cases of losses of policies and their critics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components import ActorCriticLoss, IMPALALoss, IQLLoss, PPOLoss, SACLoss, TD3Loss
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Tuple
from rlgraph.testing.conformance.cases.case import PER_ITEM, Case

FLOATS = FloatBox(-2.0, 2.0, add_batch_rank=True)
LOG_PROBS = FloatBox(-3.0, -0.1, add_batch_rank=True)
TIME = FloatBox(0.0, 1.0)
#: Of an action with a part that has elements.
PARTS_LOG_PROBS = Dict(jump=FloatBox(-3.0, -0.1), move=FloatBox(-3.0, -0.1, shape=(2,)), add_batch_rank=True)


def in_time(space: Any, time_major: bool = True) -> Any:
    """The Space of sequences of four steps."""
    return space.with_extra_ranks(True, 4, time_major=time_major)


ACTOR_CRITIC_SPACES = {
    "log_probs": LOG_PROBS,
    "state_values": FLOATS,
    "advantages": FLOATS,
    "entropy": PER_ITEM,
}
PPO_SPACES = {**ACTOR_CRITIC_SPACES, "prev_log_probs": LOG_PROBS, "prev_state_values": FLOATS}
LENGTHS = {"sequence_length": IntBox(1, 5, add_batch_rank=True)}
ITEMS = {"rewards": FLOATS, "terminals": BoolBox(add_batch_rank=True)}
IMPALA_SPACES = {
    **{name: in_time(LOG_PROBS) for name in ("log_probs", "behaviour_log_probs", "entropy")},
    **{name: in_time(space) for name, space in ITEMS.items()},
    "state_values": in_time(FLOATS),
    "bootstrap_values": FLOATS,
}
TWO = Tuple(FloatBox(-2.0, 2.0), FloatBox(-2.0, 2.0), add_batch_rank=True)
TWO_OF_ALL = Tuple(FloatBox(-2.0, 2.0, shape=(3,)), FloatBox(-2.0, 2.0, shape=(3,)), add_batch_rank=True)
SAC_SPACES = {
    "alpha": FloatBox(0.1, 2.0),
    "log_probs_next_sampled": LOG_PROBS,
    "q_values_next_sampled": TWO,
    "q_values": TWO,
    "log_probs_sampled": LOG_PROBS,
    "q_values_sampled": TWO,
    **ITEMS,
}
_ALL = FloatBox(-3.0, -0.1, shape=(3,), add_batch_rank=True)
SAC_DISCRETE_SPACES = {
    **SAC_SPACES,
    **dict.fromkeys(("q_values_next_sampled", "q_values", "q_values_sampled"), TWO_OF_ALL),
    **dict.fromkeys(("log_probs_next_sampled", "log_probs_sampled"), _ALL),
    "actions": IntBox(3, add_batch_rank=True),
}
IQL_SPACES = {
    **dict.fromkeys(("state_values", "next_state_values"), FLOATS),
    **dict.fromkeys(("q_values", "q_values_target"), TWO),
    "log_likelihood": LOG_PROBS,
    **ITEMS,
}
TD3_SPACES = {"q_values_next": TWO, "q_values": TWO, "q_values_policy": FLOATS, **ITEMS}


def _actor_critic(spaces: Mapping[str, Any] = ACTOR_CRITIC_SPACES, **options: Any) -> Case:
    # The targets of the value function are made of its values, and are fixed: no difference quotients by them.
    return Case(
        lambda: ActorCriticLoss(**options), spaces, ("loss", "loss_per_item"), by=("log_probs", "entropy")
    )


def _ppo(spaces: Mapping[str, Any] = PPO_SPACES, **options: Any) -> Case:
    methods = ("loss", "loss_per_item")
    by = ("log_probs", "state_values", *(["entropy"] if "weight_entropy" in options else []))
    return Case(lambda: PPOLoss(**options), spaces, methods, by=by)


def _parts(spaces: Mapping[str, Any]) -> dict[str, Any]:
    names = [name for name in ("log_probs", "prev_log_probs", "entropy") if name in spaces]
    return {**spaces, **dict.fromkeys(names, PARTS_LOG_PROBS)}


def _sequences(spaces: Mapping[str, Any], time_major: bool = True) -> dict[str, Any]:
    return {**{name: in_time(space, time_major) for name, space in spaces.items()}, **LENGTHS}


def _impala(spaces: Mapping[str, Any] = IMPALA_SPACES, **options: Any) -> Case:
    # Values are in their own targets, which are fixed; and log-probabilities in the advantages.
    return Case(lambda: IMPALALoss(**options), spaces, ("loss", "loss_per_item"), by=("entropy",))


CASES: dict[str, Case] = {
    "impala_loss": _impala(),
    "impala_loss_parts": _impala(
        {
            **IMPALA_SPACES,
            **dict.fromkeys(("log_probs", "behaviour_log_probs", "entropy"), in_time(PARTS_LOG_PROBS)),
            "bootstrap_values": in_time(FLOATS),
            "truncations": in_time(BoolBox(add_batch_rank=True)),
            "weights": in_time(PER_ITEM),
            "progress": TIME,
        },
        reward_clipping="soft_asymmetric",
        weight_entropy=[0.1, 0.0],
        rho_bar=None,
        average_time_steps=True,
    ),
    "impala_loss_lengths": _impala({**IMPALA_SPACES, **LENGTHS}, reward_clipping="clamp_one", c_bar=0.9),
    "actor_critic_loss": _actor_critic(),
    "actor_critic_loss_parts": _actor_critic(_parts(ACTOR_CRITIC_SPACES)),
    "actor_critic_loss_sequences": _actor_critic(_sequences(ACTOR_CRITIC_SPACES), average_time_steps=False),
    "actor_critic_loss_schedules": _actor_critic(
        {**ACTOR_CRITIC_SPACES, "progress": TIME, "weights": PER_ITEM},
        weight_pg=[1.0, 0.5],
        weight_vf=["exp", 1.0, 0.1],
        weight_entropy=[0.1, 0.0],
    ),
    "ppo_loss": _ppo(),
    "ppo_loss_all_options": _ppo(
        {**PPO_SPACES, "progress": TIME, "weights": PER_ITEM},
        clip_ratio=[0.5, 0.1],
        value_function_clipping=0.5,
        weight_entropy=0.01,
        weight_vf=0.5,
        standardize_advantages=True,
    ),
    "ppo_loss_parts": _ppo(_parts(PPO_SPACES), weight_entropy=0.1),
    "ppo_loss_ratio_of_parts": _ppo(_parts(PPO_SPACES), weight_entropy=0.1, ratio_of="part"),
    "ppo_loss_sequences": _ppo(
        _sequences(_parts(PPO_SPACES)), weight_entropy=0.1, standardize_advantages=True
    ),
    "ppo_loss_batch_major": _ppo(_sequences(PPO_SPACES, time_major=False), value_function_clipping=0.5),
    "sac_loss": Case(
        SACLoss,
        {**SAC_SPACES, "discounts": PER_ITEM, "weights": PER_ITEM},
        ("loss", "critic_loss_per_item", "actor_loss_per_item"),
        by=("q_values", "q_values_sampled", "log_probs_sampled"),
    ),
    "sac_loss_parts": Case(
        lambda: SACLoss(target_entropy=-2.0),
        {**SAC_SPACES, "log_probs_next_sampled": PARTS_LOG_PROBS, "log_probs_sampled": PARTS_LOG_PROBS},
        ("loss",),
        by=("q_values", "q_values_sampled"),
    ),
    "sac_loss_discrete": Case(
        lambda: SACLoss(discrete=True), SAC_DISCRETE_SPACES, ("loss",), by=("q_values", "log_probs_sampled")
    ),
    "sac_loss_temperature": Case(
        lambda: SACLoss(target_entropy=-1.0), SAC_SPACES, ("alpha_loss_per_item",), by=("alpha",)
    ),
    "sac_loss_temperature_discrete": Case(
        lambda: SACLoss(target_entropy=0.5, discrete=True, temperature_loss="log_alpha"),
        SAC_DISCRETE_SPACES,
        ("alpha_loss_per_item",),
        by=("alpha",),
    ),
    # The policy's weights are made of the state values, and are fixed: no difference quotients by these.
    "iql_loss": Case(IQLLoss, IQL_SPACES, ("loss",), by=("q_values", "log_likelihood")),
    "td3_loss": Case(TD3Loss, TD3_SPACES, ("loss",), by=("q_values", "q_values_policy")),
    "td3_loss_one_critic": Case(
        lambda: TD3Loss(num_q_functions=1),
        {
            **TD3_SPACES,
            **dict.fromkeys(("q_values_next", "q_values"), Tuple(FloatBox(-2.0, 2.0), add_batch_rank=True)),
            "discounts": PER_ITEM,
            "weights": PER_ITEM,
        },
        ("loss", "critic_loss_per_item", "actor_loss_per_item"),
        by=("q_values", "q_values_policy"),
    ),
}
