"""The loss of deep Q-learning from demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.named_values import Parts, arguments_of, by_name
from rlgraph.components.losses.dqn_loss import DQNLoss, flat
from rlgraph.components.losses.per_item_checks import check_items
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.imitation import large_margin_loss
from rlgraph.spaces import Space

#: The arguments after those of `DQNLoss`.
FURTHER_ARGUMENTS = (
    *("expert_margins", "apply_demo_loss", "discounts"),
    *("n_step_rewards", "n_step_terminals", "n_step_q_next", "n_step_q_next_target", "n_step_discounts"),
)


class DQFDLoss(DQNLoss):
    """One-step, n-step and large-margin losses of deep Q-learning from demonstrations (Hester et al., 2018).

    ``J_DQ + n_step_weight * J_n + supervised_weight * J_E``, https://arxiv.org/abs/1704.03732, section 4; the L2 loss
    is the optimizer's `l2_penalty`. For a container action the margin losses of the parts are averaged.

    Args:
        expert_margin: the margin by which the expert's action must exceed the others.
        supervised_weight: weight of the margin loss.
        n_step_weight: weight of the n-step loss.
        discount, double_q, huber_loss, action_space, shared_container_action_target, td_aggregation, value_rescaling:
            as of `DQNLoss`.

    Raises:
        SpecError: a margin or weight below 0, or as `DQNLoss`.
    """

    item_arguments = (*DQNLoss.item_arguments, "n_step_rewards", "n_step_terminals", "n_step_discounts")

    def __init__(
        self,
        expert_margin: float = 0.8,
        supervised_weight: float = 1.0,
        n_step_weight: float = 1.0,
        scope: str = "dqfd-loss",
        **kwargs: Any,
    ):
        self.expert_margin = check_number(expert_margin, f"{scope}.expert_margin", least=0)
        self.supervised_weight = check_number(supervised_weight, f"{scope}.supervised_weight", least=0)
        self.n_step_weight = check_number(n_step_weight, f"{scope}.n_step_weight", least=0)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        for name in ("expert_margins", "apply_demo_loss"):
            space = input_spaces.get(name)
            if isinstance(space, Space) and space.has_batch_rank:  # else one for all
                check_items({"rewards": input_spaces["rewards"], name: space})

    @rlgraph_api
    @arguments_of(DQNLoss.loss_per_item, without="discounts", more=FURTHER_ARGUMENTS)
    def loss_per_item(self, **values: Any) -> Any:
        """``{"loss", "td_loss", "margin_loss", "n_step_loss"}``, each ``[B]``; arguments as of `DQNLoss.loss`, and

        Args:
            expert_margins: a margin for each item [B], or one []; default: `expert_margin`.
            apply_demo_loss: whether an item is a demonstration [B], or all are [], bool; default: all are. Others have
                no margin loss.
            n_step_rewards, n_step_terminals, n_step_q_next, n_step_q_next_target, n_step_discounts: the same of the
                states n steps later; None: there is no n-step loss.
        """
        td = by_name(self._loss, values)[1]
        margin = by_name(self._margin_loss, values)
        if values["n_step_rewards"] is None:
            return {"loss": self._total(td, margin), "td_loss": td, "margin_loss": margin}
        later = {name.removeprefix("n_step_"): value for name, value in values.items() if "n_step_" in name}
        n_step = by_name(self._loss, {**values, **later})[1]
        total = self._total(td, margin, n_step)
        return {"loss": total, "td_loss": td, "margin_loss": margin, "n_step_loss": n_step}

    @rlgraph_api
    @arguments_of(loss_per_item)
    def get_td_errors(self, **values: Any) -> Any:
        """The size of the one-step TD error per item [B]; arguments as of `loss_per_item`."""
        return by_name(self._sizes, values)

    @graph_fn
    def _total(self, ops: Any, td: Any, margin: Any, n_step: Any = None) -> Any:
        total = td + self.supervised_weight * margin
        return total if n_step is None else total + self.n_step_weight * n_step

    @graph_fn(flatten_ops={"q_values", "actions"})
    def _margin_loss(
        self,
        ops: Any,
        q_values: Parts,
        actions: Parts,
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
        return supervised if apply_demo_loss is None else ops.where(apply_demo_loss, supervised, 0.0)
