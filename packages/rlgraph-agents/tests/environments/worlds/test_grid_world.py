"""GridWorld, walked by hand. 2x2 is `SH` over ` G`; positions go down the columns: 0 S, 1 blank, 2 H, 3 G."""

import numpy as np
import pytest

from rlgraph.core.errors import SpecError
from rlgraph.environments import EnvironmentFault, GridWorld
from rlgraph.environments.worlds.grid_world_maps import MAPS

UP, RIGHT, DOWN, LEFT = range(4)


def walk(env, actions):
    """The steps as `(position, reward, terminated)`; truncation and infos must stay empty."""
    steps = []
    for action in actions:
        state, reward, terminated, truncated, info = env.step(action)
        assert truncated is False and info == {}
        steps.append((state.tolist(), reward, terminated))
    return steps


def test_2x2_to_the_goal():
    env = GridWorld("2x2")
    assert env.reset() == 0
    steps = walk(env, [UP, LEFT, DOWN, DOWN, RIGHT])
    assert steps == [*((position, -0.1, False) for position in (0, 0, 1, 1)), (3, 1.0, True)]


def test_a_hole_ends_the_episode():
    env = GridWorld("2x2")
    env.reset()
    assert walk(env, [RIGHT]) == [(2, -5.0, True)]


def test_in_save_mode_holes_are_walls():
    env = GridWorld("2x2", save_mode=True)
    env.reset()
    assert env.world == ("SW", " G")
    assert walk(env, [RIGHT, DOWN, RIGHT]) == [(0, -0.1, False), (1, -0.1, False), (3, 1.0, True)]


def test_rich_rewards():
    hole, goal = GridWorld("2x2", reward_function="rich"), GridWorld("chain", reward_function="rich")
    hole.reset()
    goal.reset()
    assert walk(hole, [RIGHT]) == [(2, -100.0, True)]
    rewards = {6: -0.1, 7: -0.1, 8: -10.0, 9: -0.1, 10: 50.0}
    assert walk(goal, [RIGHT] * 5) == [(at, reward, at == 10) for at, reward in rewards.items()]


def test_4x4_shortest_way_in_both_representations():
    way = [DOWN, DOWN, RIGHT, DOWN, RIGHT, RIGHT]
    discrete, xy = GridWorld("4x4"), GridWorld("4x4", state_representation="xy")
    assert discrete.reset() == 0 and xy.reset().tolist() == [0, 0]
    assert [step[0] for step in walk(discrete, way)] == [1, 2, 6, 7, 11, 15]
    steps = walk(xy, way)
    assert [step[0] for step in steps] == [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [3, 3]]
    assert steps[-1][1:] == (1.0, True)


def test_positions_of_a_map_that_is_not_square():
    env = GridWorld(["S  ", "  G"])
    env.reset()
    assert [step[0] for step in walk(env, [RIGHT, RIGHT, DOWN])] == [2, 4, 5]
    assert env.state_space.contains(np.asarray(5, env.state_space.dtype))
    wide = GridWorld(["S  ", "  G"], state_representation="xy")
    assert wide.state_space.explain(wide.reset(), "state") is None
    assert [step[0] for step in walk(wide, [RIGHT, RIGHT, DOWN])] == [[1, 0], [2, 0], [2, 1]]


def q_values(env, discount):
    """Optimal Q-values `[positions, 4]` by value iteration over the environment's own steps."""
    q = np.zeros((env.n_row * env.n_col, 4))
    for _ in range(200):
        for position, field in enumerate(env._nodes):
            for action, (following, reward, terminated) in enumerate(field.moves):
                q[position, action] = reward + (0.0 if terminated else discount * q[following].max())
    return q


def test_optimal_q_values_of_2x2():
    q = q_values(GridWorld("2x2"), discount=1.0)
    np.testing.assert_allclose(q[0], [0.8, -5.0, 0.9, 0.8])
    np.testing.assert_allclose(q[1], [0.8, 1.0, 0.9, 0.9])
    discounted = q_values(GridWorld("2x2"), discount=0.98)
    np.testing.assert_allclose(discounted[0], [0.7624, -5.0, 0.88, 0.7624])


@pytest.mark.parametrize("name", sorted(MAPS))
def test_every_map_has_a_way_to_the_goal(name):
    env = GridWorld(name)
    reached, front = {env._starts[0]}, [env._starts[0]]
    ends = set()
    while front:
        for following, reward, terminated in env._nodes[front.pop()].moves:
            if terminated:
                ends.add(reward)
            elif following not in reached:
                reached.add(following)
                front.append(following)
    assert 1.0 in ends


