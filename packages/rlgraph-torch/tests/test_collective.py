"""Groups of learners over torch.distributed."""

from __future__ import annotations

import pytest
import torch

from rlgraph.testing.collectives import CollectiveConformance


class TestGloo(CollectiveConformance):
    collective = "gloo"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
class TestNccl(CollectiveConformance):
    collective = "nccl"
    size = max(torch.cuda.device_count(), 1)
