"""Updates of DQN, PPO and SAC as single-file implementations have them: parameters on a device and `torch.optim.Adam`.

``eager`` is what CleanRL does, ``compiled`` (`torch.compile`) and ``cuda graph`` (what is compiled, recorded) are what
LeanRL does. The losses are those of `dqn_torch`, `ppo_torch` and `sac_torch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import subject
import torch
from by_hand import dqn_torch, ppo_learner, ppo_torch, sac_learner, sac_torch
from torch import Tensor

#: Calls before a recording, in which libraries initialize themselves.
WARM_UP = 3


class Update:
    """``update(batch) -> losses``, NumPy in and out.

    Args:
        weights: by name.
        device: of all tensors.
        how: ``eager``, ``compiled`` or ``cuda graph``.

    Attributes:
        names: of the weights that it needs.
    """

    names: Sequence[str]

    def __init__(self, weights: Mapping[str, np.ndarray], device: str, how: str):
        self.device = torch.device(device)
        self._first = {name: torch.tensor(weights[name], device=device) for name in self.names}
        self._held = {name: value.clone().requires_grad_() for name, value in self._first.items()}
        self._optimizers: list[torch.optim.Adam] = []
        self._prepare()
        self._run = _made(how, self.step, self.restart)

    def _prepare(self) -> None:
        """Make networks and optimizers."""
        raise NotImplementedError

    def step(self, *batch: Tensor) -> Any:
        """An update on tensors; the losses."""
        raise NotImplementedError

    def network(self, names: Sequence[str]) -> list[Tensor]:
        return [self._held[name] for name in names]

    def adam(self, network: Sequence[Tensor], rate: float, epsilon: float) -> torch.optim.Adam:
        # Only this kind can be recorded.
        capturable = self.device.type == "cuda"
        self._optimizers.append(torch.optim.Adam(network, rate, eps=epsilon, capturable=capturable))
        return self._optimizers[-1]

    def tensors(self, arrays: Sequence[np.ndarray]) -> list[Tensor]:
        return [torch.from_numpy(array).to(self.device) for array in arrays]

    def restart(self) -> None:
        """Back to the weights of the beginning."""
        with torch.no_grad():
            for name, value in self._held.items():
                value.copy_(self._first[name])
            for optimizer in self._optimizers:
                for state in optimizer.state.values():
                    for each in state.values():
                        each.zero_()

    def weights(self) -> dict[str, np.ndarray]:
        return {name: value.detach().cpu().numpy() for name, value in self._held.items()}


def _made(how: str, step: Callable[..., Any], restart: Callable[[], None]) -> Callable[..., Any]:
    """The function of an update; a recording is made in its first call, ahead of all other updates."""
    if how == "eager":
        return step
    compiled = torch.compile(step)
    if how == "compiled":
        return compiled
    recording: list[Any] = []

    def replay(*batch: Tensor) -> Any:
        if not recording:
            inputs = [tensor.clone() for tensor in batch]
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(WARM_UP):
                    compiled(*inputs)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                losses = compiled(*inputs)
            recording.extend((graph, inputs, losses))
            restart()  # the calls before the recording were updates
        graph, inputs, losses = recording
        for tensor, given in zip(inputs, batch, strict=True):
            tensor.copy_(given)
        graph.replay()
        return losses

    return replay


class DQN(Update):
    """One step of dueling double DQN (see `subject`)."""

    parts = tuple(subject.names(scope) for scope in ("dqn/policy", "dqn/target-policy/policy"))
    names = (*parts[0], *parts[1])

    def _prepare(self) -> None:
        self.policy, self.target = map(self.network, self.parts)
        self.optimizer = self.adam(self.policy, subject.LEARNING_RATE, subject.EPSILON)

    def step(self, *batch: Tensor) -> Any:
        frozen, target = ([value.detach() for value in part] for part in (self.policy, self.target))
        loss = dqn_torch.loss_of(frozen, target, self.policy, *batch)
        return _descend(self.optimizer, loss, subject.CLIP_NORM)

    def __call__(self, batch: Mapping[str, np.ndarray]) -> float:
        return float(self._run(*self.tensors([batch[key] for key in subject.KEYS])))


class PPO(Update):
    """Epochs of minibatches (see `ppo_learner`).

    Args:
        weights, device, how: see `Update`.
        stream: draws the order of records.
    """

    names = ppo_learner.NAMES

    def __init__(self, weights: Mapping[str, np.ndarray], device: str, how: str, stream: np.random.Generator):
        self.stream = stream
        super().__init__(weights, device, how)

    def _prepare(self) -> None:
        self.networks = self.network(self.names)
        self.optimizer = self.adam(self.networks, ppo_learner.LEARNING_RATE, ppo_learner.EPSILON)

    def step(self, *minibatch: Tensor) -> Any:
        loss = ppo_torch.loss_of(self.networks, *minibatch)
        return _descend(self.optimizer, loss, ppo_learner.CLIP_NORM)

    def __call__(self, batch: Mapping[str, np.ndarray]) -> float:
        *records, values = self.tensors([batch[key] for key in ppo_learner.RECORDS])
        records = [*records, values + records[-1]]
        order = self.tensors([ppo_learner.order_of(self.stream, len(records[0]))])[0]
        losses = [self._run(*(record[rows] for record in records)).clone() for rows in order]
        return float(torch.stack(losses).mean())


class SAC(Update):
    """Critics, actor, temperature and targets (see `sac_learner`)."""

    names = tuple(chain.from_iterable(sac_learner.NAMES))

    def _prepare(self) -> None:
        self.actor, self.critics, self.targets, self.temperature = map(self.network, sac_learner.NAMES)
        self.step_critics, self.step_actor, self.step_temperature = (
            self.adam(part, sac_learner.LEARNING_RATE, sac_learner.EPSILON)
            for part in (self.critics, self.actor, self.temperature)
        )

    def step(self, *batch: Tensor) -> Any:
        states, actions, rewards, terminals, next_states, noise, next_noise = batch
        (logarithm,) = self.temperature
        alpha = logarithm.detach().exp()
        with torch.no_grad():
            wanted = sac_torch.targets_of(
                alpha, self.actor, self.targets, rewards, terminals, next_states, next_noise
            )
        critic_loss = sac_torch.critic_loss_of(self.critics, states, actions, wanted)
        critic_loss = _descend(self.step_critics, critic_loss)
        new_actions, log_probs = sac_torch.act(self.actor, states, noise)
        critics = [value.detach() for value in self.critics]
        actor_loss = sac_torch.actor_loss_of(alpha, critics, states, new_actions, log_probs)
        actor_loss = _descend(self.step_actor, actor_loss)
        temperature_loss = -logarithm * (log_probs.detach().mean() + sac_learner.TARGET_ENTROPY)
        temperature_loss = _descend(self.step_temperature, temperature_loss)
        with torch.no_grad():
            for target, value in zip(self.targets, self.critics, strict=True):
                target.lerp_(value, sac_learner.TAU)
        return torch.stack([critic_loss, temperature_loss, actor_loss])

    def __call__(self, batch: Mapping[str, np.ndarray]) -> list[float]:
        losses: list[float] = self._run(*self.tensors([batch[key] for key in sac_learner.KEYS])).tolist()
        return losses


def _descend(optimizer: torch.optim.Adam, loss: Tensor, limit: float | None = None) -> Tensor:
    """A step, with a limit on the norm of all derivatives; the loss without its derivative."""
    optimizer.zero_grad()
    loss.backward()
    if limit is not None:
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], limit)
    optimizer.step()
    return loss.detach()
