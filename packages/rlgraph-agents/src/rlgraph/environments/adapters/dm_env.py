"""The adapter for environments of DeepMind's interface dm_env (https://github.com/google-deepmind/dm_env).

The package itself is not needed: specs and time steps are recognized by their attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.errors import text_of
from rlgraph.core.specs.imports import check_import, imported
from rlgraph.environments.adapter import EnvironmentAdapter
from rlgraph.environments.adapters.gym_translation import cast as cast_leaf
from rlgraph.environments.adapters.protocol_env import check_one_agent
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.environments.extras import import_extra
from rlgraph.spaces import BoolBox, BoxSpace, Dict, FloatBox, IntBox, Space, TextBox, Tuple

#: ``dm_env.StepType.LAST``.
LAST = 2
#: The dtypes of Spaces for those of specs; others become int64.
INTEGERS = {"uint8": "uint8", "int8": "int16", "int16": "int16", "uint16": "int32", "int32": "int32"}


class DmEnv(Environment):
    """An environment of dm_env: of dm_control, bsuite, DeepMind Lab, or of your own.

    An episode is terminated where its last step has the discount 0, else truncated; `info` has the discount of each
    step. float64 becomes float32.

    Args:
        environment: the environment, or what makes one, a function or "module:function".
        seed_argument: the argument of that function which takes a seed, ``"task_kwargs.random"`` for one inside a
            mapping. Environments of dm_env take seeds only when they are made, so that `reset` with a seed makes a new
            one; None: `reset` ignores seeds.
        arguments: further arguments of that function.

    Raises:
        SpecError: it is none, or a spec has no Space.
    """

    def __init__(self, environment: Any, seed_argument: str | None = None, **arguments: Any) -> None:
        self._make: Callable[..., Any] | None = None
        if is_dm_env(environment):
            if arguments or seed_argument:
                raise SpecError("the environment exists: leave out its arguments", path="DmEnv")
            self.environment = environment
        else:
            self._make = _function(environment)
            self._arguments, self._seed_argument = arguments, seed_argument
            self.environment = self._made(None)
        super().__init__(
            space_of(self.environment.observation_spec(), "observation"),
            space_of(self.environment.action_spec(), "action"),
        )
        self._running = False

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.environment).__name__

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode."""
        if seed is not None and self._make is not None and self._seed_argument is not None:
            self.terminate()
            self.environment = self._made(seed)
        self._running = True
        return cast(self.state_space, self.environment.reset().observation)

    def step(self, action: Any) -> StepResult:
        """Acts once.

        Raises:
            EnvironmentFault: no reset before.
        """
        if not self._running:  # dm_env would begin an episode and ignore the action
            raise not_running(self.name)
        step = self.environment.step(action)
        is_last, discount = int(step.step_type) == LAST, float(step.discount)
        terminated = is_last and discount == 0.0
        self._running = not is_last
        state = cast(self.state_space, step.observation)
        return state, float(step.reward), terminated, is_last and not terminated, {"discount": discount}

    def terminate(self) -> None:
        """Closes the environment."""
        self._running = False
        close = getattr(self.environment, "close", None)
        if close is not None:
            close()

    def _made(self, seed: int | None) -> Any:
        assert self._make is not None
        arguments: dict[str, Any] = {**self._arguments}
        if seed is not None and self._seed_argument is not None:
            inner = arguments
            *outer, last = self._seed_argument.split(".")
            for key in outer:
                inner[key] = {**(inner.get(key) or {})}
                inner = inner[key]
            inner[last] = seed
        made = self._make(**arguments)
        if not is_dm_env(made):
            raise SpecError(
                f"expected an environment of dm_env, given a {type(made).__name__}", path="DmEnv.environment"
            )
        return made


class DmEnvAdapter(EnvironmentAdapter):
    """Environments of dm_env; mappings of `DmEnv` have its registered name."""

    order = 20

    def understands(self, spec: Any) -> bool:
        return is_dm_env(spec)

    def make(self, spec: Any, path: str) -> Environment:
        check_one_agent(spec, path)
        return DmEnv(spec)


def is_dm_env(candidate: Any) -> bool:
    """Whether an object has the interface of dm_env."""
    names = ("observation_spec", "action_spec", "reset", "step")
    return not isinstance(candidate, type) and all(callable(getattr(candidate, name, None)) for name in names)


def space_of(spec: Any, path: str) -> Space:
    """The Space of a spec of dm_env, or of a nested dict, list or tuple of them.

    Raises:
        SpecError: it has none; names its path.
    """
    if isinstance(spec, Mapping):
        return Dict({key: space_of(part, f"{path}.{key}") for key, part in spec.items()})
    if isinstance(spec, list | tuple):
        return Tuple([space_of(part, f"{path}[{i}]") for i, part in enumerate(spec)])
    try:
        shape, dtype = tuple(spec.shape), np.dtype(spec.dtype)
    except (AttributeError, TypeError) as error:
        raise SpecError(f"expected a spec of dm_env, given {spec!r}", path=f"DmEnv.{path}") from error
    low, high = getattr(spec, "minimum", None), getattr(spec, "maximum", None)
    if hasattr(spec, "num_values"):
        return IntBox(int(spec.num_values))
    if dtype.kind == "b":
        return BoolBox(shape=shape)
    if dtype.kind == "f":
        least, most = _bounds(low, high, shape, np.float32)
        return FloatBox(least, most, shape)
    if dtype.kind in "iu":
        if dtype == np.uint8:
            low, high = (0 if low is None else low), (255 if high is None else high)
        least, most = _bounds(low, high, shape, np.int64)
        most = None if most is None else most + 1  # that of an IntBox is exclusive
        return IntBox(least, most, shape, INTEGERS.get(dtype.name, "int64"))
    if dtype.kind in "OUS" and not shape:
        return TextBox()
    raise SpecError(f"a spec of dtype {dtype} and shape {list(shape)} has no Space", path=f"DmEnv.{path}")


def _bounds(low: Any, high: Any, shape: tuple[int, ...], dtype: Any) -> list[Any]:
    """Both as arrays of a shape; None: there is none."""
    return [None if bound is None else np.broadcast_to(bound, shape).astype(dtype) for bound in (low, high)]


def cast(space: Space, value: Any) -> Any:
    """An observation as the Space has it."""
    if isinstance(space, Dict):
        return {key: cast(part, value[key]) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(cast(part, item) for part, item in zip(space, value, strict=True))
    assert isinstance(space, BoxSpace)
    return str(value) if isinstance(space, TextBox) else cast_leaf(value, space.numpy_dtype)


def _function(given: Any) -> Callable[..., Any]:
    where = "DmEnv.environment"
    if isinstance(given, str) and ":" in given:
        module = given.partition(":")[0]
        check_import(module, given, where)
        import_extra(module, given, where)
        try:
            given = imported(given)
        except AttributeError as error:
            raise SpecError(f"{given!r}: {text_of(error)}", path=where) from error
    if callable(given):
        function: Callable[..., Any] = given
        return function
    raise SpecError(
        f"expected an environment of dm_env, or a function that makes one, or 'module:function', given {given!r}",
        path=where,
    )
