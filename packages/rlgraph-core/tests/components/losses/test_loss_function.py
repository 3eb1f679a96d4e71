"""What all losses have in common."""

import inspect

import numpy as np
import pytest

from rlgraph.components import EuclidianDistanceLoss, LossFunction, PPOLoss
from rlgraph.core import AssemblyError, BuildError, Component, graph_fn, registry, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

FLOATS, BOOLS = FloatBox(add_batch_rank=True), BoolBox(add_batch_rank=True)
LOSSES = [
    cls
    for name in registry("rlgraph.components").names()
    if isinstance(cls := registry("rlgraph.components").load(name), type) and issubclass(cls, LossFunction)
]


class Difference(LossFunction):
    item_arguments = ("first", "second")

    @rlgraph_api
    def loss_per_item(self, first, second):
        return self._difference(first, second)

    @graph_fn
    def _difference(self, ops, first, second):
        return first - second


class Two(Difference):
    """A loss of named numbers, of which one is only measured."""

    measures = ("back",)

    @rlgraph_api
    def loss_per_item(self, first, second):
        there = self._difference(first, second)
        return {"loss": there, "there": there, "back": self._difference(second, first)}


SPACES = {"first": FLOATS, "second": FLOATS}


def test_the_three_methods(backend):
    spaces = {**SPACES, "weights": FLOATS, "loss_per_item": FLOATS}
    test = ComponentTest(Difference(), spaces, backend=backend)
    both = {"loss": 2.0, "loss_per_item": [2.0, 4.0]}
    test.test("loss_per_item", [3.0, 5.0], [1.0, 1.0], expected_outputs=[2.0, 4.0])
    test.test("loss_average", [2.0, 4.0], [1.0, 0.5], expected_outputs=2.0)
    test.test("loss", [3.0, 5.0], [1.0, 1.0], [1.0, 0.5], expected_outputs=both)
    plain = ComponentTest(Difference(), SPACES, backend=backend)
    plain.test("loss", [3.0, 5.0], [1.0, 1.0], expected_outputs={**both, "loss": 3.0})


def test_named_numbers(backend):
    """Weights scale losses; what is measured is the plain mean of the items that count."""
    test = ComponentTest(Two(), {**SPACES, "weights": FLOATS}, backend=backend)
    test.test(
        "loss",
        [3.0, 5.0, np.inf],
        [1.0, 1.0, np.nan],
        [1.0, 0.5, 0.0],
        expected_outputs={"loss": 2.0, "there": 2.0, "back": -3.0, "loss_per_item": [2.0, 4.0, 0.0]},
    )


def test_nothing_counts(backend):
    test = ComponentTest(Two(), {**SPACES, "weights": BOOLS}, backend=backend)
    nothing = {"loss": 0.0, "there": 0.0, "back": 0.0, "loss_per_item": [0.0]}
    test.test("loss", [3.0], [np.nan], [False], expected_outputs=nothing)


@pytest.mark.parametrize("cls", LOSSES, ids=lambda cls: cls.__name__)
def test_every_loss_has_them(cls):
    names = ("loss", "loss_per_item", "loss_average")
    methods = {name: list(getattr(cls, name).signature.parameters) for name in names}
    more = {"weights", *(["sequence_length"] if cls.takes_sequences else [])}
    assert set(methods["loss"]) - {"sequence_length"} == {*methods["loss_per_item"], "weights"}
    assert more <= set(methods["loss"])
    assert methods["loss_average"][1:] == ["loss_per_item", "weights"]


Q_LEARNING = ("q_values", "actions", "rewards", "terminals", "q_next", "q_next_target")
ONE_STEP = ("rewards", "terminals", "q_next", "q_next_target", "discounts")
V_TRACE = ("log_probs", "behaviour_log_probs", "state_values", "bootstrap_values", "rewards", "terminals")


@pytest.mark.parametrize(
    ("loss", "method", "names"),
    [
        ("dqn", "loss", (*Q_LEARNING, "discounts", "weights")),
        ("dqn", "loss_per_item", (*Q_LEARNING, "discounts")),
        ("dqn", "get_td_errors", (*Q_LEARNING, "discounts")),
        ("quantile_dqn", "get_td_errors", (*Q_LEARNING, "discounts", "next_actions")),
        *(
            (
                "dqfd",
                method,
                (
                    *(*Q_LEARNING, "expert_margins", "apply_demo_loss", "discounts"),
                    *(f"n_step_{name}" for name in ONE_STEP),
                    *more,
                ),
            )
            for method, more in (("loss", ["weights"]), ("loss_per_item", []), ("get_td_errors", []))
        ),
        ("impala", "get_value_targets", (*V_TRACE, "truncations", "weights")),
        ("sac", "alpha_loss_per_item", ("alpha", "log_probs_sampled", "action_mask")),
        ("td3", "critic_loss_per_item", ("q_values_next", "q_values", "rewards", "terminals", "discounts")),
        ("euclidian_distance", "loss", ("parameters", "labels", "weights", "sequence_length")),
    ],
)
def test_arguments_that_are_written_elsewhere(loss, method, names):
    """They may be passed by position, too."""
    api = registry("rlgraph.components").load(f"{loss}_loss").api_methods()[method]
    assert api.__name__ == method
    assert tuple(inspect.signature(api).parameters) == ("self", *names)
    assert api.__doc__


