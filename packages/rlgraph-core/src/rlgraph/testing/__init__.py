"""Tools for testing components and backends."""

from rlgraph.testing.assertions import assert_nested_close
from rlgraph.testing.component_test import ComponentTest
from rlgraph.testing.draws import record_draws, replay_draws

__all__ = ["ComponentTest", "assert_nested_close", "record_draws", "replay_draws"]
