"""``config.json``: the document of a run, automatic choices, and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict

from rlgraph.core import SpecError
from rlgraph.core.specs.documents import check_limits, dump_yaml
from rlgraph.experience.specs import Spec, parse_spec
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.learning.stored_meaning import as_it_meant, meaning_of
from rlgraph.runs.errors import RunFolderError
from rlgraph.runs.run_files import as_json, digest, parse, read_json, replace_file, replace_json, without
from rlgraph.runs.run_spec import RunSpec

CONFIG = "config.json"
#: How many runs below a folder a message names.
SHOWN = 10


class ChosenConfig(Spec):
    """Choices that the document left open."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    backend: str


class RunConfig(Spec):
    """The parts of ``config.json`` that are read."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore")

    run: dict[str, Any]
    chosen: ChosenConfig
    meaning: int = 1
    versions: dict[str, str] | None = None
    identity: str | None = None
    history: list[dict[str, Any]] | None = None
    checksum: str | None = None


def write_config(folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``config.json``, with its checksum, and ``config.yaml``.

    Returns:
        The new content of ``config.json``.

    Raises:
        RunFolderError: `read_config` would refuse the content; nothing is written.
        StorageError: they cannot be written.
    """
    _, plain = as_json(folder / CONFIG, without(content, "checksum"))
    written: dict[str, Any] = replace_json(
        folder / CONFIG, {**plain, "checksum": digest(plain)}, _check_content
    )
    replace_file(folder / "config.yaml", dump_yaml(without(written, "checksum")))
    return written


def _check_content(content: Any) -> None:
    """Check what ``config.json`` contains.

    Raises:
        SpecError: it does not describe a run, or exceeds a limit.
    """
    if not isinstance(content, dict) or "run" not in content:
        raise RunFolderError("it does not describe a run")
    parse(RunConfig, content, CONFIG)
    check_limits(content["run"], "run")


def read_config(folder: Path) -> dict[str, Any]:
    """The content of ``config.json``.

    Raises:
        RunFolderError: `folder` is not a run folder, or the file was changed.
    """
    try:
        content: dict[str, Any] = read_json(folder / CONFIG)
        _check_content(content)
    except SpecError as error:
        below = sorted(file.parent for depth in ("*", "*/*") for file in folder.glob(f"{depth}/{CONFIG}"))
        if below and not (folder / CONFIG).exists():
            more = [f"and {len(below) - SHOWN} more"] if len(below) > SHOWN else []
            raise RunFolderError(
                f"{folder} is not a run folder, but runs are below it: give one of "
                f"{', '.join([*map(str, below[:SHOWN]), *more])}"
            ) from None
        raise RunFolderError(f"{folder} is not a run folder: {CONFIG} cannot be read ({error})") from None
    # Version 0.1 wrote no checksum.
    if "checksum" in content and content["checksum"] != digest(without(content, "checksum")):
        raise RunFolderError(
            f"{folder / CONFIG} was changed since the run wrote it: its content differs from its checksum. Restore it, "
            "or start a new run with the changed document"
        )
    return content


def run_of(config: Mapping[str, Any], path: str = "run") -> RunSpec:
    """The run of a ``config.json``, whose agent means what it meant when it was written.

    Raises:
        SpecError: its document is wrong.
    """
    run = parse_spec(RunSpec, config["run"], path)
    return run.model_copy(update={"agent": as_it_meant(BaseAgent, run.agent, meaning_of(config))})


#: Keys of an agent's execution spec that may change when a run is resumed.
LEARNERS = ("learners", "devices", "collective", "launcher")


def without_learners(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run's document without what says in how many processes its agent learns."""
    agent = run.get("agent")
    execution = agent.get("execution_spec") if isinstance(agent, Mapping) else None
    if not isinstance(agent, Mapping) or not isinstance(execution, Mapping):
        return dict(run)
    return {**run, "agent": {**agent, "execution_spec": without(execution, *LEARNERS)}}


def config_digest(config: Mapping[str, Any], changing: Sequence[str] = ("steps", "executor_spec")) -> str:
    """The digest of the parts that never change during a run.

    Args:
        config: the content of ``config.json``.
        changing: keys of the run that may change.
    """
    run, chosen = config["run"], config["chosen"]
    fixed = without(config, "run", "chosen", "history", "checksum")
    return digest(
        {
            **fixed,
            "run": without(without_learners(run), *changing),
            "chosen": without(chosen, "acting", "choices"),
        }
    )