def test_long_chain_is_68_fields_with_the_start_in_the_middle():
    env = GridWorld("long-chain")
    assert env.reset() == 33 and env.n_col == 68
    assert walk(env, [RIGHT] * 34)[-1] == (67, 1.0, True)


def test_states_are_read_only_and_of_the_space():
    env = GridWorld("2x2")
    state = env.reset()
    assert env.state_space.explain(state, "state") is None and state.dtype == env.state_space.dtype
    with pytest.raises(ValueError, match="read-only"):
        state[...] = 3


def test_render():
    env = GridWorld("2x2")
    assert env.render() == "SH\n G"
    env.reset()
    env.step(DOWN)
    assert env.render() == "SH\nXG"


def test_step_without_reset_and_after_the_end():
    env = GridWorld("2x2")
    with pytest.raises(
        EnvironmentFault, match=r"GridWorld\('2x2'\): the episode is over or has not begun; call reset"
    ):
        env.step(UP)
    env.reset()
    env.step(RIGHT)
    with pytest.raises(EnvironmentFault, match="call reset"):
        env.step(UP)


@pytest.mark.parametrize("action", [-1, 4, 1.5, np.array([0, 1]), np.array([0]), "up", None])
def test_wrong_action(action):
    env = GridWorld("2x2")
    env.reset()
    with pytest.raises(EnvironmentFault, match=r"0 \(up\), 1 \(right\), 2 \(down\) or 3 \(left\), got"):
        env.step(action)
    assert walk(env, [np.int64(DOWN), np.asarray(RIGHT)])[-1] == (3, 1.0, True)  # the fault changed nothing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"world": "4x5"}, "GridWorld has no map '4x5'. Did you mean '4x4'"),
        ({"world": ["S ", "G"]}, "equally long"),
        ({"world": ["S?", " G"]}, r"got \['\?'\]"),
        ({"world": ["SS", " G"]}, "exactly one start 'S' and at least one goal 'G', got 2 and 1"),
        ({"world": ["S "]}, "got 1 and 0"),
        ({"action_type": "fjt"}, "action_type is one of 'udlr', 'ftj', 'ftjb', got 'fjt'"),
        ({"reward_function": "dense"}, "reward_function is one of 'sparse', 'rich', got 'dense'"),
        ({"state_representation": "cam"}, "'discrete', 'xy', 'xy\\+orientation', 'camera', got 'cam'"),
        ({"render_mode": "human"}, "render_mode is one of 'text', 'rgb_array', got 'human'"),
    ],
)
def test_wrong_configuration(arguments, message):
    with pytest.raises(SpecError, match=message):
        GridWorld(**arguments)


def act(forward=1, turn=1, jump=0):
    return {"forward": forward, "turn": turn, "jump": jump}


def visit(world, actions, **arguments):
    """The columns, rows and looks the actor of "ftj" gets to."""
    env = GridWorld(world, action_type="ftj", state_representation="xy+orientation", **arguments)
    env.reset()
    return [env.step(action)[0].tolist() for action in actions]


def test_turning_and_walking():
    # The actor begins in the middle and looks up.
    ways = [
        ([], [1, 1, 0, -1]),
        ([act(2)], [1, 0, 0, -1]),
        ([act(2), act(0)], [1, 1, 0, -1]),  # backward, still looking up
        ([act(turn=2)], [1, 1, 1, 0]),
        ([act(turn=2), act(2)], [2, 1, 1, 0]),
        ([act(turn=0), act(turn=0), act(2)], [1, 2, 0, 1]),
        ([act(turn=0), act(2)], [0, 1, -1, 0]),
    ]
    for actions, reached in ways:
        assert visit(["   ", " S ", "  G"], [act(), *actions])[-1] == reached


def test_a_turn_comes_before_the_step():
    right = act(turn=2, forward=2)
    assert visit(["    ", " S G"], [right]) == [[2, 1, 1, 0]]


