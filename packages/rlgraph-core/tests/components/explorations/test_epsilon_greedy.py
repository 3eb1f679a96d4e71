import numpy as np
import pytest
from scipy.stats import chisquare

from rlgraph.components import EpsilonGreedy
from rlgraph.components.policies.categorical_actions import mask_shapes
from rlgraph.core import BuildError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

SPACES = {"actions": IntBox(4, add_batch_rank=True), "progress": FloatBox()}


def explorer(epsilon, backend, seed=10, **options):
    return ComponentTest(
        EpsilonGreedy(IntBox(4), epsilon, **options), SPACES, backend=backend, seed=seed
    ).executor.program("get_action")


def draw(act, batch, number, time=0.0):
    """`number` actions, `batch` at a time; the greedy one is always 2."""
    greedy = np.full(batch, 2, np.int64)
    return np.concatenate([act(greedy, np.float32(time)) for _ in range(number // batch)])


@pytest.mark.parametrize("batch", [1, 8, 500])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
def test_shares(epsilon, batch, backend):
    number = 2000
    actions = draw(explorer(epsilon, backend), batch, number)
    assert (actions.dtype, actions.shape) == (np.int64, (number,))
    for action in range(4):
        # Each action with probability epsilon / 4, the greedy one with 1 - epsilon more.
        p = epsilon / 4 + (1 - epsilon if action == 2 else 0.0)
        assert abs(np.mean(actions == action) - p) <= 4.5 * np.sqrt(p * (1 - p) / number)


def test_the_smallest_draw_is_allowed_as_well():
    """Draws in [0, 1) are cut into equal parts, each with its lower bound."""
    exploration = EpsilonGreedy(IntBox(4))
    mask = np.tile([False, True, False, True], (4, 1))
    draws = np.array([0.0, 0.49, 0.5, 0.99])
    np.testing.assert_array_equal(exploration._drawn(draws, "", mask), [1, 1, 3, 3])
    np.testing.assert_array_equal(exploration._drawn(draws, "", None), [0, 1, 2, 3])


def test_the_greedy_action_belongs_to_its_row(backend):
    act = explorer(0.0, backend)
    greedy = np.array([0, 3, 1, 2, 2], np.int64)
    np.testing.assert_array_equal(act(greedy, np.float32(0.5)), greedy)


def test_rows_explore_independently():
    act = explorer(0.5, "numpy")
    greedy = np.zeros(8, np.int64)
    explored = np.array([act(greedy, np.float32(0.0)) != 0 for _ in range(2000)], float)
    correlation = np.corrcoef(explored.T) - np.eye(8)
    assert np.abs(correlation).max() < 0.1
    # Whether to explore tells nothing about which action is taken.
    first, second = (np.array([act(np.array([0, 0]), np.float32(0))[i] for _ in range(3000)]) for i in (0, 1))
    for value in (1, 2, 3):
        assert abs(np.mean(first == value) - 0.125) < 0.03
        assert abs(np.mean(second == value) - 0.125) < 0.03


def test_schedule(backend):
    act = explorer((1.0, 0.2), backend)
    for time, epsilon in [(0.0, 1.0), (0.25, 0.8), (0.5, 0.6), (1.0, 0.2), (3.0, 0.2)]:
        share = np.mean(draw(act, 1000, 2000, time) != 2)
        assert abs(share - epsilon * 3 / 4) < 0.045


def test_the_input_stays_as_it_is(backend):
    act = explorer(1.0, backend)
    greedy = np.full(100, 2, np.int64)
    out = act(greedy, np.float32(0.0))
    assert not np.shares_memory(out, greedy)
    assert (greedy == 2).all()
    kept = explorer(0.0, backend)(greedy, np.float32(0.0))
    greedy[...] = 0
    assert (kept == 2).all()


def test_wrong_schedule():
    with pytest.raises(SpecError, match="e.epsilon_spec: expected a number"):
        EpsilonGreedy(IntBox(3), "often", scope="e")


# Other actions.

NESTED = Dict(jump=BoolBox(), move=Tuple(IntBox(3), IntBox(4, shape=(2,), dtype="uint8")))


def nested_explorer(epsilon, backend, seed=10):
    spaces = {"actions": NESTED.with_batch_rank(), "progress": FloatBox()}
    exploration = EpsilonGreedy(NESTED, epsilon)
    return ComponentTest(exploration, spaces, backend=backend, seed=seed).executor.program("get_action")


def nested_actions(number):
    return {
        "jump": np.ones(number, bool),
        "move": (np.full(number, 2), np.full((number, 2), 3, np.uint8)),
    }


def test_nested_actions(backend):
    greedy = nested_actions(4000)
    actions = nested_explorer(0.6, backend)(greedy, np.float32(0.0))
    assert NESTED.with_batch_rank().contains(actions)
    move, pair = actions["move"]
    assert (actions["jump"].dtype, move.dtype, pair.dtype) == (bool, np.int64, np.uint8)
    # Every value of every part, the greedy one among them, with probability epsilon / n when all is drawn.
    assert abs(np.mean(~actions["jump"]) - 0.3) < 0.04
    for value in (0, 1):
        assert abs(np.mean(move == value) - 0.2) < 0.03
    for value in (0, 1, 2):
        assert (np.abs(np.mean(pair == value, axis=0) - 0.15) < 0.03).all()
    # All parts are drawn, or none: the whole action stays with probability 0.4 + 0.6 / (2 * 3 * 16).
    kept = actions["jump"] & (move == 2) & (pair == 3).all(axis=1)
    assert abs(np.mean(kept) - 0.40625) < 0.04
    np.testing.assert_equal(greedy, nested_actions(4000))


@pytest.mark.parametrize("number", [1, 3])
def test_no_exploration_of_nested_actions(number, backend):
    greedy = nested_actions(number)
    np.testing.assert_equal(nested_explorer(0.0, backend)(greedy, np.float32(0.0)), greedy)


@pytest.mark.parametrize("space", [BoolBox(), IntBox(3, shape=(2,)), IntBox(5, dtype="int32")])
def test_single_actions_of_all_kinds(space, backend):
    batch = space.with_batch_rank()
    test = ComponentTest(
        EpsilonGreedy(space, 1.0), {"actions": batch, "progress": FloatBox()}, backend=backend
    )
    drawn = test.test(("get_action", [batch.zeros(300), np.float32(0.0)]))
    assert batch.contains(drawn)
    assert len(np.unique(drawn)) == space.num_categories


def test_wrong_actions():
    with pytest.raises(SpecError, match=r"exploration: Q-learning needs categorical actions.*given FloatBox"):
        EpsilonGreedy(FloatBox())


@pytest.mark.parametrize("epsilon", [1.5, -0.1, [0.5, -0.5], ["exp", 2.0, 0.1]])
def test_epsilon_is_a_probability(epsilon):
    with pytest.raises(SpecError, match=r"e.epsilon_spec: expected values in \[0, 1\], given"):
        EpsilonGreedy(IntBox(2), epsilon, scope="e")


def test_a_decay_spec_is_the_schedule_itself():
    """``{"decay_spec": ...}`` is how configurations of RLgraph 0.5 have it."""
    schedule = {"type": "linear_decay", "from": 0.8, "to": 0.2}
    wrapped, plain = (
        EpsilonGreedy(IntBox(2), epsilon_spec=spec) for spec in ({"decay_spec": schedule}, schedule)
    )
    assert wrapped.metrics(0.5) == plain.metrics(0.5) == {"epsilon": pytest.approx(0.5)}
    with pytest.raises(SpecError, match=r"epsilon_spec\.decay_spec"):
        EpsilonGreedy(IntBox(2), epsilon_spec={"decay_spec": {"type": "lineal"}})


def test_each_part_explores_on_its_own():
    """Together all parts of a row are drawn or none; apart each element is, whatever the others do."""
    space = Dict(a=IntBox(10), b=IntBox(10, shape=(2,)))
    spaces = {"actions": space.with_batch_rank(), "progress": FloatBox()}
    greedy, number = {"a": np.zeros(4000, np.int64), "b": np.zeros((4000, 2), np.int64)}, 4000
    drawn = {}
    for each_part in (False, True):
        test = ComponentTest(EpsilonGreedy(space, 0.5, each_part=each_part), spaces, backend="numpy", seed=3)
        actions = test.executor.program("get_action")(greedy, np.float32(0))
        drawn[each_part] = np.column_stack([actions["a"], actions["b"]]) != 0
    assert drawn[True].mean(axis=0) == pytest.approx(0.45, abs=0.04)
    assert drawn[False].mean(axis=0) == pytest.approx(0.45, abs=0.04)
    pairs = {key: np.corrcoef(table.T)[np.triu_indices(3, 1)] for key, table in drawn.items()}
    assert np.abs(pairs[True]).max() < 4.5 / np.sqrt(number)
    assert pairs[False].min() > 0.6


@pytest.mark.parametrize("each_part", [False, True])
def test_elements_with_different_numbers_of_actions(each_part):
    space = IntBox([2, 4, 3])
    spaces = {"actions": space.with_batch_rank(), "progress": FloatBox()}
    test = ComponentTest(EpsilonGreedy(space, 1.0, each_part=each_part), spaces, backend="numpy", seed=3)
    drawn = test.executor.program("get_action")(np.zeros((6000, 3), np.int64), np.float32(0))
    for element, number in enumerate((2, 4, 3)):
        shares = np.bincount(drawn[:, element], minlength=number) / 6000
        assert shares == pytest.approx(np.full(number, 1 / number), abs=0.03)


# Masks.


def seen(mask):
    """Observations with a mask."""
    leaves = [mask]
    while not isinstance(leaves[0], np.ndarray):
        leaves = list(leaves[0].values() if isinstance(leaves[0], dict) else leaves[0])
    return {"states": np.zeros(len(leaves[0]), np.float32), "action_mask": mask}


def masked_explorer(space, masks, epsilon=1.0, backend="numpy", **options):
    spaces = {"actions": space.with_batch_rank(), "observations": {"states": float, "action_mask": masks}}
    test = ComponentTest(EpsilonGreedy(space, epsilon, **options), spaces, backend=backend, seed=10)
    return lambda actions, mask: test.test(("get_action", {"actions": actions, "observations": seen(mask)}))


def looks_uniform(drawn, allowed):
    """Whether all draws are allowed, and their frequencies those of a uniform law (chi-square)."""
    counts = np.bincount(drawn, minlength=max(allowed) + 1)
    assert counts.sum() == counts[list(allowed)].sum()
    return len(allowed) == 1 or chisquare(counts[list(allowed)]).pvalue > 1e-4


def test_draws_are_uniform_among_what_is_allowed(backend):
    """Of a row that allows nothing everything; each row has its own mask."""
    act = masked_explorer(IntBox(5), BoolBox(shape=(5,), add_batch_rank=True), backend=backend)
    allowed = [[0, 2, 3], [4], [1, 2], [], [0, 1, 2, 3, 4]]
    mask = np.array([[action in row for action in range(5)] for row in allowed])
    drawn = act(np.zeros(10_000, np.int64), np.repeat(mask, 2000, axis=0)).reshape(5, 2000)
    assert drawn.dtype == np.int64
    for row, actions in zip(drawn, allowed, strict=True):
        assert looks_uniform(row, actions or range(5))


@pytest.mark.parametrize("batch", [1, 7])
def test_a_mask_of_one_environment(batch):
    act = masked_explorer(IntBox(4), BoolBox(shape=(4,), add_batch_rank=True))
    mask = np.tile([False, True, False, True], (batch, 1))
    drawn = np.concatenate([act(np.ones(batch, np.int64), mask) for _ in range(700 // batch)])
    assert looks_uniform(drawn, [1, 3])


@pytest.mark.parametrize("space", [IntBox(5), NESTED, IntBox([2, 4, 3])], ids=["one", "nested", "elements"])
@pytest.mark.parametrize("each_part", [False, True])
def test_a_mask_that_allows_all_changes_no_draw(space, each_part):
    """Nor does the argument, if it is left out: what a seed gives does not depend on it."""
    batch = space.with_batch_rank()
    flat = mask_shapes(space, "here")
    masks = space.map(lambda path, _: BoolBox(shape=flat[path])).with_batch_rank()
    everything = space.unflatten_sample({path: np.ones((50, *shape), bool) for path, shape in flat.items()})
    acts = [
        ComponentTest(EpsilonGreedy(space, 0.5, each_part=each_part), spaces, backend="numpy", seed=4).test
        for spaces in (
            {"actions": batch},
            {"actions": batch, "observations": {"states": float, "action_mask": masks}},
        )
    ]
    greedy = batch.zeros(50)
    for _ in range(3):
        plain = acts[0](("get_action", {"actions": greedy}))
        masked = acts[1](("get_action", {"actions": greedy, "observations": seen(everything)}))
        np.testing.assert_equal(plain, masked)


@pytest.mark.parametrize(
    ("space", "known"),
    [
        (IntBox(4), [[0], [1], [1], [0], [2], [0]]),
        (IntBox([2, 4, 3]), [[[0, 0, 0]], [[0, 1, 1]], [[0, 0, 0]], [[1, 3, 2]], [[0, 1, 2]], [[0, 2, 0]]]),
    ],
)
def test_known_draws(space, known):
    """What seed 10 gave before there were masks: what an agent learns with a seed must not change."""
    spaces = {"actions": space.with_batch_rank()}
    test = ComponentTest(EpsilonGreedy(space, 0.75), spaces, backend="numpy", seed=10)
    assert [test.test(("get_action", space.with_batch_rank().zeros(1))).tolist() for _ in known] == known


def test_greedy_actions_stay(backend):
    """The mask is about what is drawn; that the greedy action is allowed is for the policy to see to."""
    act = masked_explorer(IntBox(4), BoolBox(shape=(4,), add_batch_rank=True), 0.4, backend)
    drawn = act(np.full(5000, 2), np.tile([True, True, False, False], (5000, 1)))
    counts = np.bincount(drawn, minlength=4)
    assert chisquare(counts[:3], [1000, 1000, 3000]).pvalue > 1e-4
    assert counts[3] == 0


@pytest.mark.parametrize("each_part", [False, True])
def test_masks_of_nested_actions(each_part, backend):
    """Of some parts; the others are drawn from all they have."""
    masks = Dict(move=Tuple(BoolBox(shape=(3,)), BoolBox(shape=(2, 4))), add_batch_rank=True)
    act = masked_explorer(NESTED, masks, backend=backend, each_part=each_part)
    number = 3000
    first = np.tile([True, False, True], (number, 1))
    second = np.tile([[False, True, True, True], [True, False, False, True]], (number, 1, 1))
    drawn = act(nested_actions(number), {"move": (first, second)})
    assert NESTED.with_batch_rank().contains(drawn)
    assert looks_uniform(drawn["jump"].astype(int), [0, 1])
    assert looks_uniform(drawn["move"][0], [0, 2])
    assert looks_uniform(drawn["move"][1][:, 0], [1, 2, 3])
    assert looks_uniform(drawn["move"][1][:, 1], [0, 3])


def test_masks_of_elements_with_different_numbers_of_actions(backend):
    """What an element does not have is never drawn, whether its mask allows that or nothing."""
    act = masked_explorer(IntBox([3, 5]), BoolBox(shape=(2, 5), add_batch_rank=True), backend=backend)
    for mask, allowed in (
        ([[1, 0, 1, 1, 1], [0, 0, 1, 0, 1]], ([0, 2], [2, 4])),
        ([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], (range(3), range(5))),
    ):
        drawn = act(np.zeros((3000, 2), np.int64), np.tile(np.array(mask, bool), (3000, 1, 1)))
        for element in (0, 1):
            assert looks_uniform(drawn[:, element], allowed[element])


@pytest.mark.parametrize(
    ("space", "mask", "said"),
    [
        (
            IntBox(4),
            BoolBox(shape=(3,), add_batch_rank=True),
            r"action_mask: expected a BoolBox of shape \[4\], g",
        ),
        (
            IntBox(4),
            FloatBox(shape=(4,), add_batch_rank=True),
            r"expected a BoolBox of shape \[4\], given Float",
        ),
        (
            Dict(a=IntBox(4)),
            BoolBox(shape=(4,), add_batch_rank=True),
            "expected a container of masks by parts",
        ),
        (
            IntBox(4),
            BoolBox(shape=(4,), add_batch_rank=True, add_time_rank=True),
            "action_mask: expected masks of a batch, without a time rank, given",
        ),
    ],
)
def test_masks_that_do_not_fit(space, mask, said):
    with pytest.raises((BuildError, SpaceError), match=said):
        masked_explorer(space, mask)
