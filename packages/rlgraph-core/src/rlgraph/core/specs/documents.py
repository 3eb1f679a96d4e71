"""Documents: specs in JSON, YAML and TOML files, read within limits.

YAML follows version 1.2, so that a document means the same in all three formats: ``1e-3`` is a number, and ``yes`` is
a string. Documents may be untrusted: their size, depth and numbers are limited, so that reading takes at most a second
and a few megabytes, and they contain only JSON types.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.spaces.text_files import read_text

SUFFIXES = (".json", ".yaml", ".yml", ".toml")
#: Maximum number of values of a document, including all files that it names and all repetitions by aliases.
MAX_VALUES = 10_000
#: Maximum nesting depth of mappings and lists, and of files that name files.
MAX_DEPTH = 32
#: Maximum number of characters of one string.
MAX_TEXT = 10_000
#: Bounds of integers: 64 bits.
MAX_INTEGER = 2**63 - 1

_YAML_SCALARS = (
    ("merge", r"^<<$", ["<"]),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+0123456789.")),
    ("float", r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", list("-+.")),
)
#: A dotted key of TOML that is nested too deeply, for which the parser takes quadratic time. The possessive
#: quantifiers and the start at the beginning of a word keep this pattern linear.
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}")


def is_spec_file(spec: Any) -> bool:
    """Whether `spec` names a file: any path object, or a string with the suffix of a document."""
    return isinstance(spec, Path) or (isinstance(spec, str) and spec.lower().endswith(SUFFIXES))


def read_spec_file(file: str | Path, where: str) -> Any:
    """The content of a JSON, YAML or TOML file, with the files that it names (relative to itself) inserted.

    The keys ``agent``, ``environment`` and ``..._spec`` may name files, and lists in them.

    Args:
        file: its path, absolute or relative to the working directory.
        where: place of the spec, for messages.

    Raises:
        SpecError: the file is missing, cannot be read, names itself, has a duplicate key, exceeds a limit, or has
            another format; or it is YAML and PyYAML is not installed.
    """
    return _Reader().file(Path(), file, where, (), 0)


def with_spec_files(document: Any, folder: Path, where: str) -> Any:
    """A copy of `document`, with the names of files, relative to `folder`, replaced by their contents.

    NumPy numbers become Python numbers.

    Raises:
        SpecError: see `read_spec_file`.
    """
    return _Reader().copy(document, where, folder, (), 0, may_be_file=False)


def check_limits(content: Any, where: str) -> Any:
    """A copy of the content of a document, with lists in place of tuples. Files that it names are not read.

    Raises:
        SpecError: it exceeds a limit, or JSON cannot hold it.
    """
    return _Reader(reads_files=False).copy(content, where, Path(), (), 0, may_be_file=False)


def is_json(value: Any) -> bool:
    """Whether JSON can hold `value`."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def parse_json(text: str, where: str, what: str = "the text") -> Any:
    """Parse JSON.

    Raises:
        SpecError: it is not valid JSON, or has a duplicate key.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise SpecError(f"{what} is nested more than {MAX_DEPTH} levels deep", path=where) from None
    except ValueError as error:
        raise SpecError(f"{what} is not valid JSON: {error}", path=where) from None


def parse_yaml(text: str, where: str, what: str = "the text") -> Any:
    """Parse YAML.

    Raises:
        SpecError: it is not valid YAML, or has a duplicate key, a type tag or too many values; or PyYAML is missing.
    """
    try:
        import yaml
    except ImportError:
        raise SpecError(
            f"{what} is YAML, which needs PyYAML: pip install rlgraph-core[yaml] (or write it as JSON)",
            path=where,
        ) from None
    try:
        return yaml.load(text, _yaml_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        place = "" if mark is None else f": line {mark.line + 1} column {mark.column + 1}"
        raise SpecError(f"{what} is not valid YAML: {problem}{place}", path=where) from None
    except ValueError as error:  # a number with thousands of digits
        raise SpecError(f"{what} is not valid YAML: {error}", path=where) from None


def dump_yaml(content: Any, **options: Any) -> str:
    """The YAML text of JSON types, as `parse_yaml` reads it; `options` are those of PyYAML."""
    import yaml

    return str(yaml.dump(content, Dumper=_yaml_dumper(), sort_keys=False, **options))


def parse_toml(text: str, where: str, what: str = "the text") -> Any:
    """Parse TOML.

    Raises:
        SpecError: it is not valid TOML.
    """
    if _DEEP_KEY.search(text):
        raise SpecError(f"{what} is nested more than {MAX_DEPTH} levels deep", path=where)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SpecError(f"{what} is nested more than {MAX_DEPTH} levels deep", path=where) from None
    except ValueError as error:
        raise SpecError(f"{what} is not valid TOML: {error}", path=where) from None


class _Reader:
    """Reads one document and the files that it names."""

    def __init__(self, reads_files: bool = True) -> None:
        self.reads_files = reads_files
        self.values = 0

    def file(self, folder: Path, name: str | Path, where: str, above: tuple[Path, ...], depth: int) -> Any:
        """The content of a file; `above` are the files that name it, from the outermost."""
        try:
            file = folder / Path(name).expanduser()
            place = file.resolve()
        except (OSError, ValueError, RuntimeError) as error:  # an unknown user, a cycle of links, a zero byte
            raise SpecError(f"{str(name)!r} is not a valid path: {error}", path=where) from None
        if file.suffix.lower() not in SUFFIXES:
            raise SpecError(
                f"expected a file that ends in {', '.join(SUFFIXES)}, given {str(file)!r}", path=where
            )
        if place in above:
            raise SpecError(f"{str(file)!r} names itself", path=where)
        try:
            text = read_text(file)
        except FileNotFoundError:
            raise SpecError(f"file {str(file.absolute())!r} does not exist", path=where) from None
        except (OSError, ValueError) as error:
            raise SpecError(f"{str(file)!r} cannot be read: {error}", path=where) from None
        if not text.strip():
            raise SpecError(
                f"{str(file)!r} is empty: expected keys and values, as in 'agent: dqn'", path=where
            )
        parse = {".json": parse_json, ".toml": parse_toml}.get(file.suffix.lower(), parse_yaml)
        content = parse(text, where, repr(str(file)))
        if content is None:
            raise SpecError(f"{str(file)!r} is empty but for comments: expected keys and values", path=where)
        return self.copy(content, where, file.parent, (*above, place), depth, may_be_file=False)

    def copy(
        self, value: Any, where: str, folder: Path, above: tuple[Path, ...], depth: int, *, may_be_file: bool
    ) -> Any:
        """`value` with the names of files, where they are allowed, replaced by their contents."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise SpecError(f"the document has more than {MAX_VALUES:,} values", path=where)
        if depth > MAX_DEPTH:
            raise SpecError(f"the document is nested more than {MAX_DEPTH} levels deep", path=where)
        if isinstance(value, dict):
            return {
                _key(key, where): self.copy(
                    item,
                    f"{where}.{key}".lstrip("."),
                    folder,
                    above,
                    depth + 1,
                    may_be_file=_may_be_file(key),
                )
                for key, item in value.items()
            }
        if isinstance(value, list) or (isinstance(value, tuple) and not self.reads_files):
            return [
                self.copy(item, f"{where}[{n}]", folder, above, depth + 1, may_be_file=may_be_file)
                for n, item in enumerate(value)
            ]
        if may_be_file and self.reads_files and is_spec_file(value):
            return self.file(folder, value, where, above, depth + 1)
        return _scalar(value, where, is_json=bool(above) or not self.reads_files)


