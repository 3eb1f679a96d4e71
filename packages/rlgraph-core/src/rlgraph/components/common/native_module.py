"""The framework-independent part of components that wrap a framework's module."""

from __future__ import annotations

import copy as copying
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Self

import numpy as np

from rlgraph.core import AssemblyError, BuildError, Component, InputError, Variable, rlgraph_api
from rlgraph.core.errors import nearest, type_and_text
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox, Space, from_spec

#: Trial sizes of batch and time: an axis of an output that follows one of them is that rank.
TRIALS = ({"batch": 2, "time": 3}, {"batch": 5, "time": 7})


@dataclass(frozen=True)
class Shaped:
    """The shape and dtype of a tensor without values."""

    shape: tuple[int, ...]
    dtype: str


def map_tensors(function: Callable[[Any], Any], value: Any, kind: type) -> Any:
    """Apply `function` to the tensors of a `kind`, or `Shaped`, in what a module takes or returns; the rest stays."""
    if isinstance(value, kind | Shaped):
        return function(value)
    if isinstance(value, Mapping):
        return {key: map_tensors(function, item, kind) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map_tensors(function, item, kind) for item in value)
    return value


@dataclass(frozen=True)
class Trial:
    """The outputs and effects of a call of a module, found without computing anything.

    Attributes:
        outputs: `Shaped`, or dicts, lists and tuples of it.
        writes: names of the tensors that it writes.
        draws: whether it draws random numbers.
        shares: names of the tensors with which the outputs share memory.
    """

    outputs: Any
    writes: frozenset[str] = frozenset()
    draws: bool = False
    shares: frozenset[str] = frozenset()


@dataclass(frozen=True)
class State:
    """One tensor of a module: a parameter or a buffer.

    Attributes:
        shape, dtype: of the tensor.
        trainable: whether the module marks it as trainable.
        value: returns its present value.
    """

    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    value: Callable[[], np.ndarray]


