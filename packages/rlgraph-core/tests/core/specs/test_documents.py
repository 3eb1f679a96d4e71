"""Documents are read within limits: a clear message, soon, whatever a file holds."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlgraph.core import SpecError
from rlgraph.core.specs.documents import (
    MAX_DEPTH,
    MAX_VALUES,
    check_limits,
    dump_yaml,
    parse_toml,
    parse_yaml,
    read_spec_file,
    with_spec_files,
)

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}, *a{n}]\n" for n in range(40))
MERGES = "a0: &a0 {k: x}\n" + "".join(f"a{n + 1}: &a{n + 1} {{<<: [*a{n}, *a{n}]}}\n" for n in range(40))


@pytest.mark.parametrize(
    ("suffix", "text", "message"),
    [
        (".yaml", "[" * 50_000, "levels"),
        (".yaml", "".join(" " * n + "a:\n" for n in range(50)), "levels"),
        (".json", "[" * 50_000, "levels deep"),
        (".toml", "a = " + "[" * 50_000, "levels deep"),
        (".toml", "a." * 50_000 + "a = 1", "levels deep"),
        (".json", "[" * 40 + "]" * 40, "levels deep"),
        (".yaml", BOMB, "values"),
        (".yaml", MERGES, "values"),
        (".yaml", "a: &a [*a]", "the anchor 'a' contains itself"),
        (".json", f"[{','.join('1' * 11_000)}]", "values"),
        (".yaml", "steps: " + "9" * 400, "doc.steps: expected an integer of at most 64 bits"),
        (".json", "9" * 400, "doc: expected an integer of at most 64 bits"),
        (".yaml", "steps: " + "9" * 5000, "not valid YAML"),
        (".json", "9" * 5000, "not valid JSON"),
        (".toml", "steps = " + "9" * 5000, "not valid TOML"),
        (".yaml", "a: !!python/object/apply:os.system [echo]", "a document has no type tags"),
        (".yaml", "a: !!timestamp x", "a document has no type tags"),
        (".yaml", "a: !!int x", "a document has no type tags"),
        (".yaml", "? [a]\n: 1", "expected keys that are texts"),
        (".yaml", "1: 2", "doc: expected keys that are short texts, given 1"),
        (".toml", "day = 1979-05-27", "doc.day: expected a value that JSON can hold, given a date"),
        (".json", '{"a": 1, "b": 2, "a": 3}', "the key 'a' occurs twice"),
        (".json", f'["{"x" * 20_000}"]', r"doc\[0\]: expected a text of at most 10,000 characters"),
        (".json", " " * 300_000, "it has more than 262,144 bytes"),
        (".json", '{"net_spec": "/dev/zero.json"}', "doc.net_spec: file "),
        (".json", '{"net_spec": "~nobody-of-this-name/net.json"}', "is not a valid path"),
        (".json", r'{"net_spec": "\u0000.json"}', "is not a valid path"),
    ],
)
def test_what_is_refused(tmp_path, suffix, text, message):
    if suffix == ".yaml":
        pytest.importorskip("yaml")
    file = tmp_path / f"document{suffix}"
    file.write_text(text)
    begin = time.process_time()
    with pytest.raises(SpecError, match=message):
        read_spec_file(file, "doc")
    assert time.process_time() - begin < 1.0


def test_the_limits_themselves_are_read(tmp_path):
    file = tmp_path / "document.json"
    file.write_text("[" * MAX_DEPTH + "1" + "]" * MAX_DEPTH)
    assert read_spec_file(file, "doc")
    file.write_text(str([2**63 - 1, -(2**63 - 1)] + [0] * (MAX_VALUES - 3)))
    assert len(read_spec_file(file, "doc")) == MAX_VALUES - 1


def test_aliases_and_merges_within_the_limits(tmp_path):
    pytest.importorskip("yaml")
    file = tmp_path / "document.yaml"
    file.write_text("base: &base {units: 3}\nlayers: [*base, {<<: *base, units: 4, scope: b}]\n")
    assert read_spec_file(file, "doc")["layers"] == [{"units": 3}, {"units": 4, "scope": "b"}]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_files_that_are_none(tmp_path):
    pipe, link, folder = tmp_path / "pipe.yaml", tmp_path / "zero.json", tmp_path / "folder.toml"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    folder.mkdir()
    for file in (pipe, link):
        with pytest.raises(SpecError, match="it is not a regular file"):
            read_spec_file(file, "doc")
    with pytest.raises(SpecError, match="cannot be read"):
        read_spec_file(folder, "doc")
    circle = tmp_path / "circle.json"
    circle.symlink_to(circle)
    with pytest.raises(SpecError, match="circle.json' (is not a valid path|cannot be read)"):
        read_spec_file(circle, "doc")


def test_files_that_name_files(tmp_path):
    """One document, however many files: the limits hold for all of it."""
    for n in range(6):
        (tmp_path / f"{n}.json").write_text(
            f'{{"a_spec": [{",".join([f"{chr(34)}{n + 1}.json{chr(34)}"] * 20)}]}}'
        )
    (tmp_path / "6.json").write_text("1")
    with pytest.raises(SpecError, match="values"):
        read_spec_file(tmp_path / "0.json", "doc")
    (tmp_path / "6.json").write_text('{"a_spec": "0.json"}')
    with pytest.raises(SpecError, match="names itself"):
        read_spec_file(tmp_path / "0.json", "doc")


def test_documents_in_python():
    circle = {}
    circle["again"] = circle
    with pytest.raises(SpecError, match="levels deep"):
        with_spec_files(circle, Path(), "doc")
    given = {"a": np.int64(3), "b": [np.float32(0.5)], "type": dict}
    made = with_spec_files(given, Path(), "")
    assert made == {"a": 3, "b": [0.5], "type": dict} and type(made["a"]) is int
    assert made["b"] is not given["b"]


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "a = 1" + "0" * 200_000, "a" + " " * 200_000 + "= [", "'a " * 60_000]
)
def test_long_words_of_toml_take_no_longer_than_others(text):
    begin = time.process_time()
    with pytest.raises(SpecError, match="not valid TOML"):
        parse_toml(text, "doc")
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("key", ["a", '"a b"', "' '", "a-b "])
def test_dotted_keys_of_toml(key):
    with pytest.raises(SpecError, match="levels deep"):
        parse_toml(".".join([key] * (MAX_DEPTH + 1)) + " = 1", "doc")
    assert parse_toml(".".join([key] * MAX_DEPTH) + " = 1", "doc")


TEXTS = st.one_of(st.text(max_size=8), st.from_regex(r"[-+.0-9eEx_:]{1,8}", fullmatch=True))
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(JSON)
@example(["1e3", "12e4567", ".5", "+.inf", "~", "null", "on", "1_000", "0o17", "12:30", "<<", "=", "\ud800"])
def test_yaml_is_read_as_it_was_written(content):
    pytest.importorskip("yaml")
    read = parse_yaml(dump_yaml(content), "doc")
    assert (read, repr(read)) == (content, repr(content))


def test_content_that_json_cannot_hold():
    check_limits({"a": (1, 2), "b": np.float32(0.5)}, "doc")
    with pytest.raises(
        SpecError, match=r"doc\.a\[0\]\.b: expected a value that JSON can hold, given the class dict"
    ):
        check_limits({"a": ({"b": dict},)}, "doc")


def test_limits_alone():
    check_limits({"network_spec": "there/is/none.json"}, "doc")
    with pytest.raises(SpecError, match=r"doc\.a\[9998\]: the document has more than 10,000 values"):
        check_limits({"a": [0] * MAX_VALUES}, "doc")


@pytest.mark.parametrize("name", ["a.yaml", "a.yml", "a.json", "a.toml"])
@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_document_is_called_empty(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(SpecError, match=rf"document: '.*{name}' is empty: expected keys and values"):
        read_spec_file(tmp_path / name, "document")


def test_a_document_of_comments_is_called_empty(tmp_path):
    (tmp_path / "a.yaml").write_text("# agent: dqn\n")
    with pytest.raises(SpecError, match="is empty but for comments"):
        read_spec_file(tmp_path / "a.yaml", "document")
