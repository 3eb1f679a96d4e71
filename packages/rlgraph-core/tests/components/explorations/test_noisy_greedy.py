import numpy as np
import pytest

from rlgraph.components import EpsilonGreedy, Exploration, NoisyGreedy
from rlgraph.core import BuildError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

Q_VALUES = np.array([1.0, 0.5, -1.0], np.float32)


def explorer(noise_spec, backend, seed=10):
    test = ComponentTest(
        NoisyGreedy(IntBox(3), noise_spec),
        {"q_values": FloatBox(shape=(3,), add_batch_rank=True), "progress": FloatBox()},
        backend=backend,
        seed=seed,
    )
    return test.executor.program("get_action")


def shares(act, number=6000, time=0.0):
    actions = act(np.tile(Q_VALUES, (number, 1)), np.float32(time))
    assert actions.dtype == np.int64
    return np.bincount(actions, minlength=3) / number


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_gumbel_noise_is_boltzmann_exploration(scale, backend):
    weights = np.exp(Q_VALUES / scale)
    p = weights / weights.sum()
    deviation = np.sqrt(p * (1 - p) / 6000)
    assert (np.abs(shares(explorer({"type": "gumbel", "scale": scale}, backend)) - p) < 4.5 * deviation).all()


def test_gaussian_noise_of_two_values(backend):
    """The difference of two values with noise is normal around theirs, with variance 2."""
    from math import erf

    act = explorer({"type": "gaussian", "scale": 1.5}, backend)
    actions = act(np.tile(np.float32([1.0, 0.0, -1e6]), (6000, 1)), np.float32(0.0))
    p = 0.5 * (1 + erf(1.0 / (1.5 * np.sqrt(2)) / np.sqrt(2)))
    assert abs(np.mean(actions == 0) - p) < 4.5 * np.sqrt(p * (1 - p) / 6000)


def test_scale_over_time(backend):
    act = explorer({"type": "gumbel", "scale": [4.0, 0.0]}, backend)
    start, middle, end = (shares(act, 3000, time) for time in (0.0, 0.75, 1.0))
    assert start[0] < middle[0] < end[0] == 1.0


def test_nested_actions(backend):
    space = Dict(jump=BoolBox(), move=IntBox(3, shape=(2,), dtype="uint8"))
    values = Dict(jump=FloatBox(shape=(2,)), move=FloatBox(shape=(2, 3)), add_batch_rank=True)
    q_values = {
        "jump": np.tile(np.float32([0.0, 1.0]), (2000, 1)),
        "move": np.tile(np.float32([[5.0, 0.0, 0.0], [0.0, 0.0, 5.0]]), (2000, 1, 1)),
    }
    for scale in (0.0, 1.0):
        exploration = NoisyGreedy(space, {"type": "gumbel", "scale": scale})
        test = ComponentTest(exploration, {"q_values": values, "progress": FloatBox()}, backend=backend)
        actions = test.test(("get_action", [q_values, np.float32(0.0)]))
        assert space.with_batch_rank().contains(actions)
        if scale == 0.0:
            assert actions["jump"].all() and (actions["move"] == [0, 2]).all()
        else:
            assert abs(np.mean(actions["jump"]) - np.e / (1 + np.e)) < 0.05
            most = np.exp(5.0) / (2 + np.exp(5.0))
            assert (np.abs(np.mean(actions["move"] == [0, 2], axis=0) - most) < 0.01).all()


