"""Tools for testing components and backends."""

from rlgraph.testing.assertions import assert_nested_close
from rlgraph.testing.backends import installed_backends, on_all_backends
from rlgraph.testing.component_test import ComponentTest
from rlgraph.testing.conformance import BackendConformance
from rlgraph.testing.draws import record_draws, replay_draws

__all__ = [
    "BackendConformance",
    "ComponentTest",
    "assert_nested_close",
    "installed_backends",
    "on_all_backends",
    "record_draws",
    "replay_draws",
]
