"""Every test with an argument `backend` runs once per installed backend; `trainer`: per backend that has gradients.

Of a component one backend is enough, since the conformance suite compares the others with it: the rest are repetitions.
Backends of others may warn that they are slow at something.
"""

import pytest

from rlgraph.testing import installed_backends

_QUICKEST = ("numpy", "torch")
_OURS = (*_QUICKEST, "tf")
_MAY_BE_SLOW = pytest.mark.filterwarnings("ignore::rlgraph.core.PerformanceWarning")


def pytest_generate_tests(metafunc):
    of_a_component = "components" in metafunc.definition.path.parts
    for argument, names in (("backend", installed_backends()), ("trainer", installed_backends("gradients"))):
        marked = any(argument in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
        if argument in metafunc.fixturenames and not marked:
            enough = next((n for n in (*_QUICKEST, *names) if n in names), None) if of_a_component else None
            metafunc.parametrize(
                argument,
                [
                    pytest.param(
                        name,
                        marks=[
                            *([] if enough in (None, name) else [pytest.mark.repetition]),
                            *([] if name in _OURS else [_MAY_BE_SLOW]),
                        ],
                    )
                    for name in names
                ],
            )
