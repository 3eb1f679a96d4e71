"""Fragments: what a script of steps becomes, and how it survives the way through bytes."""

import numpy as np
import pytest

from rlgraph.core import InputError
from rlgraph.experience.fragment import Fragment, FragmentBuffer, FragmentFormat, Origin
from rlgraph.experience.frames import frames_of
from rlgraph.experience.messages import pack_message, unpack_message
from rlgraph.experience.rollouts import rollout_records
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import Dict, FloatBox, IntBox

LENGTH, SLOTS, FRAMES = 7, 3, 4
PICTURES = IntBox(0, 256, shape=(5, 5, FRAMES), dtype="uint8")


def pictures(seed):
    """Steps of frame stacks with random ends: (steps, the state that each step led to)."""
    rng = np.random.default_rng(seed)

    def fresh():
        return np.repeat(rng.integers(0, 256, (SLOTS, 5, 5, 1)), FRAMES, -1).astype(np.uint8)

    states, begins = fresh(), np.ones(SLOTS, bool)
    for _ in range(LENGTH):
        frame = rng.integers(0, 256, (SLOTS, 5, 5, 1)).astype(np.uint8)
        reached = np.concatenate([states[..., 1:], frame], -1)
        terminals = rng.random(SLOTS) < 0.3
        truncations = (rng.random(SLOTS) < 0.2) & ~terminals
        actions, rewards = rng.integers(0, 3, SLOTS), rng.random(SLOTS).astype(np.float32)
        yield VectorStep(states, actions, rewards, terminals, truncations, reached, begins)
        begins = terminals | truncations
        states = np.where(begins[:, None, None, None], fresh(), reached)


def collected(steps):
    buffer = FragmentBuffer(LENGTH)
    for step in steps:
        buffer.add(step)
    return buffer


@pytest.mark.parametrize("seed", range(4))
def test_bytes_give_back_every_field_and_frames_are_sent_once(seed):
    steps = list(pictures(seed))
    fragment = collected(steps).take(Origin(1, 2, 3), 9)
    whole = FragmentFormat(PICTURES, IntBox(3)).to_bytes(fragment)
    layout = FragmentFormat(PICTURES, IntBox(3), frames={"": 1})
    message = layout.to_bytes(fragment)
    assert len(message) < len(whole)
    read = layout.from_bytes(message)
    assert (read.origin, read.version) == (Origin(1, 2, 3), 9)
    for name in ("states", "reached", "actions", "rewards", "terminals", "truncations", "begins", "valid"):
        np.testing.assert_array_equal(getattr(read, name), getattr(fragment, name))
    for t, (step, given) in enumerate(zip(read.steps(), steps, strict=True)):
        np.testing.assert_array_equal(step.next_states, given.next_states)
        np.testing.assert_array_equal(read.next_states()[t], given.next_states)
        np.testing.assert_array_equal(step.states, given.states)


