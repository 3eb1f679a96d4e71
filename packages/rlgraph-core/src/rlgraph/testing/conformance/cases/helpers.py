"""Cases of helpers."""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    Clipping,
    GeneralizedAdvantageEstimation,
    ReturnScaling,
    SequenceHelper,
    Standardize,
    VTraceFunction,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing.conformance.cases.case import FEATURES, PER_ITEM, VALUES, Case

FLAT: dict[str, Any] = {"add_batch_rank": True}
SIDE_BY_SIDE: dict[str, Any] = {"add_batch_rank": True, "add_time_rank": True, "time_major": True}


def _steps(floats: tuple[str, ...], ranks: dict[str, Any], bools: tuple[str, ...] = ()) -> dict[str, Any]:
    return {**{name: FloatBox(**ranks) for name in floats}, **{name: BoolBox(**ranks) for name in bools}}


def _advantages(ranks: dict[str, Any], *ends: str, **options: Any) -> Case:
    spaces = {
        **_steps(("baseline_values", "rewards"), ranks, ("terminals", *ends)),
        "bootstrap_values": FloatBox(**ranks),
    }
    if options.get("bootstrap") == "last_value":
        del spaces["bootstrap_values"]
    methods = ("calc_td_errors", "calc_gae_values")
    return Case(lambda: GeneralizedAdvantageEstimation(0.9, 0.8, **options), spaces, methods)


def _v_trace(ranks: dict[str, Any], behind: Any, *ends: str, **options: Any) -> Case:
    spaces = {
        "logits_actions_pi": FloatBox(shape=(3,), **ranks),
        "log_probs_actions_mu": FloatBox(-3.0, 0.0, shape=(3,), **ranks),
        "actions": IntBox(3, **ranks),
        **_steps(("rewards", "values"), ranks, ends),
        "discounts": FloatBox(0.0, 1.0, **ranks),
        "bootstrapped_values": behind,
    }
    return Case(lambda: VTraceFunction(**options), spaces, ("calc_v_trace_values",))


CASES: dict[str, Case] = {
    "clipping": Case(lambda: Clipping(0.5), {"values": FEATURES}, ("clip_if_needed",), by=("values",)),
    "clipping_nested": Case(
        lambda: Clipping(0.5), {"values": Dict(a=FEATURES, b=VALUES)}, ("clip_if_needed",), by=("values",)
    ),
    "clipping_side_by_side": Case(
        lambda: Clipping(0.5), {"values": FloatBox(**SIDE_BY_SIDE)}, ("clip_if_needed",), by=("values",)
    ),
    "generalized_advantage_estimation": _advantages(FLAT, "sequence_indices", clip_rewards=0.5),
    "generalized_advantage_estimation_last_value": _advantages(
        FLAT, "sequence_indices", bootstrap="last_value"
    ),
    "generalized_advantage_estimation_side_by_side": _advantages(SIDE_BY_SIDE),
    "return_scaling": Case(
        lambda: ReturnScaling(0.9),
        {"rewards": FloatBox(**SIDE_BY_SIDE), "weights": BoolBox(**SIDE_BY_SIDE)},
        ("scale", "scale"),
    ),
    "standardize": Case(Standardize, {"values": FloatBox(**FLAT)}, ("standardize",), by=("values",)),
    "standardize_weights": Case(
        Standardize,
        {"values": FloatBox(**SIDE_BY_SIDE), "weights": BoolBox(**SIDE_BY_SIDE)},
        ("standardize",),
        by=("values",),
    ),
    "sequence_helper": Case(
        SequenceHelper,
        {
            **_steps(("rewards", "values", "next_values"), FLAT, ("terminals", "sequence_indices")),
            "decay": FloatBox(0.0, 1.0),
            "discount": FloatBox(0.0, 1.0),
        },
        (
            "calc_sequence_lengths",
            "calc_sequence_decays",
            "reverse_apply_decays_to_sequence",
            "bootstrap_values",
        ),
        by=("values", "rewards", "next_values", "discount"),
    ),
    "v_trace_function": _v_trace(SIDE_BY_SIDE, PER_ITEM),
    "v_trace_function_flat": _v_trace(
        FLAT, PER_ITEM, "sequence_indices", rho_bar=1.5, rho_bar_pg=None, c_bar=0.9
    ),
}
