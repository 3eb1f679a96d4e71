import copy
import os
import pickle
from types import MappingProxyType

import numpy as np
import pytest

from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, SpaceError, TextBox, Tuple, from_spec


@pytest.mark.parametrize(
    ("spec", "space"),
    [
        (float, FloatBox()),
        (int, IntBox()),
        (bool, BoolBox()),
        (str, TextBox()),
        ("float", FloatBox()),
        ("continuous", FloatBox()),
        ("float32", FloatBox()),
        ("float64", FloatBox(dtype="float64")),
        ("int", IntBox()),
        ("int32", IntBox(dtype="int32")),
        ("uint8", IntBox(dtype="uint8")),
        ("bool", BoolBox()),
        ("text", TextBox()),
        ("FloatBox", FloatBox()),
        ("float-box", FloatBox()),
        ("Dict", Dict()),
        ("tuple", Tuple()),
        (np.float64, FloatBox(dtype="float64")),
        (np.float32, FloatBox()),
        (np.dtype("float64"), FloatBox(dtype="float64")),
        (np.int16, IntBox(dtype="int16")),
        (np.dtype("uint8"), IntBox(dtype="uint8")),
        (np.bool_, BoolBox()),
        (np.str_, TextBox()),
        (np.dtype("<U7"), TextBox()),
        (FloatBox, FloatBox()),
        ({"type": "float_box", "low": 0, "high": 1, "shape": [2]}, FloatBox(0.0, 1.0, (2,))),
        ({"type": "FloatBox", "low": 2.0}, FloatBox(2.0)),
        ({"type": "float", "low": 2.0, "high": None}, FloatBox(2.0, None)),
        ({"type": "float", "low": [None, 0.0], "high": 1.0}, FloatBox([-np.inf, 0.0], 1.0)),
        ({"type": "float64", "shape": 3}, FloatBox(shape=(3,), dtype="float64")),
        ({"type": "int", "low": 4, "add_batch_rank": True}, IntBox(4, add_batch_rank=True)),
        ({"type": IntBox, "low": 4}, IntBox(4)),
        ({"type": "bool", "add_time_rank": 3}, BoolBox(add_time_rank=3)),
        ({"type": "text", "max_length": 3}, TextBox(max_length=3)),
        ({"type": "dict", "spaces": {"type": "int"}}, Dict({"type": "int"})),
        ({"type": "dict", "a": float, "b": "int"}, Dict(a=float, b=int)),
        ({"type": "dict", "spaces": {"x": float}, "add_batch_rank": 3}, Dict(x=float, add_batch_rank=3)),
        ({"type": "dict", "spaces": "int"}, Dict(spaces=int)),
        ({"type": "tuple", "spaces": [float, int], "time_major": False}, Tuple(float, int)),
        ({"type": float}, FloatBox()),
        ({"type": int, "low": 4}, IntBox(4)),
        ({"type": np.float64, "shape": 3}, FloatBox(shape=(3,), dtype="float64")),
        ({"type": np.dtype("uint8")}, IntBox(dtype="uint8")),
        ({"type": FloatBox(), "a": int}, Dict({"type": float, "a": int})),
        ({"type": {"type": float}, "a": int}, Dict({"type": float, "a": int})),
        ({"b": [float, (int,)], "a": {}}, Dict(a=Dict(), b=Tuple(float, Tuple(int)))),
        (MappingProxyType({"a": float}), Dict(a=float)),
        ((float, IntBox(3)), Tuple(float, IntBox(3))),
        ([[float, int]], Tuple(Tuple(float, int))),
        ((), Tuple()),
        ({}, Dict()),
    ],
)
def test_specs(spec, space):
    assert from_spec(spec) == space
    assert Space.from_spec(spec) == space
    assert Tuple([spec])[0] == space


def test_a_space_is_its_own_spec():
    space = FloatBox(1.0)
    assert from_spec(space) is space


def test_specs_are_not_changed():
    spec = {"a": {"type": "float", "low": 1.0}, "b": [{"type": "dict", "spaces": {"c": "int"}}]}
    before = copy.deepcopy(spec)
    from_spec(spec)
    assert spec == before


def test_specs_from_json_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "state.json"
    path.write_text('{"position": {"type": "float", "shape": [2]}, "lives": {"type": "int", "low": 3}}')
    space = Dict(position=FloatBox(shape=(2,)), lives=IntBox(3))
    assert from_spec("state.json") == from_spec(path) == space
    assert from_spec({"state": "state.json"}) == Dict(state=space)


