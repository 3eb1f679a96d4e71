"""Cluster documents: the addresses of a learner and its workers, by the names of RLgraph 0.5."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlgraph.core import SpecError
from rlgraph.core.addresses import host_and_port
from rlgraph.spaces.text_files import read_text

#: Jobs whose tasks are workers; RLgraph 0.5 called them actors.
WORKER_JOBS = ("actor", "worker")


@dataclass(frozen=True)
class Cluster:
    """Where a learner and its workers are.

    Attributes:
        learner: ``host:port`` of its server.
        job: ``actor`` or ``worker``, as the document calls them.
        workers: ``host:port`` of each.
    """

    learner: str
    job: str
    workers: tuple[str, ...]

    @classmethod
    def from_spec(cls, spec: Any, path: str = "cluster") -> Cluster:
        """From ``{"learner": [address], "actor": [address, ...]}``, or a JSON file with it.

        Raises:
            SpecError: it is something else.
        """
        if isinstance(spec, Cluster):
            return spec
        if isinstance(spec, str | Path):
            try:
                spec = json.loads(read_text(Path(spec)))
            except (OSError, ValueError) as error:
                raise SpecError(f"expected a JSON file, given {str(spec)!r} ({error})", path=path) from None
        jobs = spec.keys() & set(WORKER_JOBS) if isinstance(spec, Mapping) else set()
        if len(jobs) != 1 or spec.keys() != {"learner", *jobs}:
            raise SpecError(
                "expected {'learner': ['host:port'], 'actor': ['host:port', ...]}, or 'worker' in place of 'actor', "
                f"given {spec!r}",
                path=path,
            )
        (job,) = jobs
        found = {name: _addresses(spec[name], f"{path}.{name}") for name in ("learner", job)}
        if len(found["learner"]) != 1:
            raise SpecError(f"expected one address, given {spec['learner']}", path=f"{path}.learner")
        addresses = [*found["learner"], *found[job]]
        if twice := {address for address in addresses if addresses.count(address) > 1}:
            raise SpecError(
                f"expected an address for each task, given {', '.join(sorted(twice))} twice", path=path
            )
        return cls(found["learner"][0], job, tuple(found[job]))

    def worker(self, index: Any, path: str = "task_index") -> str:
        """The address of a worker.

        Raises:
            SpecError: there is none with this index.
        """
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(self.workers):
            raise SpecError(
                f"expected the index of a worker, 0 to {len(self.workers) - 1}, given {index!r}",
                path=path,
            )
        return self.workers[index]


def _addresses(given: Any, path: str) -> list[str]:
    if isinstance(given, list | tuple) and given:
        for i, address in enumerate(given):
            host, sign, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
            if not (host and sign and port.isdigit() and 0 < int(port) < 65_536):
                raise SpecError(f"expected 'host:port', given {address!r}", path=f"{path}[{i}]")
        return list(given)
    raise SpecError(f"expected a list of 'host:port', given {given!r}", path=path)


def listen(address: str, where: str) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        SpecError: it is in use, or not of this machine.
    """
    try:
        return socket.create_server(host_and_port(address))
    except OSError as error:
        raise SpecError(
            f"expected a free address of this machine, given {address} ({error}): end the program that uses it, or "
            "give another port",
            path=where,
        ) from None
