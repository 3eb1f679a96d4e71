"""Groups of learners over torch.distributed."""

from __future__ import annotations

import pytest
import torch

from rlgraph.testing.collectives import CollectiveConformance


class TestGloo(CollectiveConformance):
    collective = "gloo"


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
class TestNccl(CollectiveConformance):
    collective = "nccl"
    size = torch.cuda.device_count()
