"""Tests hold PyTorch's process-wide settings still."""

import pytest
import torch


@pytest.fixture(autouse=True)
def settings():
    before = (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads())
    yield
    assert (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()) == before
