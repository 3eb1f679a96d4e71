import numpy as np
import pytest
from scipy import stats

from rlgraph.components import (
    ActionNoise,
    ConstantNoise,
    EpsilonGreedy,
    Exploration,
    GaussianNoise,
    NoisyGreedy,
    OrnsteinUhlenbeckNoise,
)
from rlgraph.core import AssemblyError, InputError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

FREE = FloatBox(shape=(3,))
TIME = FloatBox(0.0, 1.0)


def noisy(exploration, backend="numpy", seed=10, **more):
    spaces = {"actions": exploration.action_space.with_batch_rank(), "progress": TIME, **more}
    return ComponentTest(exploration, spaces, backend=backend, seed=seed).executor.program("get_action")


# Usage.


def test_noise_in_a_spec(backend):
    exploration = Exploration.from_spec(
        {"noise_spec": {"type": "gaussian_noise", "stddev": [0.4, 0.0]}},
        path="exploration_spec",
        action_space=FloatBox(-1.0, 1.0, shape=(2,)),
    )
    act = noisy(exploration, backend)
    greedy = np.zeros((500, 2), np.float32)
    assert 0.35 < act(greedy, np.float32(0.0)).std() < 0.42
    np.testing.assert_array_equal(act(greedy, np.float32(1.0)), greedy)
    assert exploration.metrics(0.5) == {"noise_scale": 0.2}


def test_noise_in_halves_of_the_range(backend):
    space = Dict(a=FloatBox(np.array([0.0, -1.0]), np.array([20.0, 1.0])), b=IntBox(3))
    exploration = GaussianNoise(space, stddev=0.1, relative=True)
    middle = {"a": np.tile(np.float32([10.0, 0.0]), (2000, 1)), "b": np.zeros(2000, np.int64)}
    drawn = noisy(exploration, backend)(middle, np.float32(0.0))
    np.testing.assert_allclose(drawn["a"].std(axis=0), [1.0, 0.1], rtol=0.06)
    shifted = noisy(GaussianNoise(space, mean=0.25, stddev=0.0, relative=True), backend)
    np.testing.assert_allclose(shifted(middle, np.float32(0.0))["a"][0], [12.5, 0.25])
    with pytest.raises(
        SpecError, match="exploration.relative: true needs floats with both bounds, given FloatBox"
    ):
        GaussianNoise(FREE, relative=True)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"noise_spec": {}}, GaussianNoise),
        ({"noise_spec": {"type": "gaussian", "stddev": 0.1}}, GaussianNoise),
        ({"noise_spec": {"type": "gaussian_noise"}}, GaussianNoise),
        ({"noise_spec": {"type": "GaussianNoise"}}, GaussianNoise),
        ({"noise_spec": {"type": "ornstein_uhlenbeck", "sigma": 0.3}}, OrnsteinUhlenbeckNoise),
        ({"noise_spec": {"type": "ornstein-uhlenbeck-noise"}}, OrnsteinUhlenbeckNoise),
        ({"noise_spec": {"type": "constant_noise", "value": 0.3}}, ConstantNoise),
        ({"type": "constant_noise", "value": 0.3}, ConstantNoise),
    ],
)
def test_what_a_spec_means(spec, kind):
    for space in (FREE, Dict(a=FREE, b=IntBox(2))):
        assert type(Exploration.from_spec(spec, action_space=space)) is kind


# What is added.


def test_gaussian_noise_is_normal(backend):
    act = noisy(GaussianNoise(FREE, mean=0.5, stddev=2.0), backend)
    actions = np.tile(np.float32([0.0, 10.0, -10.0]), (2000, 1))
    noise = act(actions, np.float32(0.3)) - actions
    for element in noise.T:
        assert stats.kstest(element, stats.norm(0.5, 2.0).cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.1
    assert abs(np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]) < 0.1


