"""The fast path of a single record: what it writes, against plain NumPy; what it leaves to the checks."""

import numpy as np
import pytest

from rlgraph.components import PrioritizedReplay, ReplayMemory
from rlgraph.components.memories.record_writer import SMALL, writer
from rlgraph.core import GraphExecutor, InputError, graph_fn
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

SPACE = Dict(
    small=FloatBox(shape=(3,)),
    grid=IntBox(shape=(2, 2), dtype="int32"),
    image=IntBox(0, 256, shape=(24, 24), dtype="uint8"),
    number=IntBox(),
    reward=FloatBox(),
    done=BoolBox(),
    add_batch_rank=True,
)

PATHS = list(SPACE.flatten())


def executor(memory, space=SPACE, backend="numpy"):
    spaces = {"records": space, "num_records": IntBox()}
    if isinstance(memory, PrioritizedReplay):
        spaces.update(
            progress=FloatBox(),
            indices=IntBox(add_batch_rank=True),
            errors=FloatBox(add_batch_rank=True),
        )
    return GraphExecutor(memory, spaces, backend=backend)


def record(rng):
    """One record; values that end in zero bytes, infinities, -0.0 and NaN among them."""
    odd = [0.0, -0.0, np.nan, -np.inf, 1.5, 2.0**-149]
    return {
        "small": rng.choice(odd, (1, 3)).astype(np.float32),
        "grid": rng.integers(-3, 3, (1, 2, 2)).astype(np.int32),
        "image": rng.integers(0, 256, (1, 24, 24)).astype(np.uint8),
        "number": rng.integers(-(2**62), 2**62, 1),
        "reward": rng.choice(odd, 1).astype(np.float32),
        "done": rng.choice([False, True], 1),
    }


def rows(made):
    return {name.rpartition("/")[2]: array for name, array in made.storage.host.items() if "/rows/" in name}


def fast_path(made):
    names = [name for name in made.program("insert_records").__globals__ if name.startswith("fast_")]
    return made.program("insert_records").__globals__[names[0]] if names else None


def snapshot(made):
    return {name: array.tobytes() for name, array in made.storage.host.items()}


@pytest.mark.parametrize("memory", [ReplayMemory, PrioritizedReplay])
def test_every_bit_is_kept_and_the_oldest_are_overwritten(memory, backend):
    made, rng, capacity = executor(memory(5), backend=backend), np.random.default_rng(0), 5
    inserted = [record(rng) for _ in range(13)]
    for count, given in enumerate(inserted, start=1):
        if count % 2:
            assert fast_path(made)(*(given[path] for path in PATHS))
        else:
            made.execute("insert_records", given)
        assert made.storage.host["memory/cursor"].tolist() == [count % capacity, min(count, capacity)]
        for name, held in rows(made).items():
            for i in range(max(0, count - capacity), count):
                assert held[i % capacity].tobytes() == inserted[i][name].tobytes(), name


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint64", "int8", "bool"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (0,)])
def test_any_kind_of_number(dtype, shape):
    rows, cursor = np.zeros((3, *shape), dtype), np.zeros(2, np.int64)
    given = np.random.default_rng(0).integers(0, 100, (4, 1, *shape)).astype(dtype)
    write = writer(3, [rows], cursor)
    assert all(write(value) for value in given)
    assert rows.tobytes() == given[[3, 1, 2], 0].tobytes()
    assert cursor.tolist() == [1, 3]
    assert not write(given[0].astype("float32"))


def test_both_sides_of_the_limit_of_small_rows_are_tried():
    assert SPACE["image"].shape[0] ** 2 > SMALL > 12


def test_a_memory_of_one_record():
    made, rng = executor(ReplayMemory(1)), np.random.default_rng(0)
    for _ in range(3):
        given = record(rng)
        made.execute("insert_records", given)
        assert made.storage.host["memory/cursor"].tolist() == [0, 1]
        assert rows(made)["image"][0].tobytes() == given["image"].tobytes()


UNUSUAL = {
    "float64 for float32": ("small", lambda x: x.astype(np.float64)),
    "a list": ("small", lambda x: x.tolist()),
    "every other number": ("small", lambda x: np.repeat(x, 2, axis=1)[:, ::2]),
    "a subclass": ("grid", lambda x: x.view(type("Mine", (np.ndarray,), {}))),
    "the other order": ("grid", np.asfortranarray),
    "the other byte order": ("grid", lambda x: x.astype(">i4")),
    "a strided image": ("image", lambda x: np.repeat(x, 2, axis=2)[:, :, ::2]),
    "int32 for int64": ("number", lambda x: x.astype(np.int32)),
    "a number of Python": ("reward", lambda x: [float(x[0])]),
}


