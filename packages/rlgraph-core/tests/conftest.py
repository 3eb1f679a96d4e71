"""Every test with an argument `backend` runs once per installed backend; `trainer`: per backend that has gradients."""

from rlgraph.testing import installed_backends


def pytest_generate_tests(metafunc):
    for argument, names in (("backend", installed_backends()), ("trainer", installed_backends("gradients"))):
        marked = any(argument in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
        if argument in metafunc.fixturenames and not marked:
            metafunc.parametrize(argument, names)
