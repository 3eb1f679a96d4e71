"""Environments and callbacks whose errors have no text, importable in other processes."""

from rlgraph.environments import DeterministicEnv


class Odd(Exception):
    """Its text fails."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class OddEnv(DeterministicEnv):
    """Raises `Odd` in one method after some calls."""

    def __init__(self, method="step", calls=5):
        if method == "__init__":
            raise Odd
        super().__init__(4)
        self.method, self.calls = method, calls

    def _count(self, method):
        self.calls -= method == self.method
        if self.calls <= 0:
            raise Odd

    def reset(self, seed=None):
        self._count("reset")
        return super().reset(seed)

    def step(self, action):
        self._count("step")
        return super().step(action)
