"""Outlines of plans: expectations are written by hand from the wiring in conftest."""

import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, RLGraphError, assemble, build, gradients, graph_fn, rlgraph_api
from rlgraph.core.graph.nodes import GraphFunctionCall, Loop, walk_nodes
from rlgraph.core.graph.pipeline import make_plan
from rlgraph.draw import plan_outline
from rlgraph.draw.plan_lines import Folding
from rlgraph.spaces import FloatBox

STATES = FloatBox(shape=(4,), add_batch_rank=True)


def test_an_update(dqn):
    assert plan_outline(dqn, "update_from_memory", depth=1) == (
        "dqn.update_from_memory(num_records []):\n"
        "    host: memory.get_records (sample): num_records [] -> actions, rewards, terminals\n"
        "          [N], next_states, states [N, 4]\n"
        "    policy.get_q_values (network, value, advantages, combine): states [N, 4] -> q_values\n"
        "          [N, 2]\n"
        "    policy.get_q_values (network, value, advantages, combine): next_states [N, 4] ->\n"
        "          q_next [N, 2]\n"
        "    target-policy.get_q_values (network, value, advantages, combine): next_states [N, 4]\n"
        "          -> q_next_target [N, 2]\n"
        "    loss.loss: q_values, q_next, q_next_target [N, 2], actions, rewards, terminals [N]\n"
        "          -> loss [], per_item [N]\n"
        "    gradients of loss by 8 variables of policy\n"
        "    optimizer.step (apply): gradients of loss -> writes 17 variables of optimizer, 8 of\n"
        "          policy\n"
        "    return loss [], per_item [N]\n"
    )


def test_depth(dqn):
    text = plan_outline(dqn, "sync", depth=1)
    assert text == (
        "dqn.sync():\n    synchronizer.sync: 8 variables of policy -> writes 8 variables of target-policy\n"
    )
    deeper = plan_outline(dqn, "update_from_memory").splitlines()
    assert "    policy/network.call (dense-0, dense-1): states [N, 4] -> inputs [N, 64]" in deeper
    assert "    policy.combine: value [N, 1], advantages [N, 2] -> q_values [N, 2]" in deeper
    assert "    dense-0.call: states [N, 4]" not in "\n".join(deeper)
    assert "network/dense-0.call" in plan_outline(dqn, "update_from_memory", depth=3)


def test_loops(repeats):
    assert plan_outline(repeats, "twice") == (
        "repeats.twice(inputs, shift [B, 3]):\n"
        "    layer.call: inputs [B, 3] -> layer [B, 3]\n"
        "    repeat 4 times, from layer [B, 3]:\n"
        "        inner.call: layer [B, 3] -> inner [B, 3]\n"
        "        repeats.add: inner, shift [B, 3] -> add [B, 3]\n"
        "        next layer=add [B, 3]\n"
        "    repeats.add: layer, shift [B, 3] -> add [B, 3]\n"
        "    return add [B, 3]\n"
    )
    assert plan_outline(repeats, "gather") == (
        "repeats.gather(n [], inputs [B, 3]):\n"
        "    for i in range(n), from inputs_2=inputs, total=inputs [B, 3]:\n"
        "        layer.call: inputs_2 [B, 3] -> layer [B, 3]\n"
        "        repeats.add: total, layer [B, 3] -> add [B, 3]\n"
        "        repeats.mean: layer [B, 3], i [] -> mean []\n"
        "        next inputs_2=layer, total=add [B, 3]\n"
        "        collect means=mean []\n"
        "    return means [N], total [B, 3]\n"
    )


def test_a_loop_that_stops_and_one_that_uses_a_value_from_outside(repeats):
    assert plan_outline(repeats, "search").splitlines()[-2:] == [
        "        stop if is_small",
        "    return inputs_2 [B, 3]",
    ]
    assert plan_outline(repeats, "last") == (
        "repeats.last(inputs [B, 3]):\n"
        "    repeat 3 times, from inputs_2=inputs [B, 3]:\n"
        "        repeats.add: inputs [B, 3] -> add [B, 3]\n"
        "        next inputs_2=add [B, 3]\n"
        "    return inputs_2 [B, 3]\n"
    )