def test_constant_noise(backend):
    act = noisy(ConstantNoise(FREE, value=["linear", 1.0, 0.0]), backend)
    actions = np.float32([[0.0, 1.0, 2.0]])
    np.testing.assert_allclose(act(actions, np.float32(0.0)), [[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(act(actions, np.float32(0.75)), [[0.25, 1.25, 2.25]])


def test_actions_stay_in_their_bounds(backend):
    space = FloatBox(np.float32([-1.0, 0.1]), np.float32([1.0, 0.3]))
    actions = np.tile(np.float32([0.9, 0.2]), (2000, 1))
    drawn = noisy(GaussianNoise(space, stddev=1.0), backend)(actions, np.float32(0.0))
    assert space.with_batch_rank().contains(drawn)
    # A clipped normal: its bounds with the probabilities of its tails.
    for element, (low, high) in enumerate([(-1.0, 1.0), (0.1, 0.3)]):
        for bound, tail in ((low, stats.norm.cdf), (high, stats.norm.sf)):
            share = np.mean(drawn[:, element] == np.float32(bound))
            assert abs(share - tail(bound - actions[0, element])) < 0.05
    low_only = noisy(GaussianNoise(FloatBox(0.0, None), stddev=5.0), backend)(
        np.zeros(500, np.float32), np.float32(0)
    )
    assert low_only.min() == 0.0 and low_only.max() > 5.0


def test_only_floats_of_a_container_are_noisy(backend):
    space = Dict(jump=BoolBox(), move=Tuple(IntBox(3), FloatBox(-1.0, 1.0, shape=(2,))), speed=FloatBox())
    greedy = {
        "jump": np.array([True, False]),
        "move": (np.array([2, 1]), np.float32([[0.0, 0.0], [0.5, 0.5]])),
        "speed": np.float32([3.0, 4.0]),
    }
    actions = noisy(ConstantNoise(space, value=0.75), backend)(greedy, np.float32(0.0))
    np.testing.assert_array_equal(actions["jump"], greedy["jump"])
    np.testing.assert_array_equal(actions["move"][0], [2, 1])
    np.testing.assert_allclose(actions["move"][1], [[0.75, 0.75], [1.0, 1.0]])
    np.testing.assert_allclose(actions["speed"], [3.75, 4.75])
    np.testing.assert_array_equal(greedy["speed"], [3.0, 4.0])


# Ornstein and Uhlenbeck.


class Drift:
    """Noise over the steps of episodes, row by row."""

    def __init__(self, exploration, backend="numpy", rows=1, seed=10):
        space, states = exploration.action_space.with_batch_rank(), exploration.internal_states_space
        observations = Dict(states=FloatBox(), internal_states=states, add_batch_rank=True)
        self.test = ComponentTest(
            exploration,
            {"actions": space, "observations": observations, "progress": TIME},
            backend=backend,
            seed=seed,
        )
        self.greedy, self.states, self.time = space.zeros(rows), states.zeros(rows), np.float32(0.0)
        self.rows = np.zeros(rows, np.float32)

    def step(self):
        observations = {"states": self.rows, "internal_states": self.states}
        act, advance = (self.test.executor.program(name) for name in ("get_action", "next_internal_states"))
        action = act(self.greedy, observations=observations)
        self.states = advance(observations, self.time)
        return action

    def path(self, steps):
        return np.stack([self.step() for _ in range(steps)])


def test_ornstein_uhlenbeck_noise_by_a_loop(backend):
    drift = Drift(OrnsteinUhlenbeckNoise(FREE, theta=0.3, sigma=0.7, mu=-1.0, dt=0.5), backend, rows=2)
    stream = drift.test.executor.storage.streams["exploration"].bit_generator
    rng = np.random.Generator(type(stream)())
    rng.bit_generator.state = stream.state
    x = np.full((2, 3), -1.0)  # the first step has no deviation
    for noise in drift.path(20):
        np.testing.assert_allclose(noise, x, atol=1e-5)
        x = x + 0.3 * (-1.0 - x) * 0.5 + 0.7 * np.sqrt(0.5) * rng.standard_normal((2, 3))


def test_ornstein_uhlenbeck_noise_in_the_long_run():
    """Mean mu, variance sigma^2 dt / (1 - phi^2), autocorrelation phi^k, normal."""
    theta, sigma, mu, dt = 0.25, 0.4, 0.3, 0.8
    phi, rows = 1 - theta * dt, 64
    drift = Drift(OrnsteinUhlenbeckNoise(FREE, theta, sigma, mu, dt), rows=rows)
    path = drift.path(400)[100:].reshape(300, -1)  # many independent paths
    deviation = sigma * np.sqrt(dt / (1 - phi**2))
    assert abs(path.mean() - mu) < 0.02
    assert abs(path.std() - deviation) < 0.02
    centred = (path - mu) / deviation
    for k in (1, 2, 5, 10):
        assert abs(np.mean(centred[:-k] * centred[k:]) - phi**k) < 0.03
    # Of one time the rows are independent draws of the normal distribution.
    assert stats.kstest(path[-1], stats.norm(mu, deviation).cdf).pvalue > 1e-3


def test_every_row_has_a_deviation_of_its_own_and_zero_begins_an_episode(backend):
    """Without random steps deviations shrink by theta."""
    drift = Drift(OrnsteinUhlenbeckNoise(FREE, sigma=0.0, mu=0.5, theta=0.1), backend, rows=3)
    drift.states = {"exploration": (np.float32([[1.0] * 3, [2.0] * 3, [3.0] * 3]),)}
    np.testing.assert_allclose(drift.step()[:, 0], [1.5, 2.5, 3.5], rtol=1e-5)
    (deviations,) = drift.states["exploration"]
    np.testing.assert_allclose(deviations[:, 1], [0.9, 1.8, 2.7], rtol=1e-5)
    drift.states = {"exploration": (deviations * np.float32([[1.0], [0.0], [1.0]]),)}
    np.testing.assert_allclose(drift.path(2)[:, :, 0], [[1.4, 0.5, 3.2], [1.31, 0.5, 2.93]], rtol=1e-5)


def test_the_float_parts_of_an_action_have_deviations(backend):
    space = Dict(jump=BoolBox(), move=Tuple(IntBox(3), FloatBox(-1.0, 1.0, shape=(2,))), speed=FloatBox())
    exploration = OrnsteinUhlenbeckNoise(space, sigma=0.0, theta=0.5, mu=0.25, scope="my-noise")
    assert exploration.internal_states_space == Dict(
        my_noise=Tuple(FloatBox(shape=(2,)), FloatBox()), add_batch_rank=True
    )
    drift = Drift(exploration, backend)
    drift.states = {"my_noise": (np.float32([[0.5, 2.0]]), np.float32([-4.0]))}
    first, second = drift.step(), drift.step()
    assert (first["jump"].tolist(), first["move"][0].tolist()) == ([False], [0])
    np.testing.assert_allclose(first["move"][1], [[0.75, 1.0]])  # inside the bounds
    np.testing.assert_allclose(first["speed"], [-3.75])
    np.testing.assert_allclose(second["move"][1], [[0.5, 1.0]])
    np.testing.assert_allclose(second["speed"], [-1.75])


def test_noise_without_internal_states_is_that_of_a_first_step(backend):
    exploration = OrnsteinUhlenbeckNoise(FREE, sigma=[0.5, 0.0], mu=0.5)
    spaces = {
        "actions": FREE.with_batch_rank(),
        "observations": FloatBox(shape=(2,), add_batch_rank=True),
        "progress": TIME,
    }
    test = ComponentTest(exploration, spaces, backend=backend)
    test.test(("get_action", [np.zeros((2, 3))]), expected_outputs=np.full((2, 3), 0.5))
    advance = test.executor.program("next_internal_states")
    (drawn,) = advance(np.zeros((400, 2), np.float32), np.float32(0.0))["exploration"]
    assert stats.kstest(drawn.ravel(), stats.norm(0.0, 0.5).cdf).pvalue > 1e-3
    (still,) = advance(np.zeros((4, 2), np.float32), np.float32(1.0))["exploration"]
    np.testing.assert_array_equal(still, np.zeros((4, 3)))


def test_deviations_stay_while_exploration_is_off(backend):
    exploration = OrnsteinUhlenbeckNoise(FREE)
    observations = Dict(
        states=FloatBox(), internal_states=exploration.internal_states_space, add_batch_rank=True
    )
    spaces = {
        "actions": FREE.with_batch_rank(),
        "observations": observations,
        "use_exploration": bool,
    }
    test = ComponentTest(exploration, spaces, backend=backend)
    advance = test.executor.program("next_internal_states")
    held = {"exploration": (np.float32([[1.0, 2.0, 3.0]]),)}
    given = {"states": np.zeros(1, np.float32), "internal_states": held}
    stream = test.executor.storage.streams["exploration"].bit_generator
    before = stream.state
    (kept,) = advance(given, use_exploration=np.array(False))["exploration"]
    np.testing.assert_array_equal(kept, held["exploration"][0])
    assert stream.state == before
    (moved,) = advance(given, use_exploration=np.array(True))["exploration"]
    assert (moved != kept).all()


def test_wrong_internal_states():
    exploration = OrnsteinUhlenbeckNoise(FREE)
    other = Dict(states=FloatBox(), internal_states={"policy": FloatBox()}, add_batch_rank=True)
    with pytest.raises(AssemblyError, match="internal_states of the observations: there is no part 'explo"):
        ComponentTest(
            exploration, {"actions": FREE.with_batch_rank(), "observations": other}, backend="numpy"
        )
    flat = Dict(states=FloatBox(), internal_states={"exploration": FREE}, add_batch_rank=True)
    with pytest.raises(SpaceError, match=r"internal_states: expected Dict\({'exploration': Tuple"):
        ComponentTest(
            OrnsteinUhlenbeckNoise(FREE),
            {"actions": FREE.with_batch_rank(), "observations": flat},
            backend="numpy",
        )


# All explorations: time and the switch.

EXPLORATIONS = {
    "gaussian_noise": (lambda amount: GaussianNoise(FREE, stddev=amount), FREE),
    "ornstein_uhlenbeck_noise": (lambda amount: OrnsteinUhlenbeckNoise(FREE, sigma=amount, mu=1.0), FREE),
    "constant_noise": (lambda amount: ConstantNoise(FREE, value=amount), FREE),
    "epsilon_greedy": (lambda amount: EpsilonGreedy(IntBox(5), amount), IntBox(5)),
    "noisy_greedy": (
        lambda amount: NoisyGreedy(IntBox(3), {"scale": amount}),
        FREE,  # of the values
    ),
}


def given_of(kind, amount=1.0):
    make, space = EXPLORATIONS[kind]
    exploration = make(amount)
    return exploration, {
        exploration.explores: space.with_batch_rank(),
        "observations": FloatBox(add_batch_rank=True),
    }


@pytest.mark.parametrize("kind", EXPLORATIONS)
def test_a_constant_amount_needs_no_time(kind, backend):
    exploration, spaces = given_of(kind)
    test = ComponentTest(exploration, spaces, backend=backend)
    greedy = spaces[exploration.explores].zeros(60)
    explored = test.test(("get_action", [greedy]))
    assert len(np.unique(explored)) > 1 or kind in ("constant_noise", "ornstein_uhlenbeck_noise")
    wrong, spaces = given_of(kind, amount=[1.0, 0.5])
    with pytest.raises(AssemblyError, match=r"exploration needs progress.*LinearDecay"):
        ComponentTest(wrong, spaces, backend=backend)


@pytest.mark.parametrize("kind", ["gaussian_noise", "noisy_greedy", "epsilon_greedy"])
def test_seeds(kind, backend):
    runs = []
    for seed in (1, 1, 2):
        exploration, spaces = given_of(kind)
        act = ComponentTest(exploration, spaces, backend=backend, seed=seed).executor.program("get_action")
        runs.append([act(spaces[exploration.explores].zeros(50)).tolist() for _ in range(2)])
    assert runs[0] == runs[1] != runs[2]
    assert runs[0][0] != runs[0][1]


@pytest.mark.parametrize("kind", EXPLORATIONS)
def test_exploration_is_switched_off(kind, backend):
    exploration, spaces = given_of(kind)
    test = ComponentTest(exploration, {**spaces, "use_exploration": bool}, backend=backend)
    greedy = spaces[exploration.explores].zeros(50)
    if kind == "noisy_greedy":
        greedy[:, 2] = 0.1
    best = np.full(50, 2) if kind == "noisy_greedy" else greedy
    act = test.executor.program("get_action")
    np.testing.assert_array_equal(act(greedy, use_exploration=np.array(False)), best)
    assert (act(greedy, use_exploration=np.array(True)) != best).any()
    # None at all are drawn meanwhile.
    twin, _ = given_of(kind)
    other = ComponentTest(twin, {**spaces, "use_exploration": bool}, backend=backend).executor.program(
        "get_action"
    )
    other(greedy, use_exploration=np.array(False))
    first = other(greedy, use_exploration=np.array(True))
    fresh = ComponentTest(given_of(kind)[0], spaces, backend=backend).executor.program("get_action")
    np.testing.assert_array_equal(first, fresh(greedy))


@pytest.mark.parametrize("kind", EXPLORATIONS)
@pytest.mark.parametrize(
    ("argument", "space", "said"),
    [
        (
            "progress",
            FloatBox(0.0, 100.0),
            r"progress: expected the fraction of training.*0.0, 1.0",
        ),
        ("progress", FloatBox(add_batch_rank=True), "progress: expected the fraction"),
        ("progress", IntBox(100), "progress: expected the fraction"),
        ("use_exploration", BoolBox(add_batch_rank=True), r"use_exploration: expected BoolBox\(\), given"),
        ("use_exploration", FloatBox(), r"use_exploration: expected BoolBox\(\), given"),
    ],
)
def test_wrong_spaces(kind, argument, space, said):
    exploration, spaces = given_of(kind)
    with pytest.raises(SpaceError, match=said):
        ComponentTest(exploration, {**spaces, argument: space}, backend="numpy")


@pytest.mark.parametrize("kind", EXPLORATIONS)
def test_actions_of_another_space(kind):
    exploration, spaces = given_of(kind)
    name = exploration.explores
    for wrong in (
        FloatBox(shape=(7,), add_batch_rank=True),
        spaces[name].without_ranks(),
        Dict(a=spaces[name]),
    ):
        with pytest.raises(SpaceError, match=f"{name}: expected"):
            ComponentTest(given_of(kind)[0], {name: wrong}, backend="numpy")


def test_time_is_a_number():
    act = noisy(GaussianNoise(FREE, stddev=[1.0, 0.0]))
    with pytest.raises(InputError, match=r"progress: expected the fraction .*, given nan"):
        act(np.zeros((1, 3), np.float32), np.float32("nan"))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"type": "gausian_noise"}, r"e.noise_spec.type: .*'gausian_noise'.*'gaussian_noise'"),
        ({"type": "gaussian_noise", "sd": 0.1}, r"e.noise_spec.sd: .* It is 'stddev' here"),
        ({"type": "gaussian_noise", "stddev": "a"}, r"stddev: expected a number"),
        ({"type": "gaussian_noise", "mean": "a"}, r"mean: "),
        ({"type": "gaussian_noise", "stddev": [0.1, -0.1]}, r"stddev: expected values >= 0, given -0.1"),
        ({"type": "ornstein_uhlenbeck", "sigma": -0.2}, r"sigma: expected values >= 0, given -0.2"),
        ({"type": "constant_noise", "value": None}, r"value: expected a number"),
        ({"type": "ornstein_uhlenbeck", "theta": 0.0}, r"theta: expected a number > 0, given 0.0"),
        ({"type": "ornstein_uhlenbeck", "dt": -1.0}, r"dt: expected a number > 0, given -1.0"),
        ({"type": "ornstein_uhlenbeck", "theta": 4.0, "dt": 0.5}, r"theta: expected theta \* dt < 2"),
        (
            {"type": "ornstein_uhlenbeck", "num_environments": 4},
            r"num_environments: OrnsteinUhlenbeckNoise has no such key",
        ),
        ({"type": "dense", "units": 3}, r"e.noise_spec.type: 'dense' is a Dense, expected a Exploration"),
    ],
)
def test_wrong_noise(spec, said):
    with pytest.raises(SpecError, match=said):
        Exploration.from_spec({"noise_spec": spec}, path="e", action_space=FREE)


def test_noise_for_categorical_actions():
    with pytest.raises(SpecError, match=r'expected an action with floats, given IntBox.*"epsilon_greedy"'):
        GaussianNoise(IntBox(3))
    with pytest.raises(SpecError, match=r"e.scale: unknown key beside noise_spec"):
        Exploration.from_spec({"noise_spec": {}, "scale": 1.0}, path="e", action_space=FREE)
    with pytest.raises(SpecError, match=r"exploration.action_space: "):
        GaussianNoise("nonsense")


def test_a_noise_of_ones_own(backend):
    class Sawtooth(ActionNoise):
        def draw(self, path, shape, amount):
            return amount * np.linspace(0.0, 1.0, shape[0])[:, None]

    from rlgraph.components import Schedule

    act = noisy(Sawtooth(FREE, Schedule.from_spec(2.0)), backend)
    drawn = act(np.zeros((3, 3), np.float32), np.float32(0.0))
    np.testing.assert_allclose(drawn[:, 0], [0.0, 1.0, 2.0])
