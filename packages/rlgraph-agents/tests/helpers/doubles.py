"""Environments, callbacks and runs that tests of several folders use."""

import shutil

import numpy as np
import pytest

from rlgraph.environments import Environment
from rlgraph.runs import train
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import Callback


class Episodes(Environment):
    """Episodes of `length` steps, counted by `episode` and `steps`; subclasses say which `state` they show.

    Args:
        length: None: they never end.
        reward: a number, or a function of the environment and the action.
    """

    def __init__(self, state_space=None, action_space=None, *, length=3, reward=1.0, truncates=False):
        super().__init__(state_space or FloatBox(shape=(1,)), action_space or IntBox(2))
        self.length, self.reward, self.truncates = length, reward, truncates
        self.episode, self.steps, self.seeds, self.closed = -1, 0, [], False
        self.rng = np.random.default_rng()

    def state(self):
        return self.state_space.zeros()

    def reset(self, seed=None):
        self.episode, self.steps = self.episode + 1, 0
        self.seeds.append(seed)
        self.rng = self.rng if seed is None else np.random.default_rng(seed)
        return self.state()

    def step(self, action):
        self.steps += 1
        reward = self.reward(self, action) if callable(self.reward) else self.reward
        ends = self.steps == self.length
        return self.state(), reward, ends and not self.truncates, ends and self.truncates, {}

    def terminate(self):
        self.closed = True


def kept(make):
    """A list, and a function that makes environments and appends them to it."""
    made = []
    return made, lambda: made.append(make()) or made[-1]


def told(**events):
    """A callback of functions, as `told(on_step=function)`."""
    return type("Told", (Callback,), {name: staticmethod(call) for name, call in events.items()})()


def raising(error):
    """A function of any arguments that raises this."""

    def fail(*arguments, **options):
        raise error

    return fail


def killed_at(timesteps, error=RuntimeError):
    """A callback that ends a run at the report of these timesteps, as badly as one can inside of a process."""

    def on_report(worker, metrics):
        if metrics["timesteps"] == timesteps:
            raise error("killed")

    return told(on_report=on_report)


def kill(run, folder, callback):
    """Call `run` with a callback that ends it; as after kill -9 there is no last checkpoint."""
    with pytest.raises(RuntimeError, match="killed"):
        run([callback])
    shutil.rmtree(folder / "checkpoints" / "last")


def killed_run(spec, folder, timesteps):
    """A run that was killed at the report of these timesteps."""
    kill(lambda callbacks: train(spec, folder, callbacks), folder, killed_at(timesteps))


def memory(agent):
    """The records of an agent by field."""
    size = int(agent.call_api_method("get_memory_size"))
    stored = agent.executor.storage.host.items()
    return {name.removeprefix("memory/rows/"): rows[:size] for name, rows in stored if "memory/rows/" in name}
