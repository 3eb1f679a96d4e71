"""Variables on JAX: one flat array per group, replaced as a whole when the group is written."""

from __future__ import annotations

from collections.abc import Mapping

import jax
import numpy as np
from jax import numpy as jnp

from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.storage import Storage
from rlgraph_jax.random import first_state
from rlgraph_jax.state import Values


class JaxStorage(Storage):
    """Flat arrays, and the states of random streams.

    Attributes:
        values: name of a group or stream -> its value.
    """

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        super().__init__(layout, variables, seed)
        self.values: Values = {}
        self._homes: dict[str, Values] = {}

    def home(self, name: str) -> Values:
        """Where the value of a group or stream is: here, or in the storage that it is shared with."""
        return self._homes.get(name, self.values)

    def share_group(self, name: str, other: JaxStorage) -> None:
        self._homes[name] = other.home(name)

    def create_group(self, name: str, values: np.ndarray) -> None:
        self.write_group(name, values)

    def read_group(self, name: str) -> np.ndarray:
        return np.array(self.home(name)[name])

    def write_group(self, name: str, values: np.ndarray) -> None:
        with jax.enable_x64(True):
            self.home(name)[name] = jnp.array(
                values, self.layout.groups[name].dtype
            )  # a copy

    # Random streams: they are saved and loaded with the variables.

    def tensor_stream(self, name: str) -> jax.Array:
        if name not in self.values:
            self.values[name] = first_state(self.seed, name)
        return self.values[name]

    def read_tensor_streams(self) -> dict[str, np.ndarray]:
        return {
            name: np.array(self.values[name])
            for name in self.values.keys() - self.layout.groups.keys()
        }

    def write_tensor_streams(self, states: Mapping[str, np.ndarray]) -> None:
        self.values.update(
            {name: jnp.array(state, jnp.uint32) for name, state in states.items()}
        )
