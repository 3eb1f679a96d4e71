"""Networks that take single steps as well as sequences."""

import pytest

from rlgraph.core import Component, rlgraph_api
from rlgraph.testing import ComponentTest


class ActsAndLearns(Component):
    """Single steps and sequences of one network in one root."""

    def __init__(self, network):
        self.network = network
        super().__init__(network, scope="both")

    @rlgraph_api
    def act(self, x, states):
        return self.network.call_with_states(x, states)

    @rlgraph_api
    def learn(self, xs, states, resets=None, sequence_length=None):
        return self.network.call_with_states(xs, states, sequence_length, resets)


@pytest.fixture
def acts_and_learns(backend):
    """``acts_and_learns(network, spaces)``: a test of `ActsAndLearns`."""
    return lambda network, spaces: ComponentTest(ActsAndLearns(network), spaces, backend=backend)
