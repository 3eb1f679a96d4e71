"""The loss of deep Q-learning from demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.losses.dqn_loss import DQNLoss, flat
from rlgraph.components.losses.per_item_checks import check_items
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.imitation import large_margin_loss
from rlgraph.spaces import Space


class DQFDLoss(DQNLoss):
    """`DQNLoss` plus a large margin between the expert's actions and all others (Hester et al., 2018).

    ``J_DQ + supervised_weight * J_E``, https://arxiv.org/abs/1704.03732, section 4. The paper's n-step loss is the same
    with n-step rewards and `discounts`; its L2 loss belongs to the optimizer. For a container action the
    margin losses of the parts are averaged.

    Args:
        expert_margin: the margin by which the expert's action must exceed the others.
        supervised_weight: weight of the margin loss.
        discount, double_q, huber_loss, action_space, shared_container_action_target, td_aggregation: as of `DQNLoss`.
        scope: name among its siblings.

    Raises:
        SpecError: a margin or weight below 0, or as `DQNLoss`.
    """

    def __init__(
        self,
        expert_margin: float = 0.8,
        supervised_weight: float = 1.0,
        discount: float = 0.99,
        double_q: bool = True,
        huber_loss: bool = False,
        action_space: Space | None = None,
        shared_container_action_target: bool = False,
        td_aggregation: str = "mean_loss",
        scope: str = "dqfd-loss",
        **kwargs: Any,
    ):
        self.expert_margin = check_number(expert_margin, f"{scope}.expert_margin", least=0)
        self.supervised_weight = check_number(supervised_weight, f"{scope}.supervised_weight", least=0)
        super().__init__(
            discount,
            double_q,
            huber_loss,
            action_space,
            shared_container_action_target,
            td_aggregation,
            scope=scope,
            **kwargs,
        )

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        for name in ("expert_margins", "apply_demo_loss"):
            space = input_spaces.get(name)
            if isinstance(space, Space) and space.has_batch_rank:  # else one for all
                check_items({"rewards": input_spaces["rewards"], name: space})

    @rlgraph_api
    def loss_per_item(
        self,
        q_values: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        q_next: Any,
        q_next_target: Any,
        expert_margins: Any = None,
        apply_demo_loss: Any = None,
        discounts: Any = None,
    ) -> Any:
        """The loss per item [B]; arguments as of `DQNLoss.loss`, and

        Args:
            expert_margins: a margin for each item [B], or one []; default: `expert_margin`.
            apply_demo_loss: whether an item is a demonstration [B], or all are [], bool; default: all are. Others have
                no margin loss.
        """
        per_item = self._loss(q_values, actions, rewards, terminals, q_next, q_next_target, discounts)[1]
        return self._with_margin(per_item, q_values, actions, expert_margins, apply_demo_loss)

    @graph_fn(flatten_ops={"q_values", "actions"})
    def _with_margin(
        self,
        ops: Any,
        per_item: Any,
        q_values: Mapping[str, Any],
        actions: Mapping[str, Any],
        expert_margins: Any = None,
        apply_demo_loss: Any = None,
    ) -> Any:
        losses = []
        for path, values in q_values.items():
            margin = self.expert_margin
            if expert_margins is not None:
                margin = ops.reshape(expert_margins, (-1, *[1] * (len(values.shape) - 2)))
            taken = ops.astype(actions[path], "int64")
            losses.append(flat(ops, large_margin_loss(ops, values, taken, margin)))
        supervised = ops.mean(ops.concat(losses, axis=1), axis=1)
        if apply_demo_loss is not None:
            supervised = ops.where(apply_demo_loss, supervised, 0.0)
        return per_item + self.supervised_weight * supervised
