"""Groups of learners over ``torch.distributed``: Gloo on any machine, NCCL between GPUs."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import numpy as np
import torch
import torch.distributed

from rlgraph.core import CollectiveError
from rlgraph.core.addresses import host_and_port
from rlgraph.core.collectives import GroupCollective
from rlgraph.torch.devices import device_name

#: Without types: what is used of it is not declared as exported.
dist: Any = torch.distributed


class GlooCollective(GroupCollective):
    """Adds arrays up with Gloo, whichever backend computes them.

    The group is the learner's own: ``torch.distributed.init_process_group`` is left to the program.
    """

    def greeting(self) -> bytes:
        """The port of the store at which processes of ``torch.distributed`` meet."""
        self._store: Any = None
        if self.rank:
            return b""
        if not dist.is_available():
            raise CollectiveError("this build of PyTorch has no torch.distributed: install another one")
        host, _ = host_and_port(self.address)
        # A socket of its own at this address: the store would listen on all interfaces.
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, 0), family=family)
        port = listening.getsockname()[1]
        self._store = dist.TCPStore(
            host, port, None, True, self._limit, wait_for_workers=False, master_listen_fd=listening.detach()
        )
        return str(port).encode()

    @property
    def _limit(self) -> timedelta:
        return timedelta(seconds=self.timeout)

    def start(self) -> None:
        if self._store is None:
            host, port = self.membership.hosts[0].strip("[]"), int(self.membership.greetings[0])
            self._store = dist.TCPStore(host, port, None, False, self._limit)
        self._group = self.make_group()
        self.sum(np.ones(1, np.float32))  # connects

    def make_group(self) -> Any:
        """The process group."""
        options = dist.ProcessGroupGloo._Options()
        options._timeout = self._limit
        # The interface by which learner 0 is reached, else Gloo takes that of the machine's name.
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=self.membership.hosts[self.rank])]
        return dist.ProcessGroupGloo(self._store, self.rank, self.size, options)

    def sum(self, array: np.ndarray) -> np.ndarray:
        self._group.allreduce([torch.from_numpy(array)]).wait()
        return array

    def stop(self) -> None:
        self._group = self._store = None


class NcclCollective(GlooCollective):
    """Adds arrays up with NCCL, each learner on a GPU of its own.

    Args:
        rank, size, address, timeout: see `rlgraph.core.Collective`.
        device: the GPU; None: the one of the learner's rank, of those of its machine.
    """

    on_devices = True

    def __init__(self, rank: int, size: int, address: str, timeout: float, device: str | None = None):
        self._name = device
        super().__init__(rank, size, address, timeout)

    def make_group(self) -> Any:
        if not torch.cuda.is_available() or not dist.is_nccl_available():
            raise CollectiveError("NCCL needs a GPU and a build of PyTorch for it: use the collective 'gloo'")
        name = f"cuda:{self.rank % torch.cuda.device_count()}" if self._name is None else self._name
        self._device = torch.device(device_name(name))
        if self._device.type != "cuda":
            raise CollectiveError(f"NCCL needs a GPU for each learner, given the device {name!r}: use 'gloo'")
        if all(ip_address(host).is_loopback for host in self.membership.hosts[1:]):
            os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")  # else others than this machine could connect
        options = dist.ProcessGroupNCCL.Options()
        options._timeout = self._limit
        return dist.ProcessGroupNCCL(self._store, self.rank, self.size, options)

    def sum(self, array: np.ndarray) -> np.ndarray:
        values = torch.from_numpy(array).to(self._device)
        self._group.allreduce([values]).wait()
        return values.cpu().numpy()
