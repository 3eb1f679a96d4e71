"""Preprocessing of the parts of a container state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from rlgraph.components.preprocessing.preprocessor_stack import Preprocessor, PreprocessorStack
from rlgraph.components.preprocessing.text_codes import TextCodes
from rlgraph.core import SpecError, graph_fn
from rlgraph.core.specs.spec_paths import record_form
from rlgraph.spaces import Dict, Space, SpaceError, Tuple, from_spec


class DictPreprocessorStack(Preprocessor):
    """Applies a separate `PreprocessorStack` to each part of a container state; other parts stay unchanged.

    Args:
        preprocessors: path of a part (``"image"``, ``"camera/image"``, ``"0"`` for the first of a `Tuple`) -> a
            stack or a list of layer specs.

    Attributes:
        has_state: whether a layer keeps state; then ``preprocess`` returns ``{"output", "internal_states"}``, with the
            states by part, its path made an identifier, and then by layer.
        learns: whether a layer learns.

    Raises:
        SpecError: not a mapping of paths, a path inside another one, or an invalid spec (named by its path).
        SpaceError: the state lacks a part.
    """

    part_methods = ("preprocess", "preprocess_frozen")

    def __init__(self, preprocessors: Mapping[str, Any], scope: str = "preprocessor", **kwargs: Any):
        if not isinstance(preprocessors, Mapping) or not all(isinstance(key, str) for key in preprocessors):
            raise SpecError(
                f"expected a mapping of paths, given {preprocessors!r}", path=f"{scope}.preprocessors"
            )
        _check_disjoint(list(preprocessors), f"{scope}.preprocessors")
        self.stacks: dict[str, PreprocessorStack] = {
            path: _stack(spec, path, f"{scope}.preprocessors.{path}") for path, spec in preprocessors.items()
        }
        super().__init__(self.stacks.items(), scope, **kwargs)

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a mapping without ``type`` is `preprocessors`."""
        if isinstance(spec, Mapping) and not spec.keys() & {"type", "preprocessors"}:
            path = record_form(path or cls.__name__, spec)
            spec = {"preprocessors": {key: _stack(s, key, f"{path}.{key}") for key, s in spec.items()}}
        return super().from_spec(spec, path=path, **kwargs)

    def get_preprocessed_space(self, space: Any) -> Space:
        """The output Space for the input Space `space`.

        Raises:
            SpaceError: the part of a stack is missing, or a layer does not accept its Space.
        """
        space = from_spec(space)
        if not isinstance(space, Dict | Tuple):
            raise SpaceError(
                f"{self.scope_path}: expected a Dict or Tuple with {list(self.stacks)}, given {space!r}; "
                "for a single Space pass a list of layers"
            )
        for path, stack in self.stacks.items():
            try:
                part = space.flat_key_lookup(path)
            except SpaceError as error:
                raise error.under(f"{self.scope_path}.preprocessors.{path}") from error
            part = stack.get_preprocessed_space(part)
            space = from_spec(_replaced(space, _keys(path), part))
        return space

    def spaces_of_parts(self, space: Space) -> Iterable[tuple[str, Any, Space]]:
        return ((path, stack, space.flat_key_lookup(path)) for path, stack in self.stacks.items())

    def wire(self, inputs: Any, run: Any) -> Any:
        outputs = []
        for path, stack in self.stacks.items():
            part = inputs
            for key in _keys(path):
                part = part[key]
            outputs.append(run(path, stack, part))
        if not outputs:
            return inputs
        takes_texts = any(
            isinstance(layer, TextCodes) for stack in self.stacks.values() for layer in stack.layers
        )
        return (self._put_back_on_host if takes_texts else self._put_back)(inputs, tuple(outputs))

    @graph_fn
    def _put_back(self, ops: Any, inputs: Any, parts: Any) -> Any:
        return self._with_parts(inputs, parts)

    @graph_fn(
        host=True,
        spaces=lambda self, inputs, parts: from_spec(self._with_parts(inputs, parts)),
        same_ranks=True,
    )
    def _put_back_on_host(self, inputs: Any, parts: Any) -> Any:
        """As `_put_back`; no device takes texts."""
        return self._with_parts(inputs, parts)

    def _with_parts(self, inputs: Any, parts: Any) -> Any:
        for path, part in zip(self.stacks, parts, strict=True):
            inputs = _replaced(inputs, _keys(path), part)
        return inputs


def _keys(path: str) -> list[str | int]:
    return [int(key) if key.isdigit() else key for key in path.split("/")]


def _replaced(container: Any, keys: list[str | int], part: Any) -> Any:
    """`container` with `part` at the path `keys`, as a plain dict or tuple."""
    if not keys:
        return part
    first, *rest = keys
    new = _replaced(container[first], rest, part)
    if isinstance(container, Mapping):
        return {**container, first: new}
    return tuple(new if i == first else item for i, item in enumerate(container))


def _check_disjoint(paths: list[str], where: str) -> None:
    for outer in paths:
        for inner in paths:
            if inner.startswith(f"{outer}/"):
                raise SpecError(f"{inner!r} is inside {outer!r}; name each part once", path=where)


def _stack(spec: Any, path: str, where: str) -> PreprocessorStack:
    scope = {} if isinstance(spec, PreprocessorStack) else {"scope": path.replace("/", "-")}
    return PreprocessorStack.from_spec(spec, path=where, **scope)
