"""Groups of learners over TensorFlow's collective operations."""

from __future__ import annotations

from typing import ClassVar

import pytest

from rlgraph.core import CollectiveError, SpecError, allow_network, data_specs
from rlgraph.core.addresses import free_address
from rlgraph.core.collectives.place import collective_class
from rlgraph.testing.collectives import CollectiveConformance
from rlgraph.tf.collective import TensorFlowCollective


@pytest.mark.slow
class TestTensorFlow(CollectiveConformance):
    collective: ClassVar = {"type": "tensorflow", "allow_network": True}


def test_a_process_that_uses_tensorflow_already_is_told_to_join_first():
    import tensorflow as tf

    tf.constant(1.0)
    with pytest.raises(
        CollectiveError, match="is in use in this process already.*or use the collective 'gloo'"
    ):
        TensorFlowCollective(0, 2, free_address(), 1.0)


def test_data_starts_no_server_that_others_can_reach():
    spec = {"type": "tensorflow", "allow_network": True}
    with data_specs(), pytest.raises(SpecError, match="collective: expected --allow-network"):
        collective_class(spec)
    with data_specs(), allow_network():
        assert collective_class(spec)[0] is TensorFlowCollective
