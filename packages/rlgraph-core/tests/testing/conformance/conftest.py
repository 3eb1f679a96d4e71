"""Running the suite on a backend that is made for a test."""

import sys
from types import ModuleType

import pytest

from rlgraph.core import BackendDescriptor, registry
from rlgraph.core.ops import CONTRACT_VERSION
from rlgraph.testing.conformance import run_conformance


@pytest.fixture
def failures(monkeypatch):
    """Gives the checks that a backend fails."""
    module = ModuleType("a_module_with_a_broken_backend")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = registry("rlgraph.backends")

    def run(backend, only=()):
        module.Broken = backend
        factory = f"{module.__name__}:Broken"
        known.register(
            "broken", BackendDescriptor("broken", "", factory, CONTRACT_VERSION, backend.capabilities)
        )
        return {o.check.id: o.message for o in run_conformance("broken", only=only) if o.status == "failed"}

    yield run
    known._plugins.pop("broken")
    known._objects.pop("broken")