@pytest.mark.parametrize(("name", "change"), UNUSUAL.values(), ids=UNUSUAL)
def test_what_can_be_converted_is_converted(name, change):
    made, given = executor(ReplayMemory(4)), record(np.random.default_rng(1))
    given["number"] = np.array([7])
    given["reward"] = np.array([0.25], np.float32)
    made.execute("insert_records", {**given, name: change(given[name])})
    assert made.storage.host["memory/cursor"].tolist() == [1, 1]
    for path, held in rows(made).items():
        assert held[0].tobytes() == given[path].tobytes(), path


WRONG = {
    "ints for bools": ("done", np.array([1]), "argument records.done: expected bool"),
    "floats for ints": ("number", np.array([1.0]), "argument records.number: expected int64"),
    "no batch rank": ("small", np.zeros(3, np.float32), "one batch rank more than given"),
    "a number": ("reward", np.float32(1.0), "one batch rank more than given"),
    "an array of no axes": ("reward", np.zeros((), np.float32), "one batch rank more than given"),
    "an axis more": ("number", np.zeros((1, 1), int), "argument records.number"),
    "other axes": ("grid", np.zeros((1, 4), np.int32), "argument records.grid: expected"),
    "one number for three": ("small", np.zeros((1, 1), np.float32), "argument records.small: expected"),
    "two records": ("small", np.zeros((2, 3), np.float32), "sizes of one name differ"),
    "no record": ("done", np.zeros(0, bool), "sizes of one name differ"),
    "None": ("image", None, "given None"),
}


