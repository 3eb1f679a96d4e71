"""Cases for every operation of the contract: generated calls, by which any backend is compared with the reference.

A case is a `Call` whose tensors are specs, some of their sizes open. The rule of the operation takes it as it is
(`symbolic`); a backend takes it with arrays and sizes put in (`concrete`). Needs `rlgraph-core[testing]`.

```python
@given(st.data())
def test_tanh(data):
    cases = OPERATION_CASES["tanh"]
    call = concrete(data.draw(cases.calls), SIZES[0], np.random.default_rng(0))
    expected = NumpyOps().tanh(*call.args, **call.kwargs)
    ...  # the same on the other backend: agree within cases.tolerance(expected.dtype)
```
"""

from __future__ import annotations

from collections.abc import Mapping

try:
    import hypothesis as _hypothesis  # noqa: F401
except ImportError as error:
    message = "rlgraph.testing.operations needs hypothesis: pip install 'rlgraph-core[testing]'"
    raise ImportError(message) from error

from rlgraph.testing.operations import contraction, creation, elementwise, gather, nn, reduction, shaping
from rlgraph.testing.operations.calls import SIZES, Ascending, Call, Indices, concrete, smooth, symbolic
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.operators import OPERATORS, Operator

__all__ = [
    "OPERATION_CASES",
    "OPERATORS",
    "OTHER_FAMILIES",
    "SIZES",
    "Ascending",
    "Call",
    "Cases",
    "Indices",
    "Operator",
    "concrete",
    "smooth",
    "symbolic",
]

#: Name of the operation -> its cases.
OPERATION_CASES: Mapping[str, Cases] = {
    **elementwise.CASES,
    **reduction.CASES,
    **contraction.CASES,
    **gather.CASES,
    **shaping.CASES,
    **creation.CASES,
    **nn.CASES,
}

#: The families whose operations are no functions of tensors alone: their tests are written one by one.
OTHER_FAMILIES = frozenset({"state", "random", "control"})
