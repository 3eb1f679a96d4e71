"""The conformance suite: what every backend must do, as named checks.

A third party tests a backend with three lines,

```python
from rlgraph.testing import BackendConformance

class TestMyBackend(BackendConformance):
    backend = "mine"
```

or with ``python -m rlgraph.testing --backend mine``. The checks use what every user of a backend uses: its descriptor,
`create_backend` and `GraphExecutor`. What the descriptor does not declare is gated, not failed. Needs
`rlgraph-core[testing]`.
"""

from rlgraph.testing.conformance.checks import Check, Subject
from rlgraph.testing.conformance.suite import BackendConformance, Outcome, load_checks, run_conformance

__all__ = ["BackendConformance", "Check", "Outcome", "Subject", "load_checks", "run_conformance"]