def test_names_of_the_original():
    for name in ("actor_critic", "container", "dqfd", "dqn", "impala", "ppo", "sac"):
        new, old = (
            registry("rlgraph.components").load(f"{name}_{word}") for word in ("loss", "loss_function")
        )
        assert new is old
    assert type(Component.from_spec({"type": "PPO-Loss-Function", "clip_ratio": 0.1})) is PPOLoss


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        (
            {"second": FloatBox(shape=(1,), add_batch_rank=True)},
            r"second: expected one number per item, \[B\].*new_shape.*squeeze",
        ),
        (
            {"second": FloatBox(add_batch_rank=True, add_time_rank=True)},
            "second: expected the ranks of first.*broadcast over all pairs",
        ),
        ({"first": Dict(a=float, add_batch_rank=True)}, "first: expected one number per item"),
        ({"first": FloatBox()}, "first: expected one number per item"),
    ],
)
def test_wrong_shapes(spaces, message):
    with pytest.raises(SpaceError, match=message):
        ComponentTest(Difference(), {**SPACES, **spaces}, backend="numpy")


def test_batch_and_time_must_lie_alike():
    first = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    second = FloatBox(add_batch_rank=True, add_time_rank=True)
    with pytest.raises(SpaceError, match="second: expected the ranks of first"):
        ComponentTest(Difference(), {"first": first, "second": second}, backend="numpy")


def test_minibatches_of_fixed_size():
    test = ComponentTest(
        Difference(), {"first": FloatBox(shape=(2,)), "second": FloatBox(shape=(2,))}, backend="numpy"
    )
    both = {"loss": 3.0, "loss_per_item": [2.0, 4.0]}
    test.test("loss", [3.0, 5.0], [1.0, 1.0], expected_outputs=both)


class Minibatch(Component):
    """The loss of the first two items."""

    def __init__(self):
        self.loss = Difference(scope="loss")
        super().__init__(self.loss, scope="minibatch")

    @rlgraph_api
    def get(self, first, second):
        return self.loss.loss(self._pick(first), self._pick(second))

    @graph_fn
    def _pick(self, ops, x):
        return ops.take(x, ops.arange(2))


def test_minibatches_that_are_picked(backend):
    test = ComponentTest(Minibatch(), SPACES, backend=backend)
    both = {"loss": 3.0, "loss_per_item": [2.0, 4.0]}
    test.test("get", [3.0, 5.0, 9.0], [1.0, 1.0, 0.0], expected_outputs=both)


def test_one_weight_per_item():
    weights = FloatBox(shape=(2,), add_batch_rank=True)
    with pytest.raises(SpaceError, match=r"weights: expected one number per item, \[B\]"):
        ComponentTest(Difference(), {**SPACES, "weights": weights}, backend="numpy")
    steps = FloatBox(add_batch_rank=True, add_time_rank=True)
    with pytest.raises(SpaceError, match="weights: expected the ranks of first"):
        ComponentTest(Difference(), {**SPACES, "weights": steps}, backend="numpy")
    with pytest.raises(SpaceError, match="weights: expected the batch and time ranks of parameters"):
        spaces = {"parameters": FLOATS, "labels": FLOATS, "weights": steps}
        ComponentTest(EuclidianDistanceLoss(), spaces, backend="numpy")


class Returning(LossFunction):
    """A loss that returns what it is told to."""

    def __init__(self, what):
        self.what = what
        super().__init__(scope="returning")

    @rlgraph_api
    def loss_per_item(self, losses):
        return {"losses": losses, "sum": self._sum(losses), "nothing": [], "no parts": {}}[self.what]

    @graph_fn
    def _sum(self, ops, losses):
        return ops.sum(losses)


@pytest.mark.parametrize(
    ("what", "space", "error", "message"),
    [
        ("nothing", FLOATS, AssemblyError, "returning.loss_per_item: .*given nothing"),
        ("no parts", FLOATS, AssemblyError, "returning.loss_per_item: .*given nothing"),
        ("sum", FLOATS, BuildError, r"one number per item, \[B\], given float32\[\]"),
        (
            "losses",
            FloatBox(add_batch_rank=True, add_time_rank=True),
            BuildError,
            r"one number per item, \[B\], given float32\[B, T\]",
        ),
    ],
)
def test_one_number_per_item(what, space, error, message):
    with pytest.raises(error, match=message):
        ComponentTest(Returning(what), {"losses": space, "loss_per_item": FLOATS}, backend="numpy")


@pytest.mark.parametrize("names", [("first", "frist"), "first"])
def test_listed_arguments_must_exist(names):
    with pytest.raises(
        AssemblyError, match=r"Wrong.item_arguments: '.*' is not an argument of loss_per_item"
    ):
        type("Wrong", (Difference,), {"item_arguments": names})


class WithEnds(LossFunction):
    item_arguments = ("rewards", "terminals")

    @rlgraph_api
    @graph_fn
    def loss_per_item(self, ops, rewards, terminals):
        return ops.where(terminals, 0.0, rewards)


@pytest.mark.parametrize("space", [IntBox(2, add_batch_rank=True), FLOATS])
def test_terminals_are_bool(space):
    with pytest.raises(SpaceError, match='terminals: expected a BoolBox.*"convert_type", "to_dtype": "bool"'):
        ComponentTest(WithEnds(), {"rewards": FLOATS, "terminals": space}, backend="numpy")