@pytest.mark.parametrize(("name", "value", "said"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused_and_nothing_is_written(name, value, said):
    made, rng = executor(ReplayMemory(2)), np.random.default_rng(1)
    for _ in range(3):
        made.execute("insert_records", record(rng))
    before, given = snapshot(made), record(rng)
    with pytest.raises(InputError, match=said):
        made.execute("insert_records", {**given, name: value})
    assert not fast_path(made)(*({**given, name: value}[path] for path in PATHS))
    assert snapshot(made) == before


@pytest.mark.parametrize("change", [lambda r: r.pop("done"), lambda r: r.update(other=np.zeros(1))])
def test_other_fields_are_refused(change):
    made, given = executor(ReplayMemory(2)), record(np.random.default_rng(1))
    change(given)
    with pytest.raises(InputError, match="'done' is missing|'other' is not expected"):
        made.execute("insert_records", given)
    assert made.storage.host["memory/cursor"].tolist() == [0, 0]


def test_several_and_no_records_go_the_usual_way():
    made, rng = executor(ReplayMemory(3)), np.random.default_rng(2)
    given = [record(rng) for _ in range(5)]
    block = {name: np.concatenate([one[name] for one in given[1:]]) for name in SPACE}
    made.execute("insert_records", given[0])
    made.execute("insert_records", block)
    made.execute("insert_records", {name: value[:0] for name, value in block.items()})
    assert made.storage.host["memory/cursor"].tolist() == [2, 3]
    assert list(rows(made)["number"]) == [given[i]["number"][0] for i in (3, 4, 2)]


def test_a_new_record_has_the_largest_priority():
    made, rng = executor(PrioritizedReplay(2, alpha=1.0, epsilon=0.0)), np.random.default_rng(0)
    made.execute("insert_records", record(rng))
    made.execute("update_records", np.array([0]), np.array([3.0], np.float32))
    for count in range(2, 5):
        made.execute("insert_records", record(rng))
        made.execute("update_records", np.array([count % 2]), np.array([0.5], np.float32))
        leaves = made.storage.host["memory/priorities"][2:4]
        assert leaves[(count - 1) % 2] == 3.0
        assert leaves[count % 2] == 0.5


class Counting(ReplayMemory):
    """Counts what is written."""

    def write(self, records):
        self.log.append(len(records["number"]))
        return super().write(records)


class Other(ReplayMemory):
    """Inserts in its own way."""

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records):
        self.log.append(len(records["number"]))
        self.write(records)


@pytest.mark.parametrize("kind", [Counting, Other])
def test_what_a_class_does_of_its_own_is_not_left_out(kind):
    kind.log = []
    made = executor(kind(2, scope="memory"))
    made.execute("insert_records", record(np.random.default_rng(0)))
    assert kind.log == [1]
    assert fast_path(made) is None


def test_texts_have_none():
    assert writer(3, [np.zeros(3, object)], np.zeros(2, np.int64)) is None


# Frames that are kept once.


class Plain(ReplayMemory):
    """Has no fast path."""

    def write(self, records):
        return super().write(records)


def frames_of(rng, environment, axis, steps):
    """States and next states [1, ...] of an environment with a few frames, whose episodes end by chance."""
    history = []
    for _ in range(steps):
        if not history or rng.random() < 0.1:
            history = [np.full((8, 8), rng.integers(3) + 10 * environment, np.uint8)] * 4
        stack = history[-4:]
        history.append(rng.integers(0, 3, (8, 8)).astype(np.uint8) if rng.random() < 0.8 else history[-1])
        yield tuple(np.stack(frames, axis=axis)[None] for frames in (stack, history[-4:]))


@pytest.mark.parametrize(("capacity", "environments"), [(30, 1), (30, 3), (3, 3)])
@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("use_kernels", [True, False])
def test_frames_come_to_lie_where_they_would_without_it(capacity, environments, axis, use_kernels):
    shape = (8, 8, 4) if axis == -1 else (4, 8, 8)
    image = IntBox(0, 256, shape=shape, dtype="uint8")
    space = Dict(number=IntBox(), states=image, next_states=image, add_batch_rank=True)
    spaces = {"records": space, "num_records": IntBox()}
    options = {"size": 4, "axis": axis, "frames_per_record": 8}
    fast, plain = (
        GraphExecutor(
            kind(capacity, frame_stack=options, scope="memory"),
            spaces,
            backend="numpy",
            execution_spec={"use_kernels": use_kernels},
        )
        for kind in (ReplayMemory, Plain)
    )
    rng, inserted, taken = np.random.default_rng(environments), [], 0
    streams = [frames_of(rng, i, axis, 200) for i in range(environments)]
    for number in range(200):
        state, next_state = next(streams[number % environments])
        inserted.append((state, next_state))
        given = {"number": np.array([number]), "states": state, "next_states": next_state}
        took = fast_path(fast)(given["next_states"], given["number"], given["states"])
        taken += took
        if not took:
            fast.execute("insert_records", given)
        plain.execute("insert_records", given)
        for name, array in plain.storage.host.items():
            if not name.endswith("/frames"):  # what nobody points to may be anything
                np.testing.assert_array_equal(fast.storage.host[name], array, err_msg=name)
        drawn = fast.execute("get_records", 8)
        for i, which in enumerate(drawn["number"]):
            np.testing.assert_array_equal(drawn["states"][i], inserted[which][0][0])
            np.testing.assert_array_equal(drawn["next_states"][i], inserted[which][1][0])
    # With as many environments as records, what a stack goes on from has mostly gone.
    assert taken > 200 / 3 if capacity > environments else taken < 200 / 3
    assert (fast_path(plain), len(fast.storage.host)) == (None, len(plain.storage.host))


@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize("place", [0, 17, 30, 255])
def test_one_byte_that_differs_is_seen(place, use_kernels):
    image = IntBox(0, 256, shape=(8, 8, 4), dtype="uint8")
    space = Dict(states=image, next_states=image, add_batch_rank=True)
    made = GraphExecutor(
        ReplayMemory(30, frame_stack=4),
        {"records": space, "num_records": IntBox()},
        backend="numpy",
        execution_spec={"use_kernels": use_kernels},
    )
    frames = np.random.default_rng(0).integers(0, 256, (8, 8, 20)).astype(np.uint8)
    stack = lambda t: frames[None, :, :, t : t + 4]  # noqa: E731
    for t in range(5):
        made.execute("insert_records", {"states": stack(t), "next_states": stack(t + 1)})
    for field in ("states", "next_states"):
        given = {"states": stack(5).copy(), "next_states": stack(6).copy()}
        newest = field == "next_states" and place % 4 == 3
        given[field].reshape(-1)[place] ^= 1
        before = snapshot(made)
        assert fast_path(made)(given["next_states"], given["states"]) == newest
        if not newest:
            same = {k: v for k, v in snapshot(made).items() if not k.endswith("/frames")}
            assert same.items() <= before.items()
    assert newest or fast_path(made)(stack(6), stack(5))
