"""Cases of action adapters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.components import ActionAdapter, JointActionAdapter, choose_adapter
from rlgraph.components.distributions.container_parts import map_parts
from rlgraph.spaces import BoolBox, FloatBox, IntBox, Space, from_spec
from rlgraph.testing.conformance.cases.case import FEATURES, PARTS, Case

METHODS = ("get_adapter_outputs", "get_parameters", "get_parameters_from_adapter_outputs")
BOUNDED = FloatBox(-1.0, 1.0, shape=(2,))


def _case(make: Callable[[], Any], **spaces: Space) -> Case:
    """Features go in without, outputs of the layer with a time rank."""
    adapter: ActionAdapter | JointActionAdapter = make()
    parts = adapter.adapters if isinstance(adapter, JointActionAdapter) else adapter
    outputs = from_spec(map_parts(lambda part: FloatBox(shape=(part.num_outputs(),)), parts))
    spaces = {"nn_outputs": FEATURES, "adapter_outputs": outputs.with_extra_ranks(time_major=True), **spaces}
    # With masks there are no derivatives: the sine of a huge number has none that differences could find.
    by = () if "action_mask" in spaces else ("nn_outputs", "adapter_outputs")
    return Case(make, spaces, METHODS, by=by)


def _adapter(name: str, action_space: Space, **options: Any) -> Callable[[], ActionAdapter]:
    spec = {"type": f"{name}_distribution_adapter", "action_space": action_space, **options}
    return lambda: ActionAdapter.from_spec(spec)


CASES: dict[str, Case] = {
    "bernoulli_distribution_adapter": _case(_adapter("bernoulli", BoolBox())),
    "beta_distribution_adapter": _case(_adapter("beta", BOUNDED)),
    "categorical_distribution_adapter": _case(
        _adapter(
            "categorical", IntBox(4), pre_network_spec=[{"type": "dense", "units": 3, "activation": "tanh"}]
        )
    ),
    "categorical_distribution_adapter_masked": _case(
        _adapter("categorical", IntBox(2, shape=(3,))),
        action_mask=BoolBox(shape=(3, 2), add_batch_rank=True),
        adapter_outputs=FloatBox(shape=(6,), add_batch_rank=True),  # the ranks of the mask
    ),
    "gumbel_softmax_distribution_adapter": _case(_adapter("gumbel_softmax", IntBox(4))),
    "joint_action_adapter": _case(lambda: choose_adapter(PARTS)),
    "log_normal_distribution_adapter": _case(
        _adapter("log_normal", FloatBox([0.0, None], [None, 1.0]), activation="tanh")
    ),
    "multivariate_normal_distribution_adapter": _case(_adapter("multivariate_normal", FloatBox(shape=(3,)))),
    "multivariate_normal_distribution_adapter_full": _case(
        _adapter("multivariate_normal", FloatBox(shape=(3,)), full_covariance=True)
    ),
    "clipped_normal_distribution_adapter": _case(_adapter("clipped_normal", BOUNDED, activation="tanh")),
    "normal_distribution_adapter": _case(_adapter("normal", FloatBox(shape=(2, 2)))),
    "squashed_normal_distribution_adapter": _case(_adapter("squashed_normal", BOUNDED, activation="tanh")),
}
