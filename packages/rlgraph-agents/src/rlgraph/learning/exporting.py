"""Exports of agents: policies for use without RLgraph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rlgraph.core import CapabilityError, GraphExecutor, InputError
from rlgraph.learning.agent_graph import ON_RAW_STATES
from rlgraph.learning.learner import Learner

ONNX = "onnx"


def export_methods(
    learner: Learner, directory: str | Path, wanted: Sequence[str], format: str | None
) -> Path:
    """Write API methods of a learner's root; see `BaseAgent.export_graph`."""
    if format not in (None, ONNX):
        raise InputError(f"export_graph: format: expected None or {ONNX!r}, given {format!r}")
    if isinstance(wanted, str):
        raise InputError(f"export_graph: expected a list of API methods, given {wanted!r}")
    executor = learner.executor
    if set(wanted) <= set(ON_RAW_STATES):
        if learner.graph.previous is not None:
            raise CapabilityError(
                "export_graph: expected an agent without previous_action_and_reward, which an exported policy does "
                "not keep: use Agent.load and get_actions, or train without it"
            )
        executor = _acting(learner, wanted, "torch" if format == ONNX else executor.backend.name)
    if format is None:
        return executor.export_graph(directory, wanted)
    if not hasattr(executor, "export_onnx"):
        raise CapabilityError(
            f"the {executor.backend.name} backend does not write ONNX; build the agent with backend='torch'"
        )
    path: Path = executor.export_onnx(directory, wanted)
    return path


def _acting(learner: Learner, methods: Sequence[str], backend: str) -> GraphExecutor:
    """An executor of these methods alone, with the learner's weights: on any backend, and without what learns."""
    spec = learner.spec
    executor = spec.make_executor(spec.make_graph(), methods, backend)
    weights = learner.executor.get_weights()
    executor.set_weights({name: weights[name] for name in executor.get_weights()})
    return executor
