"""How fast executors are with many actors: the same flows in virtual time, by measured costs."""

from rlgraph.execution.simulation.clock import VirtualClock
from rlgraph.execution.simulation.costs import Costs
from rlgraph.execution.simulation.engine import SimulatedEngine
from rlgraph.execution.simulation.measure import measure
from rlgraph.execution.simulation.run import Simulated, simulate

__all__ = ["Costs", "Simulated", "SimulatedEngine", "VirtualClock", "measure", "simulate"]
