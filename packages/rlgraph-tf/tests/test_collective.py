"""Groups of learners over TensorFlow's collective operations."""

from __future__ import annotations

from typing import ClassVar

import pytest

from rlgraph.core import CollectiveError
from rlgraph.testing.collectives import CollectiveConformance, free_address
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
