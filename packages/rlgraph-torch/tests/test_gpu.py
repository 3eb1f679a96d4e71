"""The conformance suite on a GPU."""

import pytest
import torch

from rlgraph.testing import BackendConformance

if not torch.cuda.is_available():
    pytest.skip("there is no GPU that PyTorch can use", allow_module_level=True)


class TestTorchOnGpu(BackendConformance):
    backend = "torch"
    device = "cuda:0"
