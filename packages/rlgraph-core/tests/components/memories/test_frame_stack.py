"""Frames that are kept once, against a plain list of whole records."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.components import PrioritizedReplay, ReplayMemory
from rlgraph.core import Component, PerformanceWarning, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

pytestmark = pytest.mark.slow


def image(*shape):
    return IntBox(0, 256, shape=shape, dtype="uint8")


def record_space(states):
    return Dict(number=IntBox(), states=states, terminals=BoolBox(), next_states=states, add_batch_rank=True)


def memory(capacity, states, backend="numpy", **options):
    spaces = {"records": record_space(states), "num_records": IntBox()}
    return ComponentTest(ReplayMemory(capacity, **options), spaces, backend=backend)


class Stacks:
    """An environment whose observations are its last `size` frames of 8x8 pixels, a new one in every step."""

    def __init__(self, rng, size, axis=-1, width=1, values=256, copies=True):
        self.rng, self.size, self.axis, self.width, self.values = rng, size, axis, width, values
        self.copies = copies
        self.reset()

    def frame(self):
        # Few values: frames that are equal, and stand still.
        return np.broadcast_to(self.rng.integers(self.values, size=(self.width, 1, 1)), (self.width, 8, 8))

    def reset(self):
        first = self.frame() if self.copies else np.zeros((self.width, 8, 8), int)
        self.frames = [first] * (self.size - 1) + [self.frame()]
        if self.copies:
            self.frames[-1] = first

    def step(self):
        self.frames = [*self.frames[1:], self.frame()]

    @property
    def state(self):
        return np.moveaxis(np.concatenate(self.frames), 0, self.axis).astype(np.uint8)


def inserted(test, everything, states, next_states, terminals):
    numbers = np.arange(len(everything), len(everything) + len(states))
    everything.extend(zip(states, next_states, terminals, strict=True))
    records = {
        "number": numbers,
        "states": np.stack(states),
        "next_states": np.stack(next_states),
        "terminals": np.array(terminals),
    }
    test.test(("insert_records", [records]))


def check(test, everything, expected_size=None):
    """Whatever is drawn is as it came; drawn are the latest records. Returns how many there are."""
    size = int(test.test("get_size"))
    assert expected_size is None or size == expected_size
    drawn = test.test(("get_records", [25 * size]))
    assert set(drawn["number"].tolist()) == set(range(len(everything) - size, len(everything)))
    for i, number in enumerate(drawn["number"].tolist()):
        state, next_state, terminal = everything[number]
        np.testing.assert_array_equal(drawn["states"][i], state)
        np.testing.assert_array_equal(drawn["next_states"][i], next_state)
        assert drawn["terminals"][i] == terminal
    return size


def play(test, environments, steps, rng, n_step=1, end=0.1, everything=None):
    """Steps of all environments in turn; each begins anew at an end, and the last state of its episode is kept."""
    everything = [] if everything is None else everything
    windows = [[environment.state] for environment in environments]
    for _ in range(steps):
        rows = []
        for environment, window in zip(environments, windows, strict=True):
            environment.step()
            window.append(environment.state)
            kind = rng.choice(["step", "terminated", "truncated"], p=[1 - end, end / 2, end / 2])
            if kind != "step":
                rows += [(state, window[-1], kind == "terminated") for state in window[-n_step - 1 : -1]]
                environment.reset()
                window[:] = [environment.state]
            elif len(window) > n_step:
                rows.append((window[-n_step - 1], window[-1], False))
        if rows:
            inserted(test, everything, *zip(*rows, strict=True))
    return everything


def test_usage(backend):
    test = memory(60, image(8, 8, 4), backend, frame_stack=4)
    rng = np.random.default_rng(0)
    everything = play(test, [Stacks(rng, 4)], 100, rng, end=0.05)
    check(test, everything, 60)
    drawn = test.test(("get_records", [5]))
    assert (drawn["states"].shape, drawn["states"].dtype) == ((5, 8, 8, 4), np.uint8)


def test_memory_needed():
    held = memory(1000, image(84, 84, 4), frame_stack=4).executor.storage.host
    plain = memory(1000, image(84, 84, 4)).executor.storage.host
    size, whole = (sum(array.nbytes for array in each.values()) for each in (held, plain))
    tails = held["memory/stacks/frames/tails"].nbytes  # of which there are not more in a larger memory
    assert size - tails < 0.17 * whole


@pytest.mark.parametrize(("number", "n_step"), [(1, 1), (1, 3), (5, 1), (4, 3)])
@pytest.mark.parametrize("copies", [True, False])
def test_a_step_needs_one_frame(number, n_step, copies):
    """However many environments take turns, and for n-step records; fifty steps to an episode."""
    test = memory(300, image(8, 8, 4), frame_stack={"size": 4, "frames_per_record": 1.25})
    rng = np.random.default_rng(1)
    environments = [Stacks(rng, 4, values=1 << 30, copies=copies) for _ in range(number)]
    for environment in environments:  # all frames of an environment differ, and those of two
        environment.frame = lambda: rng.integers(256, size=(1, 8, 8))
        environment.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        everything = play(test, environments, 900 // number, rng, n_step, end=0.02)
    check(test, everything, 300)


def test_frames_run_out():
    """Nothing is shared: fewer records than there should be, all of them right."""
    test = memory(40, image(8, 8, 4), frame_stack={"size": 4, "frames_per_record": 2})
    rng, everything = np.random.default_rng(2), []
    with pytest.warns(
        PerformanceWarning, match=r"memory: .*it holds \d+ of 40 records. Raise frame_stack.frames_per"
    ):
        for _ in range(30):
            states, next_states = rng.integers(256, size=(2, 3, 8, 8, 4)).astype(np.uint8)
            inserted(test, everything, list(states), list(next_states), [False] * 3)
    assert 8 <= check(test, everything) <= 11
    # Then records that share their frames: as many as there should be.
    everything = play(test, [Stacks(rng, 4)], 100, rng, end=0.0, everything=everything)
    check(test, everything, 40)


def test_a_picture_that_stands_still_is_one_frame():
    test, everything = memory(8, image(8, 8, 4), frame_stack=4), []
    still = np.full((8, 8, 4), 3, np.uint8)
    for _ in range(30):
        inserted(test, everything, [still], [still], [False])
    values = test.read_variable_values()
    assert len(np.unique(values["memory/stacks/frames/pointers"])) == 1
    # It is known which frames are free: nothing looks through all of them at every insert.
    assert values["memory/stacks/frames/state"][1] == len(values["memory/stacks/frames/free"]) - 1
    check(test, everything, 8)


def test_a_block_that_is_larger_than_the_memory():
    test = memory(7, image(8, 8, 2), frame_stack=2)
    rng, everything = np.random.default_rng(3), []
    environment = Stacks(rng, 2)
    states = []
    for _ in range(31):
        states.append(environment.state)
        environment.step()
    inserted(test, everything, states[:10], states[1:11], [False] * 10)
    check(test, everything, 7)
    inserted(test, everything, states[10:30], states[11:31], [False] * 20)
    check(test, everything, 7)


def test_what_was_given_and_what_was_drawn_may_be_written_to(backend):
    test = memory(5, image(8, 8, 4), backend, frame_stack=4)
    rng, everything = np.random.default_rng(4), []
    states = rng.integers(256, size=(2, 8, 8, 4)).astype(np.uint8)
    records = {"number": np.arange(2), "states": states.copy(), "next_states": states[::-1].copy()}
    records["terminals"] = np.zeros(2, bool)
    everything += [(states[0], states[1], False), (states[1], states[0], False)]
    test.test(("insert_records", [records]))
    records["states"][...] = records["next_states"][...] = 0
    drawn = test.test(("get_records", [20]))
    drawn["states"][...] = 7
    assert not np.array_equal(drawn["next_states"][0], drawn["states"][0])
    check(test, everything, 2)


def test_nested_states():
    space = Dict(camera=image(8, 8, 4), map=Dict(low=image(3, 16, 16)), speed=FloatBox())
    test = ComponentTest(
        ReplayMemory(30, frame_stack=4),
        {"records": record_space(space), "num_records": IntBox()},
        backend="numpy",
    )
    rng = np.random.default_rng(5)
    environment, states = Stacks(rng, 4), []
    for number in range(50):
        low = rng.integers(256, size=(3, 16, 16)).astype(np.uint8)
        states.append({"camera": environment.state, "map": {"low": low}, "speed": np.float32(number)})
        environment.step()

    def batch(rows):
        return {
            "camera": np.stack([row["camera"] for row in rows]),
            "map": {"low": np.stack([row["map"]["low"] for row in rows])},
            "speed": np.array([row["speed"] for row in rows]),
        }

    for number in range(49):
        records = {
            "states": batch(states[number : number + 1]),
            "next_states": batch(states[number + 1 : number + 2]),
        }
        test.test(
            ("insert_records", [{**records, "number": np.array([number]), "terminals": np.zeros(1, bool)}])
        )
    drawn = test.test(("get_records", [100]))
    assert drawn["number"].min() >= 19
    for name, ahead in (("states", 0), ("next_states", 1)):
        expected = batch([states[number + ahead] for number in drawn["number"]])
        np.testing.assert_array_equal(drawn[name]["camera"], expected["camera"])
        np.testing.assert_array_equal(drawn[name]["map"]["low"], expected["map"]["low"])
        np.testing.assert_array_equal(drawn[name]["speed"], expected["speed"])


def test_observations_that_are_no_stacks_are_kept_once():
    """States of 100 numbers: the next state of one record is the state of the following one."""
    space = Dict(states=FloatBox(shape=(100,)), next_states=FloatBox(shape=(100,)), add_batch_rank=True)
    test = ComponentTest(
        ReplayMemory(50, frame_stack=1), {"records": space, "num_records": IntBox()}, backend="numpy"
    )
    states = np.random.default_rng(6).standard_normal((121, 100)).astype(np.float32)
    for i in range(0, 120, 4):
        test.test(("insert_records", [{"states": states[i : i + 4], "next_states": states[i + 1 : i + 5]}]))
    drawn = test.test(("get_records", [1000]))
    found = [np.flatnonzero((states == state).all(axis=1)).item() for state in drawn["states"]]
    assert set(found) == set(range(70, 120))
    np.testing.assert_array_equal(drawn["next_states"], states[np.array(found) + 1])
    assert len(test.read_variable_values()["memory/stacks/frames/frames"]) < 70


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(1, 15), st.booleans()), min_size=1, max_size=12))
def test_prioritized_as_a_list_of_records(capacity, blocks):
    """Records that went early are not drawn; those of the others are what came, at the priorities they got."""
    spaces = {"records": record_space(image(8, 8, 2)), "num_records": int, "progress": float}
    spaces |= {"indices": IntBox(add_batch_rank=True), "errors": FloatBox(add_batch_rank=True)}
    memory = PrioritizedReplay(
        capacity, alpha=1.0, epsilon=0.0, frame_stack={"size": 2, "frames_per_record": 1}
    )
    test, rng, everything = ComponentTest(memory, spaces, backend="numpy"), np.random.default_rng(0), []
    late = np.zeros(0, np.int64)
    for count, shares in blocks:
        states = rng.integers(256, size=(count + 1, 8, 8, 2)).astype(np.uint8)
        if shares:  # else every record needs four frames
            states[:, ..., 0] = np.concatenate([states[:1, ..., 0], states[:-1, ..., 1]])
            pairs = list(states[:-1]), list(states[1:])
        else:
            pairs = list(states[:-1]), list(rng.integers(256, size=(count, 8, 8, 2)).astype(np.uint8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)
            inserted(test, everything, *pairs, [False] * count)
        # Errors of what was drawn before: some of these records are gone.
        test.test(("update_records", [late, np.ones(len(late), np.float32)]))
        size = int(test.test("get_size"))
        assert 1 <= size <= min(capacity, len(everything))
        drawn, indices, _ = test.test(("get_records", [30 * size, np.float32(0)]))
        assert set(drawn["number"].tolist()) == set(range(len(everything) - size, len(everything)))
        for i, number in enumerate(drawn["number"].tolist()):
            np.testing.assert_array_equal(drawn["states"][i], everything[number][0])
            np.testing.assert_array_equal(drawn["next_states"][i], everything[number][1])
        test.test(("update_records", [indices, 0.1 + rng.random(len(indices)).astype(np.float32)]))
        late = indices


def test_it_is_saved_and_loaded(backend, tmp_path):
    first, second = (memory(20, image(8, 8, 4), backend, frame_stack=4) for _ in range(2))
    rng = np.random.default_rng(7)
    environment = Stacks(rng, 4, values=1 << 30)
    everything = play(first, [environment], 45, rng)
    play(second, [Stacks(rng, 4)], 33, rng)  # what it holds and expects is another thing
    first.executor.save(tmp_path / "checkpoint")
    second.executor.load(tmp_path / "checkpoint")
    for test in (first, second):
        more, copied = np.random.default_rng(8), list(everything)
        environment.rng = more
        environment.reset()
        check(test, play(test, [environment], 10, more, everything=copied), 20)
    values, others = first.read_variable_values(), second.read_variable_values()
    for name, value in values.items():
        np.testing.assert_array_equal(value, others[name], name)


def test_draws_are_those_without_it():
    def drawn(**options):
        test = memory(30, image(8, 8, 4), **options)
        rng = np.random.default_rng(9)
        play(test, [Stacks(rng, 4)], 50, rng)
        return test.test(("get_records", [64]))

    kept_once, plain = drawn(frame_stack=4), drawn()
    for name, value in plain.items():
        np.testing.assert_array_equal(kept_once[name], value, name)


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_as_a_list_of_records(data):
    """Any sizes, axes, environments that stop and go, equal frames, ends, n-step records, lack of frames."""
    size, width = data.draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (4, 1), (4, 3), (2, 2)]), "size, width")
    axis = data.draw(st.sampled_from([0, -1]), "axis")
    capacity = data.draw(st.integers(1, 14), "capacity")
    per_record = data.draw(st.sampled_from([1, 1.25, 2, 2 * size]), "frames per record")
    shape = (size * width, 8, 8) if axis == 0 else (8, 8, size * width)
    options = {"size": size, "axis": axis, "frames_per_record": per_record}
    test = memory(capacity, image(*shape), frame_stack=options)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30), "seed"))
    values = data.draw(st.sampled_from([2, 3, 256]), "values")
    number = data.draw(st.integers(1, 4), "environments")
    environments = [Stacks(rng, size, axis, width, values, bool(i % 2)) for i in range(number)]
    everything = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        for steps in data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4), "steps"):
            chosen = rng.permutation(environments)[: rng.integers(1, number + 1)].tolist()
            n_step = data.draw(st.integers(1, 3), "n-step")
            play(test, chosen, steps, rng, n_step, end=0.2, everything=everything)
            if everything:
                expected = min(len(everything), capacity) if per_record == 2 * size else None
                assert check(test, everything, expected) >= 1


def test_specs():
    made = Component.from_spec(
        {"type": "replay_memory", "frame_stack": {"size": 4, "axis": 0, "fields": ["state"]}}
    )
    assert (made.frame_stack.size, made.frame_stack.axis, made.frame_stack.fields) == (4, 0, ("state",))
    for wrong, said in (
        (0, "memory.frame_stack.size: expected an integer >= 1, given 0"),
        ("four", "memory.frame_stack.size: expected an integer >= 1, given 'four'"),
        (True, "memory.frame_stack.size: expected an integer >= 1, given True"),
        ({"axis": 0}, "memory.frame_stack.size: expected an integer >= 1, given None"),
        ({"size": 4, "axis": 1}, "memory.frame_stack.axis: expected 0 or -1, given 1"),
        (
            {"size": 4, "frames_per_record": 0.5},
            "frame_stack.frames_per_record: expected a number >= 1, given 0.5",
        ),
        (
            {"size": 4, "fields": "states"},
            "memory.frame_stack.fields: expected a list of names, given 'states'",
        ),
        ({"size": 4, "axes": 0}, "memory.frame_stack: unknown key 'axes'. Did you mean 'axis'?"),
    ):
        with pytest.raises(SpecError, match=said):
            ReplayMemory(frame_stack=wrong)


@pytest.mark.parametrize(
    ("states", "options", "said"),
    [
        (
            FloatBox(shape=(4,)),
            4,
            r"frame_stack: none of states, next_states is a stack of 4 frames along axis -1",
        ),
        (image(16, 16), 4, "none of states"),  # an image, no stack
        (image(8, 8, 16), 4, "none of states"),
        (image(8, 8, 6), 4, r"given .*states: uint8\[8, 8, 6\]"),
        (
            image(8, 8, 4),
            {"size": 4, "fields": ["state"]},
            "frame_stack: none of state is a stack of 4 frames",
        ),
    ],
)
def test_records_without_stacks(states, options, said):
    with pytest.raises(SpaceError, match=said):
        memory(5, states, frame_stack=options)


def test_a_next_state_of_another_space():
    space = Dict(states=image(8, 8, 4), next_states=image(9, 8, 4), add_batch_rank=True)
    with pytest.raises(
        SpaceError, match=r"memory: frame_stack: expected equal Spaces, given states: uint8\[8, 8, 4\]"
    ):
        ComponentTest(ReplayMemory(5, frame_stack=4), {"records": space, "num_records": int}, backend="numpy")