def test_branches(repeats):
    assert plan_outline(repeats, "perhaps") == (
        "repeats.perhaps(flag [], inputs [B, 3]):\n"
        "    if flag:\n"
        "        repeats.add: inputs [B, 3] -> add [B, 3]\n"
        "        give value=add [B, 3]\n"
        "    else:\n"
        "        give value=inputs [B, 3]\n"
        "    return value [B, 3]\n"
    )


class Learner(Component):
    """A loss per item of which nothing has a name, the loss that is returned, and a step."""

    def __init__(self):
        self.layer, self.optimizer = Dense(units=1, scope="layer"), Adam()
        super().__init__(self.layer, self.optimizer, scope="learner")

    @rlgraph_api
    def update(self, states):
        per_item = self._loss(self.layer.call(states))
        loss = self._mean(per_item)
        self.optimizer.step(self.layer.variables(), loss)
        return {"loss": loss, "largest": self._largest(per_item)}

    @rlgraph_api
    def get_gradients(self, states):
        loss = self._mean(self.layer.call(states))
        return self._size(gradients(loss, self.layer.variables()))

    @graph_fn
    def _loss(self, ops, outputs):
        return outputs[..., 0] ** 2

    @graph_fn
    def _mean(self, ops, losses):
        return ops.mean(losses)

    @graph_fn
    def _largest(self, ops, losses):
        return ops.max(losses)

    @graph_fn
    def _size(self, ops, slopes):
        return ops.sum(slopes[0] ** 2)


def test_names_that_are_taken():
    built = build(assemble(Learner()), {"states": STATES})
    assert plan_outline(built, "update") == (
        "learner.update(states [B, 4]):\n"
        "    layer.call: states [B, 4] -> layer [B, 1]\n"
        "    learner.loss: layer [B, 1] -> loss_2 [B]\n"
        "    learner.mean: loss_2 [B] -> loss []\n"
        "    gradients of loss by 2 variables of layer\n"
        "    optimizer.step (apply): gradients of loss -> writes 2 variables of layer, 5 of\n"
        "          optimizer\n"
        "    learner.largest: loss_2 [B] -> largest []\n"
        "    return largest, loss []\n"
    )
    assert (
        "    gradients of mean by 2 variables of layer\n    learner.size: gradients of mean -> size []\n"
        in (plan_outline(built, "get_gradients"))
    )


def test_sums_over_all_learners(make_root):
    root, spaces = make_root("dqn")
    text = plan_outline(build(assemble(root, spaces, in_group=True), spaces), "update", depth=1)
    assert text.endswith(
        "    gradients of own_sum by 8 variables of policy\n"
        "    mean over all learners: own_sum, own_number [] -> loss []\n"
        "    mean over all learners: gradients of own_sum, own_number [] -> gradients of own_sum\n"
        "    optimizer.step (apply): gradients of own_sum -> writes 17 variables of optimizer, 8\n"
        "          of policy\n"
        "    return loss [], per_item [B]\n"
    )


@pytest.mark.parametrize("depth", [1, 2, 9])
def test_all_that_runs_is_shown_in_order(built, depth):
    for method in built.graph.methods:
        plan = make_plan(built, method)
        folding = Folding(built, depth)
        lines = list(folding.body(plan.steps, plan.results).walk())
        shown = [node for line in lines for node in line.nodes if isinstance(node, GraphFunctionCall)]
        ran = [node for step in plan.segments for node in walk_nodes(step.nodes)]
        ran = [node for node in ran if isinstance(node, GraphFunctionCall)]
        assert [node.id for node in shown if not node.host] == [node.id for node in ran]
        assert sum(node.host for node in shown) == plan.statistics["host_calls"]
        text = plan_outline(built, method, depth=depth)
        assert all(f"{folding.name(node.component)}." in text for node in shown)
        assert sum(line.lstrip().startswith(("for ", "repeat ")) for line in text.splitlines()) == sum(
            isinstance(node, Loop) for node in walk_nodes(plan.nodes)
        )
        assert all(len(line) <= 88 for line in text.splitlines())


def test_wrong_arguments(two, unbuilt):
    with pytest.raises(RLGraphError, match=r"two has no API method 'rum'\. Did you mean 'run'\?"):
        plan_outline(two, "rum")
    with pytest.raises(RLGraphError, match="a plan needs a build"):
        plan_outline(assemble(unbuilt), "run")
    for depth in (0, True, 1.5):
        with pytest.raises(RLGraphError, match="depth: expected an integer >= 1, given"):
            plan_outline(two, "run", depth=depth)
