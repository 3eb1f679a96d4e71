from rlgraph.testing import BackendConformance


class TestTensorFlow(BackendConformance):
    backend = "tf"
