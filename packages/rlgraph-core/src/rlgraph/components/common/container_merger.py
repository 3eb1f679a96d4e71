"""Merges values into one container."""

from __future__ import annotations

import inspect
from keyword import iskeyword
from typing import Any

from rlgraph.components.common.argument_checks import is_whole
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api


class ContainerMerger(Component):
    """Merges values into a Dict if they have names, else into a Tuple.

    Args:
        input_names_or_num_items: the keys of the Dict, in the order of the arguments of `merge`; or one number, of the
            items of the Tuple.
        merge_tuples_into_one: the items of arguments of `merge` that are tuples, and other arguments, make one Tuple.

    Raises:
        SpecError: neither names nor one number >= 1, an invalid or duplicate name, or names together with
            `merge_tuples_into_one`.
    """

    def __init__(
        self,
        *input_names_or_num_items: Any,
        merge_tuples_into_one: bool = False,
        scope: str = "container-merger",
        **kwargs: Any,
    ):
        given = input_names_or_num_items
        number = given[0] if len(given) == 1 and not isinstance(given[0], str) else None
        names = (
            [str(name) for name in given] if number is None else [f"input_{i}" for i in _items(number, scope)]
        )
        if not all(isinstance(name, str) for name in given if number is None) or not names:
            raise SpecError(f"expected names of inputs, or one number of them, given {given!r}", path=scope)
        if wrong := [name for name in names if not name.isidentifier() or iskeyword(name)]:
            raise SpecError(f"{wrong[0]!r} is not a valid input name: use letters, digits and _", path=scope)
        if len(set(names)) < len(names):
            raise SpecError(f"duplicate input name: {', '.join(names)}", path=scope)
        if merge_tuples_into_one and number is None:
            raise SpecError(
                "merge_tuples_into_one makes a Tuple: pass a number of items, not names", path=scope
            )
        self.names, self.makes_dict, self.merges_tuples = names, number is None, merge_tuples_into_one
        super().__init__(scope=scope, **kwargs)
        self.add_member(_merge(names))

    @graph_fn
    def _merge_tuples(self, ops: Any, inputs: Any) -> Any:
        return tuple(item for given in inputs for item in (given if isinstance(given, tuple) else (given,)))


def _items(number: Any, scope: str) -> range:
    if not is_whole(number) or number < 1:
        raise SpecError(f"expected names of inputs, or one number >= 1 of them, given {number!r}", path=scope)
    return range(number)


def _merge(names: list[str]) -> Any:
    """The API method ``merge(*names)``, with one argument per input, so that it also works on a root."""

    def merge(self: ContainerMerger, **inputs: Any) -> Any:
        """The inputs as one container."""
        if self.makes_dict:
            return inputs
        if self.merges_tuples:
            return self._merge_tuples(tuple(inputs.values()))
        return tuple(inputs.values())

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    merge.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in ("self", *names)]
    )
    return rlgraph_api(merge)