def test_what_a_spec_means():
    def made(spec):
        return Exploration.from_spec(spec, path="exploration_spec", action_space=IntBox(2))

    assert isinstance(made(None), EpsilonGreedy)
    assert isinstance(made({"epsilon_spec": 0.1}), EpsilonGreedy)
    assert isinstance(made({"noise_spec": {"type": "gumbel"}}), NoisyGreedy)
    assert isinstance(made({"type": "noisy_greedy", "noise_spec": {"scale": 2.0}}), NoisyGreedy)
    assert made({"epsilon_spec": [1.0, 0.5]}).metrics(0.5) == {"epsilon": 0.75}
    assert made({"noise_spec": {"scale": [1.0, 0.5]}}).metrics(0.5) == {"noise_scale": 0.75}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            {"epsilon_spec": 0.1, "noise_spec": {}},
            "exploration_spec: expected epsilon_spec .* or noise_spec .*, given both",
        ),
        ({"noise_spec": "gumbel"}, r"noise_spec: expected a mapping.*, given 'gumbel'"),
        ({"noise_spec": {"type": "gumble"}}, r"noise_spec.type: unknown noise 'gumble'. .*gumbel"),
        ({"noise_spec": {"scal": 1.0}}, r"noise_spec.scal: unknown key. .*scale"),
        ({"noise_spec": {"scale": -1.0}}, r"noise_spec.scale: expected values >= 0, given -1"),
        ({"noise_spec": {"scale": "big"}}, r"noise_spec.scale: expected a number"),
        ({"epsilon": 0.1}, r"exploration_spec.epsilon: EpsilonGreedy has no such key. .*epsilon_spec"),
    ],
)
def test_wrong_specs(spec, said):
    with pytest.raises(SpecError, match=said):
        Exploration.from_spec(spec, path="exploration_spec", action_space=IntBox(2))


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_what_is_masked_is_never_taken(scale, backend):
    """With Gumbel noise the others have the probabilities of a softmax over them."""
    spaces = {
        "q_values": FloatBox(shape=(3,), add_batch_rank=True),
        "observations": Dict(states=float, action_mask=BoolBox(shape=(3,)), add_batch_rank=True),
    }
    exploration = NoisyGreedy(IntBox(3), {"type": "gumbel", "scale": scale})
    test = ComponentTest(exploration, spaces, backend=backend, seed=10)
    mask = np.tile([False, True, True], (6000, 1))
    actions = test.test(
        (
            "get_action",
            {
                "q_values": np.tile(Q_VALUES, (6000, 1)),
                "observations": {"states": np.zeros(6000, np.float32), "action_mask": mask},
            },
        )
    )
    p = 1.0 / (1.0 + np.exp(-1.5 / scale)) if scale else 1.0
    assert (actions != 0).all()
    assert abs(np.mean(actions == 1) - p) <= 4.5 * np.sqrt(p * (1 - p) / 6000)


def test_masks_of_parts(backend):
    """An element whose mask allows nothing has all actions that there are."""
    space = Dict(a=IntBox(3), b=IntBox([2, 3]))
    q_values = Dict(a=FloatBox(shape=(3,)), b=FloatBox(shape=(2, 3)), add_batch_rank=True)
    masks = Dict(b=BoolBox(shape=(2, 3)), add_batch_rank=True)
    test = ComponentTest(
        NoisyGreedy(space, {"scale": 0.0}),
        {"q_values": q_values, "observations": {"states": float, "action_mask": masks}},
        backend=backend,
    )
    values = {"a": np.float32([[1, 2, 3]]), "b": np.float32([[[2, 1, -np.inf], [1, 2, 3]]])}
    for mask, expected in (
        ([[0, 1, 1], [1, 1, 0]], [1, 1]),
        ([[0, 0, 1], [0, 0, 0]], [0, 2]),
    ):
        given = {
            "q_values": values,
            "observations": {"states": np.zeros(1, np.float32), "action_mask": {"b": np.array([mask], bool)}},
        }
        test.test(("get_action", given), expected_outputs={"a": [2], "b": [expected]})


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (BoolBox(shape=(2,), add_batch_rank=True), r"action_mask: expected a BoolBox of shape \[3\], given"),
        (BoolBox(shape=(3,), add_batch_rank=True, add_time_rank=True), "without a time rank, given"),
    ],
)
def test_masks_that_do_not_fit(mask, said):
    observations = Dict(states=float, action_mask=mask)
    spaces = {"q_values": FloatBox(shape=(3,), add_batch_rank=True), "observations": observations}
    with pytest.raises((BuildError, SpaceError), match=said):
        ComponentTest(NoisyGreedy(IntBox(3), {"scale": 1.0}), spaces, backend="numpy")
