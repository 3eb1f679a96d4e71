"""Specs in JSON, YAML and TOML files.

YAML is read by the rules of its version 1.2, so that a document means the same in all three forms: ``1e-3`` is a
number, and ``yes`` is a text.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from rlgraph.core.errors import SpecError

SUFFIXES = (".json", ".yaml", ".yml", ".toml")

_YAML_SCALARS = (
    ("merge", r"^<<$", ["<"]),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^[-+]?[0-9]+$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+0123456789.")),
    ("float", r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", list("-+.")),
)


def is_spec_file(spec: Any) -> bool:
    """Whether `spec` names a file: any path object, or a string that ends as such files do."""
    return isinstance(spec, Path) or (isinstance(spec, str) and spec.lower().endswith(SUFFIXES))


def read_spec_file(file: str | Path, where: str) -> Any:
    """What a JSON, YAML or TOML file holds; files that it names in turn, relative to itself, are read in their place.

    A file may be named by what the document calls ``agent``, ``environment`` or ``..._spec``, and in lists of these.

    Args:
        file: its path; relative ones count from the working directory.
        where: where the spec stands; named in errors.

    Raises:
        SpecError: the file is missing, cannot be read, names itself, has one key twice, or is of another kind; or it
            is YAML and PyYAML is not installed.
    """
    return _read(Path(file).expanduser(), where, ())


def with_spec_files(document: Any, folder: Path, where: str) -> Any:
    """`document`, in which the names of files, relative to `folder`, are replaced by what these hold."""
    return _with_files(document, where, folder / "document", (), may_be_file=False)


def parse_yaml(text: str) -> Any:
    """What YAML text means.

    Raises:
        yaml.YAMLError: it is no valid YAML, or has one key twice.
        ImportError: PyYAML is not installed.
    """
    import yaml

    return yaml.load(text, _yaml_loader())


def _read(file: Path, where: str, above: tuple[Path, ...]) -> Any:
    if file.suffix.lower() not in SUFFIXES:
        raise SpecError(f"{where}: expected a file that ends in {', '.join(SUFFIXES)}, given {str(file)!r}")
    if file.resolve() in above:
        raise SpecError(f"{where}: {str(file)!r} names itself")
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{where}: there is no file {str(file.absolute())!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{where}: {str(file)!r} cannot be read: {error}") from error
    parse = {".json": _json, ".toml": _toml}.get(file.suffix.lower(), _yaml)
    return _with_files(parse(text, file, where), where, file, (*above, file.resolve()), may_be_file=False)


def _with_files(value: Any, where: str, file: Path, above: tuple[Path, ...], may_be_file: bool) -> Any:
    """`value`, in which the names of files, where there may be some, are replaced by what these hold."""
    if isinstance(value, dict):
        return {
            key: _with_files(item, f"{where}.{key}".lstrip("."), file, above, _may_be_file(str(key)))
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_files(item, f"{where}[{n}]", file, above, may_be_file) for n, item in enumerate(value)]
    if may_be_file and is_spec_file(value):
        return _read(file.parent / Path(value).expanduser(), where, above)
    return value


def _may_be_file(key: str) -> bool:
    return key in ("agent", "environment") or key.endswith("_spec")


def _json(text: str, file: Path, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise SpecError(f"{where}: {str(file)!r} is no valid JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    doubled = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if doubled:
        raise ValueError(f"the key {doubled[0]!r} stands twice in one object")
    return dict(pairs)


def _toml(text: str, file: Path, where: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise SpecError(f"{where}: {str(file)!r} is no valid TOML: {error}") from None


def _yaml(text: str, file: Path, where: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise SpecError(
            f"{where}: {str(file)!r} is YAML, which needs PyYAML: pip install rlgraph-core[yaml] (or write it as JSON)"
        ) from None
    try:
        return parse_yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or error
        place = "" if mark is None else f": line {mark.line + 1} column {mark.column + 1}"
        raise SpecError(f"{where}: {str(file)!r} is no valid YAML: {what}{place}") from None


@cache
def _yaml_loader() -> Any:
    """The safe loader of PyYAML with the scalars of YAML 1.2 that JSON has, and without doubled keys."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Scalars of YAML 1.2, every key once."""

        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012

    for tag, pattern, first in _YAML_SCALARS:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)

    def construct_mapping(loader: Any, node: Any) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.value in seen and isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} stands twice", key_node.start_mark
                )
            seen.add(key_node.value if isinstance(key_node, yaml.ScalarNode) else id(key_node))
        mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
        return mapping

    Loader.add_constructor("tag:yaml.org,2002:map", construct_mapping)
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(str(node.value)))
    return Loader