def test_json_files_with_mistakes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text('{"a": ')
    (tmp_path / "wrong.json").write_text('{"a": {"type": "float", "lwo": 1}}')
    messages = {
        "missing.json": "s: expected a JSON file, given 'missing.json'; no such file or directory",
        "broken.json": "s/broken.json: expected JSON, given Expecting value: line 1 column 7 (char 6)",
        "wrong.json": "s/wrong.json/a: expected an argument of FloatBox (low, high, shape, dtype, add_batch_rank, "
        "add_time_rank, time_major), given 'lwo'; did you mean 'low'?",
    }
    for name, message in messages.items():
        with pytest.raises(SpaceError) as caught:
            from_spec({"s": name})
        assert str(caught.value) == message


def test_from_spec_of_a_class_gives_that_class():
    assert FloatBox.from_spec("float") == FloatBox()
    with pytest.raises(SpaceError) as caught:
        FloatBox.from_spec("int")
    assert str(caught.value) == "expected the spec of a FloatBox, given IntBox()"


def test_to_spec():
    space = Dict(a=FloatBox([0.0, -np.inf], 0.5), b=(IntBox(3, shape=(2,)), bool), add_batch_rank="demo")
    assert space.to_spec() == {
        "type": "dict",
        "spaces": {
            "a": {"type": "float_box", "low": [0.0, None], "high": 0.5},
            "b": {
                "type": "tuple",
                "spaces": [{"type": "int_box", "low": 0, "high": 3, "shape": [2]}, {"type": "bool_box"}],
            },
        },
        "add_batch_rank": "demo",
    }


NAMES = (
    "float_box, float, continuous, float16, float32, float64, int_box, int, discrete, uint8, int16, int32, "
    "int64, bool_box, bool, text_box, text, str, dict, tuple, list, sequence"
)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("flaot", f"expected a Space name (one of {NAMES}), given 'flaot'; did you mean 'float'?"),
        ("xyzzy", f"expected a Space name (one of {NAMES}), given 'xyzzy'"),
        (
            {"a": ({"type": "int_bx"},)},
            f"a/0/type: expected a Space name (one of {NAMES}), given 'int_bx'; did you mean 'int_box'?",
        ),
        (
            {"a": np.uint16},
            f"a: expected a Space name (one of {NAMES}), given 'uint16'; did you mean 'int16'?",
        ),
        (
            3,
            "expected a Space, a type, a dtype, a name, a dict, a tuple or a list, given 3 (a int); "
            "did you mean IntBox(3)?",
        ),
        (
            {"a": [None]},
            "a/0: expected a Space, a type, a dtype, a name, a dict, a tuple or a list, "
            "given None (a NoneType)",
        ),
        (
            [complex],
            "0: expected a Space, a type, a dtype, a name, a dict, a tuple or a list, "
            "given <class 'complex'> (a type)",
        ),
        (
            {"a": {"type": "int", "hihg": 3}},
            "a: expected an argument of IntBox (low, high, shape, dtype, add_batch_rank, add_time_rank, "
            "time_major), given 'hihg'; did you mean 'high'?",
        ),
        (
            {"type": "int32", "dtype": "int64"},
            "expected an argument of IntBox (low, high, shape, add_batch_rank, add_time_rank, time_major), "
            "given 'dtype'",
        ),
        (
            {"a": {"type": "float", "low": 2, "high": 1}},
            "a/low: expected FloatBox low <= high, given 2.0 > 1.0 at index ()",
        ),
        (
            {"a": {"type": "tuple", "spaces": float}},
            'a: expected the children of a tuple as a list under "spaces", '
            "given {'spaces': <class 'float'>}",
        ),
        (
            {"type": "dict", "spaces": {"a b": float}},
            "expected keys of a Dict to be Python identifiers, given 'a b'; did you mean 'a_b'?",
        ),
    ],
)
def test_errors(spec, message):
    with pytest.raises(SpaceError) as caught:
        from_spec(spec)
    assert str(caught.value) == message


def test_errors_tell_their_parts_and_can_cross_processes():
    with pytest.raises(SpaceError) as caught:
        from_spec({"a": {"type": "float", "low": 2, "high": 1}})
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.path, error.expected) == ("a/low", "FloatBox low <= high")
    assert error.given == "2.0 > 1.0 at index ()"
    assert str(error) == str(caught.value)
    assert str(SpaceError("plain").under("a")) == "a: plain"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_file_that_is_none(tmp_path):
    """Neither a pipe nor a device makes it wait or fill the memory."""
    pipe, device = tmp_path / "pipe.json", tmp_path / "zero.json"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for file in (pipe, device):
        with pytest.raises(SpaceError, match="it is not a regular file"):
            from_spec(file)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 50_000)
    with pytest.raises(SpaceError, match="nested too deeply"):
        from_spec(deep)