def _scalar(value: Any, where: str, is_json: bool) -> Any:
    """Check a value without parts; only documents in Python may contain other objects."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise SpecError(
            f"expected a text of at most {MAX_TEXT:,} characters, given one of {len(value):,}", path=where
        )
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise SpecError("expected an integer of at most 64 bits, given a larger one", path=where)
    if is_json and not isinstance(value, str | int | float | bool | None):
        given = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
        raise SpecError(f"expected a value that JSON can hold, given {given}", path=where)
    return value


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str) or len(key) > MAX_TEXT:
        given = f"a text of {len(key):,} characters" if isinstance(key, str) else repr(key)
        raise SpecError(f"expected keys that are short texts, given {given}", path=where or "document")
    return key


def _may_be_file(key: Any) -> bool:
    return isinstance(key, str) and (key in ("agent", "environment") or key.endswith("_spec"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        doubled = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {doubled!r} occurs twice in one object")
    return found


@cache
def _yaml_dumper() -> Any:
    """The safe dumper of PyYAML, which also quotes texts that are numbers in YAML 1.2 only, such as ``1e3``."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    for tag, pattern, first in _YAML_SCALARS:
        Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)
    return Dumper


@cache
def _yaml_loader() -> Any:
    """The safe loader of PyYAML with the scalars of YAML 1.2 that JSON has, without duplicate keys and tags."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Counts values while they are read; an alias counts as much as the values that it repeats."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

        def __init__(self, stream: str):
            super().__init__(stream)
            self.depth = self.values = 0
            #: Anchor -> number of its values.
            self.sizes: dict[str, int] = {}

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            is_alias = isinstance(event, yaml.AliasEvent)
            if getattr(event, "tag", None) is not None:
                fail(f"the tag {event.tag!r}: a document has no type tags", event)
            if is_alias and event.anchor not in self.sizes and event.anchor in self.anchors:
                fail(f"the anchor {event.anchor!r} contains itself", event)
            begin, self.depth = self.values, self.depth + 1
            if self.depth > MAX_DEPTH + 1:
                fail(f"more than {MAX_DEPTH} levels", event)
            node = super().compose_node(parent, index)
            self.depth -= 1
            self.values += self.sizes[event.anchor] if is_alias else 1
            if not is_alias and event.anchor is not None:
                self.sizes[event.anchor] = self.values - begin
            if self.values > MAX_VALUES:
                fail(f"more than {MAX_VALUES:,} values", event)
            return node

    def fail(problem: str, node: Any) -> None:
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

    for tag, pattern, first in _YAML_SCALARS:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)

    def construct_mapping(loader: Any, node: Any) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                fail("expected keys that are texts", key_node)
            if key_node.value in seen:
                fail(f"the key {key_node.value!r} occurs twice", key_node)
            seen.add(key_node.value)
        mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
        return mapping

    Loader.add_constructor("tag:yaml.org,2002:map", construct_mapping)
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(str(node.value)))
    return Loader
