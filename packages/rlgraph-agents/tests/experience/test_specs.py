"""Configuration models: defaults, strictness, and messages that name every mistake at once."""

import pytest
from pydantic import Field

from rlgraph.core import SpecError
from rlgraph.experience.specs import Spec, UpdateSpec, parse_spec


class Inner(Spec):
    interval: int = Field(default=3, ge=1)
    episodes: int = 10


class Outer(Spec):
    steps: int
    inner: Inner = Inner()


def test_defaults():
    spec = parse_spec(UpdateSpec, None, "update_spec")
    assert spec == UpdateSpec()
    fields = spec.do_updates, spec.steps_before_update, spec.update_interval, spec.update_steps
    assert (*fields, spec.batch_size) == (True, 0, 4, 1, 64)


def test_a_model_is_passed_through_and_a_mapping_is_not_changed():
    spec = UpdateSpec(batch_size=5)
    assert parse_spec(UpdateSpec, spec, "update_spec") is spec
    given = {"batch_size": 5}
    assert parse_spec(UpdateSpec, given, "update_spec") == spec
    assert given == {"batch_size": 5}


def test_specs_are_immutable():
    with pytest.raises(ValueError, match="frozen"):
        UpdateSpec().batch_size = 3


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("batch_size", 0, "expected an integer >= 1 and <= 1000000, given 0"),
        ("batch_size", "64", "expected an integer >= 1 and <= 1000000, given '64'"),
        ("batch_size", 6.5, "expected an integer >= 1"),
        ("do_updates", 1, "expected true or false, given 1"),
        ("steps_before_update", -1, "expected an integer >= 0, given -1"),
        ("update_intervl", 4, "there is no such key. Did you mean 'update_interval'?"),
    ],
)
def test_one_wrong_value(key, value, said):
    with pytest.raises(SpecError) as caught:
        parse_spec(UpdateSpec, {key: value}, "update_spec")
    assert str(caught.value).startswith(f"update_spec.{key}: {said}")


def test_all_mistakes_are_named_at_once():
    wrong = {"batch_size": 0, "do_updates": "yes", "update_intervall": 5}
    with pytest.raises(SpecError) as caught:
        parse_spec(UpdateSpec, wrong, "agent.update_spec")
    places = sorted(line.split(":")[0] for line in str(caught.value).splitlines())
    assert places == [f"agent.update_spec.{name}" for name in wrong]


def test_no_mapping():
    with pytest.raises(SpecError, match=r"update_spec: expected a mapping, given list \[4\]"):
        parse_spec(UpdateSpec, [4], "update_spec")


def test_a_key_of_an_inner_model_is_compared_with_the_keys_of_that_model():
    with pytest.raises(SpecError) as caught:
        parse_spec(Outer, {"steps": 1, "inner": {"intervl": 4}}, "run")
    assert str(caught.value) == "run.inner.intervl: there is no such key. Did you mean 'interval'?"


def test_missing_and_wrong_inner_values():
    with pytest.raises(SpecError) as caught:
        parse_spec(Outer, {"inner": {"interval": 0}}, "run")
    assert "run.steps: missing; expected an integer" in str(caught.value)
    assert "run.inner.interval: expected an integer >= 1, given 0" in str(caught.value)
