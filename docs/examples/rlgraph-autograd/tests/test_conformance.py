from rlgraph.testing import BackendConformance


class TestAutograd(BackendConformance):
    backend = "autograd"