class NativeModule(Component):
    """A component that calls a module of a framework; its variables hold the module's parameters and buffers.

    Args:
        module: the module. It is never changed; copies of the component start from its values as well.
        output_space: Space of its output; default: found by a trial call on shapes alone.

    Attributes:
        tensors: the variables by the names of the module's parameters and buffers.
    """

    ranks_may_differ = False

    # Graph functions of kernels only, `f(self, ops, inputs)`; a framework adds them.
    _evaluate: Any
    _train: Any

    def __init__(self, module: Any, output_space: Any = None, scope: str = "module", **kwargs: Any):
        self.module = module
        self.output_space: Any = None if output_space is None else from_spec(output_space)
        self.tensors: dict[str, Variable] = {}
        self._trials: dict[tuple[bool, str], Trial | None] = {}
        super().__init__(scope=scope, **kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self.module)] = self.module
        twin = memo[id(self)] = object.__new__(type(self))
        vars(twin).update(copying.deepcopy(vars(self), memo))
        return twin

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.prepare(input_spaces["inputs"])
        for name, state in self.states(self.module):
            self.tensors[name] = self.get_variable(
                name, self._box(name, state), initializer=_starting_at(state), trainable=state.trainable
            )

    @rlgraph_api
    def call(self, inputs: Any, training: Any = None) -> Any:
        """The module's output in evaluation mode: without dropout, without updates of running means.

        With ``training=True`` as `call_in_training`.
        """
        if training is not None and not isinstance(training, bool):
            raise AssemblyError(f"{self.scope_path}: training: expected True, False or None, given a tensor")
        return self._train(inputs) if training else self._evaluate(inputs)

    @rlgraph_api
    def call_in_training(self, inputs: Any) -> Any:
        """The module's output in training mode: with dropout, with updates of running means."""
        return self._train(inputs)

    def write_to(self, module: Any, weights: Mapping[str, np.ndarray]) -> None:
        """Write the values of this component's variables into the wrapped module or one of the same structure.

        Args:
            module: the module to change.
            weights: values by scoped name, as `GraphExecutor.get_weights` gives them.

        Raises:
            InputError: a weight is missing, or the module has other tensors.
        """
        targets = self.targets(module)
        expected = {name: state.shape for name, state in self.states(self.module)}
        if {name: tuple(target.shape) for name, target in targets.items()} != expected:
            raise InputError(
                f"{self.scope_path}.write_to: the module has other tensors than the wrapped one: "
                f"expected {expected}, given { {n: tuple(t.shape) for n, t in targets.items()} }"
            )
        for name in targets:
            if f"{self.scope_path}/{name}" not in weights:
                raise InputError(
                    f"{self.scope_path}.write_to: weights lack {self.scope_path}/{name}. "
                    f"{nearest(f'{self.scope_path}/{name}', weights)}"
                )
        for name, target in targets.items():
            self.assign_to(target, weights[f"{self.scope_path}/{name}"])

    # Implemented by each framework.

    def prepare(self, inputs: Space) -> None:
        """Make the module create all its tensors."""

    def states(self, module: Any) -> Iterator[tuple[str, State]]:
        """(name, state) of all tensors of a module, each once."""
        raise NotImplementedError

    def targets(self, module: Any) -> dict[str, Any]:
        """The native tensors of a module by the names of `states`."""
        raise NotImplementedError

    def assign_to(self, target: Any, value: np.ndarray) -> None:
        """Write `value` into one of `targets`."""
        raise NotImplementedError

    def attempt(self, inputs: Any, training: bool) -> Trial:
        """Outputs and effects of a call with `inputs`, `Shaped` or containers of it; computes nothing."""
        raise NotImplementedError

    # Declarations of the graph functions.

    def trial(self, training: bool, inputs: Space) -> Trial | None:
        """Outputs and effects of a call with `inputs`; None if the trial fails and the output Space is given."""
        key = (training, repr(inputs))
        if key not in self._trials:
            self._trials[key] = self._attempted(training, inputs)
        return self._trials[key]

    def _attempted(self, training: bool, inputs: Space) -> Trial | None:
        try:
            first, second = (self.attempt(self._sample(inputs, sizes), training) for sizes in TRIALS)
        except BuildError as error:
            raise BuildError(f"{self.scope_path}: {error}") from error
        except Exception as error:  # any error of the framework or of user code
            if self.output_space is not None:
                return None
            raise BuildError(
                f"{self.scope_path}: {_kind(self.module)} fails on {inputs!r}: {type_and_text(error)}"
            ) from error
        space = self.output_space or self._space(first.outputs, second.outputs, inputs, "its output")
        return replace(first, outputs=space)

    def spaces(self, training: bool, inputs: Space) -> tuple[Any]:
        """The Space of the output of a call, which may be a container."""
        trial = self.trial(training, inputs)
        return (self.output_space if trial is None else trial.outputs,)

    def writes(self, training: bool, inputs: Space) -> list[Variable]:
        """The variables that a call writes. If unknown: in training, all that are not trainable."""
        trial = self.trial(training, inputs)
        if trial is None:
            return [v for v in self.tensors.values() if training and not v.trainable]
        return [self.tensors[name] for name in sorted(trial.writes)]

    def draws(self, training: bool, inputs: Space) -> bool:
        """Whether a call draws random numbers. If unknown: yes in training."""
        trial = self.trial(training, inputs)
        return training if trial is None else trial.draws

    def shares(self, training: bool, inputs: Space) -> list[Variable]:
        """The variables whose memory the outputs of a call share. If unknown: all."""
        trial = self.trial(training, inputs)
        return [v for name, v in self.tensors.items() if trial is None or name in trial.shares]

    # Spaces and shapes.

    def _box(self, name: str, state: State) -> BoxSpace:
        try:
            return _box_of(state.dtype, state.shape)
        except KeyError:
            raise BuildError(
                f"{self.scope_path}: {name} of {_kind(self.module)} is {state.dtype}, which variables do not support"
            ) from None

    def _sample(self, inputs: Space, sizes: Mapping[str, int]) -> Any:
        """An element of `inputs` as `Shaped`, or containers of it, with ranks of `sizes`."""

        def shaped(_: str, box: BoxSpace) -> Shaped:
            dtype = self._float_dtype if box.dtype.startswith("float") else box.dtype
            return Shaped((*(sizes[rank] for rank in _ranks(box)), *box.shape), dtype)

        return inputs.map_leaves(shaped)

    def _space(self, first: Any, second: Any, inputs: Space, where: str) -> Any:
        """The Space of outputs, or containers of Spaces, from the outputs of both trials."""
        if isinstance(first, Mapping):
            return {
                key: self._space(first[key], second[key], inputs, f"{where}[{key!r}]")
                for key in sorted(first)
            }
        if isinstance(first, list | tuple):
            pairs = enumerate(zip(first, second, strict=True))
            return tuple(self._space(a, b, inputs, f"{where}[{i}]") for i, (a, b) in pairs)
        what = f"{self.scope_path}: {_kind(self.module)} cannot be a component: {where}"
        if not isinstance(first, Shaped):
            raise BuildError(f"{what} is {first!r}: it must return tensors, or dicts and tuples of tensors")
        if first.dtype.startswith("float") and first.dtype != self._float_dtype:
            raise BuildError(
                f"{what} is {first.dtype}, and the execution is in {self._float_dtype}: cast it in the module"
            )
        axes = [_axis(pair) for pair in zip(first.shape, second.shape, strict=False)]
        ranks = [str(axis) for axis in takewhile(lambda axis: isinstance(axis, str), axes)]
        shape = axes[len(ranks) :]
        if len(first.shape) != len(second.shape) or len(set(ranks)) < len(ranks) or not _is_fixed(shape):
            raise BuildError(
                f"{what} has the shape {list(first.shape)} for a batch of {TRIALS[0]['batch']} and "
                f"{list(second.shape)} for one of {TRIALS[1]['batch']}: only a batch and a time rank in front may "
                "depend on the input; rearrange it in a module around this one"
            )
        options: dict[str, Any] = {}
        if "batch" in ranks:
            options["add_batch_rank"] = inputs.batch_rank
        if "time" in ranks:
            options["add_time_rank"] = inputs.time_rank
        try:
            return _box_of(first.dtype, tuple(shape), time_major=ranks == ["time", "batch"], **options)
        except KeyError:
            raise BuildError(f"{what} is {first.dtype}, which no Space has: cast it in the module") from None


