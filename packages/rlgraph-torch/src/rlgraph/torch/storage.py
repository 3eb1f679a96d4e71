"""Variables on PyTorch: one flat tensor per group; named variables are leaves that share its memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np
import torch
from torch import Tensor

from rlgraph.core.graph.variables import Block, Layout, Variable
from rlgraph.core.random_streams import stream_seed
from rlgraph.core.storage import Storage
from rlgraph.torch.autograd import derivatives, flatten
from rlgraph.torch.modes import in_own_modes
from rlgraph.torch.transfers import CPU, Fetch, moved


class TorchStorage(Storage):
    """Flat tensors on the devices of their groups; NumPy can borrow the memory of those on the CPU."""

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        super().__init__(layout, variables, seed)
        self.groups: dict[str, Tensor] = {}
        self._handles: dict[str, Tensor] = {}
        self._generators: dict[str, torch.Generator] = {}

    @in_own_modes
    def create_group(self, name: str, values: np.ndarray) -> None:
        device = self.layout.groups[name].device or CPU
        self.adopt_group(name, torch.from_numpy(values.copy()).to(device))

    def adopt_group(self, name: str, buffer: Tensor) -> None:
        """Use `buffer` [size] for a group."""
        self.groups[name] = buffer
        group = self.layout.groups[name]
        for variable in group.variables:
            start = group.offsets[variable.name]
            # A leaf that shares the buffer's memory: reading it is free.
            leaf = buffer[start : start + variable.size].view(variable.shape).detach()
            self._handles[variable.name] = leaf.requires_grad_(variable.trainable)

    def share_group(self, name: str, other: TorchStorage) -> None:
        self.adopt_group(name, other.groups[name])

    def read_group(self, name: str) -> np.ndarray:
        return self.groups[name].cpu().numpy().copy()

    @in_own_modes
    def fetch_groups(self, names: Sequence[str]) -> Callable[[], dict[str, np.ndarray]]:
        fetch = Fetch([self.groups[name] for name in names])
        return lambda: dict(zip(names, fetch.arrays(), strict=True))

    @in_own_modes
    def write_group(self, name: str, values: np.ndarray) -> None:
        self.groups[name].copy_(torch.from_numpy(np.ascontiguousarray(values)))

    def borrow_group(self, name: str) -> np.ndarray | None:
        return None if self.groups[name].is_cuda else self.groups[name].numpy()

    def handle(self, variable: Variable) -> Tensor:
        """The leaf of `variable`."""
        return self._handles[variable.name]

    def value(self, variable: Variable) -> Tensor:
        """The same memory, without recording of derivatives."""
        return self.handle(variable).detach()

    def block(self, block: Block) -> Tensor:
        """The flat view of `block`."""
        return self.groups[block.group][block.start : block.stop]

    # Random streams.

    def tensor_stream(self, name: str) -> torch.Generator:
        if name not in self._generators:
            (seed,) = np.random.SeedSequence(stream_seed(self.draw_seed, name)).generate_state(1, np.uint64)
            self._generators[name] = torch.Generator().manual_seed(int(seed))
        return self._generators[name]

    @in_own_modes
    def read_tensor_streams(self) -> dict[str, np.ndarray]:
        return {name: generator.get_state().numpy() for name, generator in self._generators.items()}

    @in_own_modes
    def write_tensor_streams(self, states: Mapping[str, np.ndarray]) -> None:
        for name, state in states.items():
            self.tensor_stream(name).set_state(torch.from_numpy(state.copy()))

    # Gradients.

    def gradients(
        self, blocks: Sequence[Block], retain: bool, placed: bool = False
    ) -> Callable[[Tensor], list[Tensor]]:
        """``f(loss)`` returning one flat derivative per block; the loss may be on any device if `placed`."""
        leaves = tuple(self.handle(variable) for block in blocks for variable in block.variables)
        edges = [0, *accumulate(len(block.variables) for block in blocks)]
        pieces = [slice(first, last) for first, last in pairwise(edges)]
        one = torch.ones((), dtype=leaves[0].dtype)
        # Kept on their devices: a copy from the CPU could not be recorded.
        ones = {one.device: one}

        def gradients(loss: Tensor) -> list[Tensor]:
            found = derivatives(loss, one, leaves, retain)
            return [flatten(found[piece]) for piece in pieces]

        def gradients_elsewhere(loss: Tensor) -> list[Tensor]:
            if loss.device not in ones:
                ones[loss.device] = moved(one, loss.device)
            found = derivatives(loss, ones[loss.device], leaves, retain)
            return [flatten(found[piece]) for piece in pieces]

        return gradients_elsewhere if placed else gradients