@pytest.mark.parametrize(
    ("world", "forward", "landed", "reward"),
    [
        (["S  G"], 1, 2, -0.1),
        (["SW G"], 1, 2, -0.1),  # over a wall
        (["SH G"], 1, 2, -0.1),  # over a hole
        (["SF G"], 1, 2, -0.1),  # over a fire
        (["S WG"], 1, 1, -0.1),  # no landing on a wall: one field
        (["SWWG"], 1, 0, -0.1),  # nowhere to land
        (["S ", "G "], 1, 2, -0.1),  # at the rim: the last field
        (["S    G"], 2, 3, -0.1),  # a step before it
        (["SH   G"], 2, 1, -5.0),  # nobody jumps out of a hole
    ],
)
def test_a_jump_goes_two_fields_over_whatever_is_between(world, forward, landed, reward):
    env = GridWorld(world, action_type="ftj")
    env.reset()
    assert env.step(act(forward, turn=2, jump=1))[:3] == (landed, reward, reward == -5.0)


def test_the_bool_of_ftjb_jumps():
    env = GridWorld(["S  G"], action_type="ftjb")
    env.reset()
    assert env.step(act(turn=2, jump=np.bool_(True)))[0] == 2
    env.reset()
    assert env.step(act(turn=2, jump=np.array(False)))[0] == 0


@pytest.mark.parametrize("action_type", ["udlr", "ftj", "ftjb"])
@pytest.mark.parametrize("representation", ["discrete", "xy", "xy+orientation", "camera"])
def test_every_combination_stays_in_its_spaces(action_type, representation):
    arguments = {"action_type": action_type, "state_representation": representation}
    env = GridWorld(["S  F", "WH  ", "   G"], **arguments)
    rng = np.random.default_rng(0)
    state = env.reset()
    for _ in range(200):
        assert env.state_space.explain(state, "state") is None
        state, _, terminated, _, _ = env.step(env.action_space.sample(rng=rng))
        if terminated:
            state = env.reset()


def test_camera_channels():
    env = GridWorld(["SW", "FH", " G"], state_representation="camera")
    expected = np.zeros((3, 2, 3))
    expected[0, 1, 0], expected[2, 1, 0] = 127, 255  # wall, goal
    expected[1, 0, 1], expected[1, 1, 1] = 127, 255  # fire, hole
    expected[0, 0, 2] = 255  # actor
    np.testing.assert_array_equal(env.reset(), expected)
    moved = env.step(DOWN)[0]
    assert moved[1, 0].tolist() == [0, 127, 255] and moved[0, 0].tolist() == [0, 0, 0]


def test_random_starts_are_free_fields_the_start_or_fires():
    env = GridWorld(["SWF", "H G"], random_start=True, seed=1)
    starts = [int(env.reset()) for _ in range(300)]
    counts = {start: starts.count(start) for start in sorted(set(starts))}
    assert list(counts) == [0, 3, 4] and min(counts.values()) > 70  # 100 each, deviation 8
    assert [int(env.reset(seed=5)) for _ in range(8)] == [int(env.reset(seed=5)) for _ in range(8)]


def test_state_given_and_taken():
    env, other = (GridWorld("4x4", action_type="ftj", random_start=True, seed=3) for _ in range(2))
    env.reset()
    env.step(act(turn=2))
    assert other.set_state(env.get_state()) == env.step(act())[0]
    for _ in range(5):
        action = act(turn=2, forward=2)
        assert env.step(action)[:3] == other.step(action)[:3]
        assert env.reset() == other.reset()


def test_pictures():
    env = GridWorld("2x2", render_mode="rgb_array", action_type="ftj")
    empty = env.render()
    assert empty.shape == (64, 64, 3) and empty.dtype == np.uint8
    env.reset()
    first = env.render()
    changed = np.argwhere((first != empty).any(-1))
    assert changed.max() < 32  # the actor is on the upper left field
    env.step(act(turn=2))
    assert (env.render() != first).any()
    text = GridWorld("2x2", action_type="ftj")
    text.reset()
    text.step(act(turn=2))
    assert text.render() == ">H\n G"


@pytest.mark.parametrize(
    "action",
    [3, {"forward": 1, "turn": 1}, act(forward=3), act(turn=-1), act(jump=2), act(jump=0.0), act("a")],
)
def test_wrong_container_action(action):
    env = GridWorld("2x2", action_type="ftj")
    env.reset()
    with pytest.raises(EnvironmentFault, match=r"an action is a dict of forward .* and jump \(0 or 1\), got"):
        env.step(action)


def test_the_name_of_a_representation_in_rlgraph_0_5():
    given, now = GridWorld("4x4", state_representation="discr"), GridWorld("4x4")
    assert given.state_space == now.state_space and given.reset() == now.reset()
