"""The generated sections of the component library, and the examples that pages give for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("sphinx")
from component_reference import component_markdown, functions_markdown, make_example
from devlib.project import ROOT
from rlgraph.components import Dense, QPolicy
from rlgraph.core import Component, SpecError, registry

_DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{rlgraph-component\} (?P<name>\w+)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)(?P<example>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


def directives() -> Iterator[tuple[str, str, str, str]]:
    """Page, component, options and example of every directive."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for match in _DIRECTIVE.finditer(page.read_text(encoding="utf-8")):
            yield page.stem, match["name"], match["options"], match["example"]


def action_space_of(options: str) -> str:
    """What a directive says of the actions; empty if nothing."""
    space = re.search(r"^:action-space: (.*)$", options, re.MULTILINE)
    return space[1] if space else ""


@pytest.mark.parametrize(
    ("page", "name", "options", "example"),
    [pytest.param(*each, id=f"{each[0]}-{each[1]}") for each in directives()],
)
def test_example(page: str, name: str, options: str, example: str) -> None:
    """The example of a page is a component of the kind it stands for."""
    kind: Any = registry(Component.registry_group).load(name)
    made = make_example(kind, example or json.dumps({"type": name}), action_space_of(options))
    # What has API methods of its own making has a class of its own, too.
    assert isinstance(made, kind) and type(made).__name__ == kind.__name__


def test_each_component_has_one_place() -> None:
    names = [name for _, name, _, _ in directives()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "line",
    [
        "### `dqn_loss`, `dqn_loss_function`",
        "| `discount` | a number in [0, 1] | `0.99` | discount factor in [0, 1]. |",
        "**`get_td_errors(q_values, actions, rewards, terminals, q_next, q_next_target, discounts=None)`**",
        "The size of the TD error per item [B], the mean over the parts of an action; arguments as of `loss`.",
        "* `actions`: actions taken [B], or a container of such.",
        "* `SpecError`: a discount outside [0, 1], or an unknown aggregation.",
        '{"type": "dqn_loss"}',
    ],
)
def test_section_of_a_component(line: str) -> None:
    assert line in component_markdown("dqn_loss", level=3).splitlines()


def test_the_numerics_and_their_papers() -> None:
    text = component_markdown("dqn_loss")
    assert "{py:func}`huber <rlgraph.core.functional.q_learning.huber>`" in text
    assert "[van Hasselt et al. (2016)](https://arxiv.org/abs/1509.06461)" in text
    assert "all that have gradients" in component_markdown("adam")


def test_bars_do_not_end_a_cell() -> None:
    rows = [
        line
        for _, name, options, example in directives()
        for line in component_markdown(name, example, action_space_of(options)).splitlines()
        if line.startswith("|")
    ]
    assert all(len(re.split(r"(?<!\\)\|", row)) == 6 for row in rows)


def test_an_example_that_makes_nothing() -> None:
    with pytest.raises(SpecError, match="units: missing"):
        component_markdown("dense")
    with pytest.raises(SpecError, match="no such key"):
        make_example(Dense, '{"type": "dense", "unit": 3}')


def test_an_action_space_is_handed_where_one_is_needed() -> None:
    layers = '{"type": "q_policy", "network_spec": [{"type": "dense", "units": 2}]'
    assert make_example(QPolicy, layers + "}").action_space.num_categories == 4
    assert (
        make_example(
            QPolicy, layers + "}", '{"type": "int", "low": 0, "high": 7}'
        ).action_space.num_categories
        == 7
    )


def test_functions() -> None:
    text = functions_markdown("rlgraph.core.functional.q_learning", level=3)
    assert "### `action_values`\n\n```python\naction_values(ops, q_values, actions)\n```" in text
    assert "https://arxiv.org/abs/1509.06461>" in text
    only = functions_markdown("rlgraph.core.functional.q_learning", ["huber", "action_values"])
    assert re.findall(r"^## `(\w+)`", only, re.MULTILINE) == ["huber", "action_values"]
