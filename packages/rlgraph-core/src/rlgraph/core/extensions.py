"""What a backend may offer beside computing: devices, export and profiling. The defaults offer none of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rlgraph.core.errors import CapabilityError
from rlgraph.core.export import ExportedMethod
from rlgraph.core.storage import Storage


class Extensions:
    """The optional part of `rlgraph.core.Backend`.

    Attributes:
        devices: names of the devices on which it can place variables and graph functions on this machine. A `Group`
            names its device, and ``plan.built.devices`` those of a component.
        default_device: the device of everything without a placement, if anything else is placed; empty: the backend
            decides in each case.
        exports: effects that exported programs may have: ``writes``, ``draws``, ``gradients``. None: the backend does
            not export.
    """

    name: str
    devices: frozenset[str] = frozenset({"cpu"})
    default_device: str = ""
    exports: frozenset[str] | None = None

    def device_name(self, name: str) -> str:
        """The name in `devices` that a user's name of a device means; an unknown name comes back unchanged."""
        return name

    def export(self, methods: Sequence[ExportedMethod], storage: Storage, directory: Path) -> None:
        """Write `methods`, with the values of their variables, into `directory` in a format of the framework.

        Called only with what `exports` allows. Inputs and outputs are named as the methods name them.

        Raises:
            CapabilityError: the framework cannot export one of them.
        """
        raise CapabilityError(f"the {self.name} backend does not export graphs")

    def profile(self, path: Path) -> AbstractContextManager[None]:
        """A context manager that writes what runs inside to the file `path`, as a Chrome trace (JSON).

        Raises:
            CapabilityError: the backend has no profiler.
        """
        raise CapabilityError(f"the {self.name} backend has no profiler")
