"""Specs in JSON and YAML files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rlgraph.core.errors import SpecError

SUFFIXES = (".json", ".yaml", ".yml")


def is_spec_file(spec: Any) -> bool:
    """Whether `spec` names a file: any path object, or a string that ends as such files do."""
    return isinstance(spec, Path) or (isinstance(spec, str) and spec.lower().endswith(SUFFIXES))


def read_spec_file(file: str | Path, where: str) -> Any:
    """What a JSON or YAML file holds.

    Args:
        file: its path; relative ones count from the working directory.
        where: where the spec stands; named in errors.

    Raises:
        SpecError: the file is missing, cannot be read, or is of another kind; or it is YAML and PyYAML is not
            installed.
    """
    source = Path(file).expanduser()
    if source.suffix.lower() not in SUFFIXES:
        raise SpecError(f"{where}: expected a file that ends in {', '.join(SUFFIXES)}, given {str(file)!r}")
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{where}: there is no file {str(source.absolute())!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{where}: {str(file)!r} cannot be read: {error}") from error
    return _json(text, file, where) if source.suffix.lower() == ".json" else _yaml(text, file, where)


def _json(text: str, file: str | Path, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SpecError(f"{where}: {str(file)!r} is no valid JSON: {error}") from None


def _yaml(text: str, file: str | Path, where: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise SpecError(
            f"{where}: {str(file)!r} is YAML, which needs PyYAML: pip install rlgraph-core[yaml] (or write it as JSON)"
        ) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SpecError(f"{where}: {str(file)!r} is no valid YAML: {error}") from None