@pytest.mark.parametrize(
    ("dtype", "channels", "width"), [("uint8", 4, 1), ("float32", 4, 1), ("uint8", 6, 3), ("uint8", 8, 1)]
)
def test_stacks_of_any_kind_are_sent_once_and_what_does_not_continue_whole(dtype, channels, width):
    rng = np.random.default_rng(channels)
    state = FloatBox(shape=(5, 5, channels)) if dtype == "float32" else IntBox(256, shape=(5, 5, channels))
    frames = rng.integers(0, 256, (LENGTH + channels // width, SLOTS, 5, 5, width)).astype(dtype)
    stacks = np.stack([np.concatenate(frames[t : t + channels // width], -1) for t in range(LENGTH + 1)])
    stacks[3, 1, 2, 2, 0] += 1  # the oldest frame of one stack is another one
    noise = rng.integers(0, 256, stacks.shape).astype(dtype)
    assert frames_of(state) == {"": width}
    layout = FragmentFormat(state, IntBox(3), frames=frames_of(state))
    nothing = np.zeros((LENGTH, SLOTS), bool)
    for states, factor in ((stacks, 0.75), (noise, 1.01)):
        fragment = Fragment(
            Origin(),
            0,
            states,
            states[:0, 0],
            nothing.astype(int),
            nothing.astype(np.float32),
            *[nothing] * 4,
        )
        message = layout.to_bytes(fragment)
        assert len(message) < factor * states.nbytes + 2000
        np.testing.assert_array_equal(layout.from_bytes(message).states, states)


def test_pictures_that_are_no_stacks_are_known():
    states = Dict(
        picture=FloatBox(shape=(5, 5, 3)), gray=FloatBox(shape=(5, 5, 1)), vector=FloatBox(shape=(4,))
    )
    assert frames_of(states) == {}


def test_a_cut_truncates_what_had_not_ended():
    def step(terminal, first=0.0):
        rows = np.full(2, first, np.float32)
        return VectorStep(rows, rows, rows, np.array([terminal, False]), rows < 0, rows + 1.0, rows < 0)

    buffer = FragmentBuffer(2)
    buffer.cut()  # nothing to cut
    buffer.add(step(True))
    buffer.cut()
    buffer.add(step(False, 5.0))
    fragment = buffer.take()
    assert fragment.truncations.tolist() == [[False, True], [False, False]]
    assert fragment.next_states().tolist() == [[1.0, 1.0], [6.0, 6.0]]


def test_the_step_before_a_row_that_is_none_ends_in_a_rollout():
    """Else advantages would run on into that row; what the step led to is known all the same."""
    buffer, nowhere = FragmentBuffer(3), np.zeros(2, bool)
    for t in range(3):
        states = np.array([float(t), 10.0 + t])
        valid = np.array([t < 2, True])
        buffer.add(VectorStep(states, nowhere, states, nowhere, nowhere, states + 1, nowhere, valid))
    buffer.cut()
    records, _ = rollout_records([buffer.take()], "float64", None)
    assert records["ends"].tolist() == [[False, False], [True, False], [True, True]]
    assert records["weights"].tolist() == [[1, 1], [1, 1], [0, 1]]
    assert records["next_states"].tolist() == [[1, 11], [2, 12], [3, 13]]


def test_containers_and_rows_that_are_no_steps():
    space = Dict(camera=FloatBox(shape=(2,)), speed=FloatBox())
    states = {"camera": np.ones((2, 2), np.float32), "speed": np.arange(2, dtype=np.float32)}
    nowhere = np.zeros(2, bool)
    valid = np.array([True, False])
    buffer = FragmentBuffer(1)
    rewards = np.zeros(2, np.float32)
    buffer.add(VectorStep(states, np.zeros(2, np.int64), rewards, nowhere, nowhere, states, ~nowhere, valid))
    layout = FragmentFormat(space, IntBox(2))
    read = layout.from_bytes(layout.to_bytes(buffer.take()))
    assert read.valid.tolist() == [[True, False]]
    np.testing.assert_array_equal(read.states["speed"], [[0, 1], [0, 1]])


def damaged(change):
    def damage(message):
        header, arrays = unpack_message(message)
        return pack_message(*change(header, dict(arrays)))

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: b"", "expected the bytes of a message"),
        (lambda m: m[:60], "expected the bytes of a message"),
        (lambda m: m[:-200], "expected the bytes of a message"),
        (damaged(lambda h, a: ({}, a)), "expected the header of a fragment"),
        (damaged(lambda h, a: ({**h, "shape": [0, 3]}, a)), "expected the header of a fragment"),
        (damaged(lambda h, a: (h, {k: v for k, v in a.items() if k != "rewards"})), "'rewards' is missing"),
        (damaged(lambda h, a: (h, {**a, "actions": a["actions"] + 3})), "actions: a value is outside"),
        (
            damaged(lambda h, a: (h, {**a, "rewards": a["rewards"] * np.nan})),
            "rewards: a value is not finite",
        ),
        (damaged(lambda h, a: (h, {**a, "valid": a["valid"][:1]})), r"valid: expected bool\[7, 3\]"),
        (damaged(lambda h, a: (h, {**a, "states.stacks": a["states.stacks"][:1]})), "frames of stacks"),
    ],
)
def test_damaged_bytes_are_refused(damage, message):
    layout = FragmentFormat(PICTURES, IntBox(3), frames={"": 1})
    bytes_ = layout.to_bytes(collected(pictures(0)).take())
    with pytest.raises(InputError, match=message):
        layout.from_bytes(damage(bytes_))


def test_a_half_filled_buffer_continues():
    steps = list(pictures(5))
    first, second = FragmentBuffer(LENGTH), FragmentBuffer(LENGTH)
    for step in steps[:4]:
        first.add(step)
    held = first.get_state()
    held["fields"]["valid"][4:] = False  # as earlier versions had them
    second.set_state(held)
    for step in steps[4:]:
        first.add(step)
        second.add(step)
    one, other = first.take(), second.take()
    np.testing.assert_array_equal(one.states, other.states)
    np.testing.assert_array_equal(one.reached, other.reached)
    assert one.valid.all() and other.valid.all()


def test_the_three_mistakes():
    buffer = collected(pictures(0))
    with pytest.raises(InputError, match="take it before"):
        buffer.add(next(iter(pictures(0))))
    buffer.take()
    with pytest.raises(InputError, match="0 of its 7 steps"):
        buffer.take()


def test_steps_that_were_collected_for_another_length_are_lost():
    held = collected(list(pictures(0))[:3]).get_state()
    same, other = FragmentBuffer(LENGTH), FragmentBuffer(2)
    same.set_state(held)
    other.set_state(held)
    assert (same.filled, other.filled) == (3, 0)
    for step in list(pictures(1))[:2]:
        other.add(step)
    assert other.take().length == 2
