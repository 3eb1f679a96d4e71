"""The conformance suite of agents: what every agent must do, as a table of named rows.

A third party tests an agent with three lines,

```python
from rlgraph.agents.conformance import AgentConformance

class TestMyAgent(AgentConformance):
    agent, backend = "mine", "torch"
```

or with ``python -m rlgraph.testing --agent mine``. Rows use what every user of an agent uses: its class, its
methods, and its public parts ``actor`` and ``learner``. A row that does not concern an agent says why.
"""

from rlgraph.agents.conformance.subject import AgentUnderTest, NotApplicable
from rlgraph.agents.conformance.suite import AgentConformance, load_rows, run_agent_conformance, run_row
from rlgraph.agents.conformance.table import Row

__all__ = [
    "AgentConformance",
    "AgentUnderTest",
    "NotApplicable",
    "Row",
    "load_rows",
    "run_agent_conformance",
    "run_row",
]
