"""Every test with an argument `backend` runs once per installed backend; `trainer`: per backend that has gradients."""

from rlgraph.core import PluginError, find_backend, registry

BACKENDS = registry("rlgraph.backends").names()


def _trains(name):
    try:
        return "gradients" in find_backend(name).capabilities
    except PluginError:
        return True  # a broken plug-in fails its own tests, not the collection of all


TRAINERS = [name for name in BACKENDS if _trains(name)]


def pytest_generate_tests(metafunc):
    for argument, names in (("backend", BACKENDS), ("trainer", TRAINERS)):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, names)