def _box_of(dtype: str, shape: tuple[Any, ...], **options: Any) -> BoxSpace:
    """The Space of all tensors of that dtype; raises `KeyError` if none has it."""
    if dtype == "bool":
        return BoolBox(shape=shape, **options)
    if dtype in ("uint8", "int16", "int32", "int64"):
        return IntBox(None, None, shape=shape, dtype=dtype, **options)
    if dtype in ("bfloat16", "float16", "float32", "float64"):
        return FloatBox(shape=shape, **options)
    raise KeyError(dtype)


def _ranks(box: BoxSpace) -> list[str]:
    """The ranks of a Space in axis order."""
    ranks = ["batch"] * box.has_batch_rank + ["time"] * box.has_time_rank
    return ranks[::-1] if box.time_major else ranks


def _axis(sizes: tuple[int, int]) -> str | int | None:
    """The rank that an axis follows, its size if it is fixed, or None."""
    followed = [rank for rank in TRIALS[0] if sizes == (TRIALS[0][rank], TRIALS[1][rank])]
    return followed[0] if followed else sizes[0] if sizes[0] == sizes[1] else None


def _is_fixed(shape: list[str | int | None]) -> bool:
    return all(isinstance(axis, int) for axis in shape)


def _starting_at(state: State) -> Callable[..., np.ndarray]:
    return lambda _shape, dtype, _rng: state.value().astype(dtype)


def _kind(module: Any) -> str:
    return f"the wrapped {type(module).__name__}"
