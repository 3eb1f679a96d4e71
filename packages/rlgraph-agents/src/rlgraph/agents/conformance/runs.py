"""Rows: runs, as ``rlgraph train`` makes them from a document."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.agents.conformance.subject import AgentUnderTest, NotApplicable, expect_same, sample_states
from rlgraph.agents.conformance.table import row
from rlgraph.agents.conformance.tasks import CueTask, right_answers
from rlgraph.core import allow_imports
from rlgraph.runs import train

STEPS = 32


@row("runs")
def train_from_a_document(subject: AgentUnderTest) -> None:
    """A document with its name trains in a run folder, as `rlgraph train` does, and the run's policy is loaded."""
    subject.need_learning()
    name = subject.kind.spec_name()
    module, _, attribute = name.partition(":")
    if attribute and getattr(sys.modules.get(module), attribute, None) is None:
        raise NotApplicable(f"documents cannot name the class: {name} is neither registered nor importable")
    agent: dict[str, Any] = subject.given_options(dtype="float32")
    # A process whose framework runs already cannot change the number of threads, which documents make 1.
    agent["execution_spec"] = {"threads": None, **agent["execution_spec"]}
    with TemporaryDirectory() as folder, allow_imports(module, "rlgraph"):
        document = {
            "agent": {"type": name, **agent},
            "environment": {
                "type": f"{CueTask.__module__}:{CueTask.__qualname__}",
                "action_space": subject.action_space.to_spec(),
            },
            "backend": subject.backend,
            "steps": STEPS,
            "worker": {"num_envs": 2},
            "evaluation": {"interval": None, "final_episodes": 2},
        }
        if subject.is_taught:
            file = right_answers(CueTask(subject.action_space), Path(folder) / "right.npz", 8)
            document |= {"steps": 0, "data": {"file": str(file), "updates": 3}}
            del document["worker"]
        summary = train(json.loads(json.dumps(document)), Path(folder) / "run")
        trained = Agent.load(Path(folder) / "run")
        again = Agent.load(Path(folder) / "run")
        assert trained.updates > 0, f"no update in a run of {STEPS} steps: {summary}"
        found = (each.get_actions(sample_states(5), use_exploration=False) for each in (trained, again))
        expect_same(next(found), next(found), "greedy actions of the run's policy, loaded twice,")
