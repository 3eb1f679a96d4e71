"""The abstract `ops`: evaluates graph functions on shapes, dtypes and bounds, and records their effects.

A build runs every graph function once on `SymbolicTensor`s. Nothing is computed, so strictness (no promotion, no
tensor methods, no Python `if` on a tensor) is the same for every backend.
"""

from __future__ import annotations

import re
from inspect import Parameter
from typing import Any, NoReturn

from rlgraph.core.errors import InferenceError, nearest
from rlgraph.core.ops.contract import DATA_DEPENDENT, DTYPES, OPERATIONS, Operation
from rlgraph.core.ops.dims import AskedSize, RankSize, SymbolicDim
from rlgraph.core.ops.effects import EffectRecorder
from rlgraph.core.ops.elementwise import arithmetic, comparison
from rlgraph.core.ops.random import noise_of
from rlgraph.core.ops.tensor_attributes import Dtype, FixedShape
from rlgraph.core.ops.tensor_spec import TensorSpec

#: The size of a batch or time rank.
_RANK = re.compile(r"[BT]\d*")
#: Prefixes of the annotations of options, which are Python values.
OPTIONS = ("int", "float", "bool", "str")


class SymbolicTensor:
    """A tensor without values, only with a `spec`.

    Args:
        spec: shape, dtype and bounds.
        aliases: names of the variables whose memory it may share.
        recorder: records the effects of the call in which it shares them.
        carries: names of the function's arguments with respect to which it can be differentiated.
    """

    __slots__ = ("_made", "_recorder", "aliases", "carries", "spec")

    def __init__(
        self,
        spec: TensorSpec,
        aliases: frozenset[str] = frozenset(),
        recorder: EffectRecorder | None = None,
        carries: frozenset[str] = frozenset(),
    ):
        self.spec = spec
        self.aliases = aliases
        self._recorder = recorder
        self._made = recorder.count if recorder else 0
        # Only floats have derivatives: an argmax or a comparison stops the gradient by its dtype.
        self.carries = carries if spec.is_float else frozenset()

    def _observe(self) -> TensorSpec:
        """The spec of this operand; a variable records that it was read.

        Raises:
            InferenceError: it is a view of a variable that was written since; its value then depends on the backend.
        """
        last_write = self._recorder.last_write if self._recorder else {}
        for name in sorted(self.aliases):
            if last_write.get(name, 0) > self._made:
                raise InferenceError(
                    f"a part or view of variable {name} is used after the variable was written: "
                    "take it from ops.read(variable), which writes do not change, or take it again"
                )
        return self.spec

    def _view(self, spec: TensorSpec) -> SymbolicTensor:
        """A tensor that shares the memory of this one."""
        return SymbolicTensor(spec, self.aliases, self._recorder, self.carries)

    @property
    def shape(self) -> FixedShape:
        return FixedShape(self.spec)

    @property
    def dtype(self) -> Dtype:
        return Dtype(self.spec.dtype)

    def __repr__(self) -> str:
        return repr(self.spec)

    def __bool__(self) -> NoReturn:
        raise InferenceError(f"{self.spec} has no truth value before run time: use ops.where instead of `if`")

    def __iter__(self) -> NoReturn:
        raise InferenceError(f"{self.spec} cannot be iterated: use operations on the whole tensor")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InferenceError(
            f"tensor method or attribute .{name} on {self.spec}: graph functions use ops.{name}(x) "
            f"or another operation. {nearest(name, OPERATIONS)}"
        )

    def __getitem__(self, key: Any) -> SymbolicTensor:
        return self._view(_sliced(self._observe(), key))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise InferenceError(f"in-place write into {self.spec}: use ops.where, or ops.assign on a variable")

    def _arithmetic(self, name: str, other: Any) -> SymbolicTensor:
        result = arithmetic(name, self._observe(), _operand(other))
        return SymbolicTensor(result, carries=self.carries | _carried(other))

    def _comparison(self, other: Any) -> SymbolicTensor:
        return SymbolicTensor(comparison(self._observe(), _operand(other)))

    def _ordering(self, other: Any) -> SymbolicTensor:
        if self.spec.dtype == "bool":
            raise InferenceError(
                f"{self.spec} has no order: use ops.logical_and, ops.logical_or, or ops.astype first"
            )
        return self._comparison(other)

    def _logical(self, name: str, other: Any) -> SymbolicTensor:
        return SymbolicTensor(OPERATIONS[name].rule(self._observe(), _operand(other)))

    def __add__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("add", other)

    def __sub__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("subtract", other)

    def __mul__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("multiply", other)

    def __truediv__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("divide", other)

    def __floordiv__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("floor_divide", other)

    def __mod__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("remainder", other)

    def __pow__(self, other: Any) -> SymbolicTensor:
        return self._arithmetic("power", other)

    # Mixed arithmetic has the same shape and dtype in either order.
    __radd__, __rsub__, __rmul__, __rtruediv__ = __add__, __sub__, __mul__, __truediv__
    __rfloordiv__, __rmod__, __rpow__ = __floordiv__, __mod__, __pow__

    def __matmul__(self, other: Any) -> SymbolicTensor:
        if not isinstance(other, SymbolicTensor):
            raise InferenceError(f"{self.spec} @ {other!r}: both operands must be tensors")
        product = OPERATIONS["matmul"].rule(self._observe(), other._observe())
        return SymbolicTensor(product, carries=self.carries | other.carries)

    def __neg__(self) -> SymbolicTensor:
        if self.spec.dtype.startswith("uint"):
            raise InferenceError(f"negative of {self.spec}: it has no negative numbers, use ops.astype first")
        return self._arithmetic("negative", 0 if self.spec.is_int else 0.0)

    def __lt__(self, other: Any) -> SymbolicTensor:
        return self._ordering(other)

    def __le__(self, other: Any) -> SymbolicTensor:
        return self._ordering(other)

    def __gt__(self, other: Any) -> SymbolicTensor:
        return self._ordering(other)

    def __ge__(self, other: Any) -> SymbolicTensor:
        return self._ordering(other)

    def __eq__(self, other: object) -> SymbolicTensor:  # type: ignore[override]
        return self._comparison(other)

    def __ne__(self, other: object) -> SymbolicTensor:  # type: ignore[override]
        return self._comparison(other)

    __hash__ = None  # type: ignore[assignment]

    def __and__(self, other: Any) -> SymbolicTensor:
        return self._logical("logical_and", other)

    def __or__(self, other: Any) -> SymbolicTensor:
        return self._logical("logical_or", other)

    def __xor__(self, other: Any) -> SymbolicTensor:
        return self._logical("logical_xor", other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> SymbolicTensor:
        return SymbolicTensor(OPERATIONS["logical_not"].rule(self._observe()))

    def _in_place(self, other: Any) -> NoReturn:
        raise InferenceError(
            f"in-place operator on {self.spec}: write `x = x + y`; variables use ops.assign_add"
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _in_place
    __iand__ = __ior__ = __ixor__ = __imatmul__ = _in_place


class SymbolicVariable(SymbolicTensor):
    """A variable inside a graph function: using it is a read."""

    __slots__ = ("name",)

    def __init__(self, name: str, spec: TensorSpec, recorder: EffectRecorder):
        super().__init__(spec, frozenset((name,)), recorder)
        self.name = name

    def _observe(self) -> TensorSpec:
        assert self._recorder is not None
        self._recorder.read(self.name)
        return self.spec

    def __getitem__(self, key: Any) -> SymbolicTensor:
        assert self._recorder is not None
        self._recorder.read_whole(self.name)
        return super().__getitem__(key)


def _operand(value: Any) -> Any:
    """The spec of a tensor operand; scalars and sizes pass through."""
    if isinstance(value, SymbolicTensor):
        return value._observe()
    if isinstance(value, AskedSize):
        return value.plain()
    if isinstance(value, list | tuple):
        return type(value)(_operand(item) for item in value)
    return value


def _carried(value: Any) -> frozenset[str]:
    """The arguments with respect to which an operand, or any operand of a list, can be differentiated."""
    if isinstance(value, SymbolicTensor):
        return value.carries
    if isinstance(value, list | tuple):
        return frozenset[str]().union(*map(_carried, value))
    return frozenset()


def _sliced(spec: TensorSpec, key: Any) -> TensorSpec:
    """The result of basic slicing with integers, slices, None and Ellipsis."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, SymbolicTensor) for k in keys):
        raise InferenceError(f"indexing {spec} with a tensor: use ops.take or ops.take_along_axis")
    used = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if used > len(spec.shape):
        raise InferenceError(f"too many indices for {spec}: {key!r}")
    if Ellipsis not in keys:
        keys.append(Ellipsis)
    position = keys.index(Ellipsis)
    keys[position : position + 1] = [slice(None)] * (len(spec.shape) - used)
    shape: list[int | SymbolicDim] = []
    dims = iter(spec.shape)
    for k in keys:
        if k is None:
            shape.append(1)
        elif isinstance(k, slice):
            shape.append(_sliced_size(next(dims), k, spec))
        elif isinstance(k, int) and not isinstance(k, bool):
            size = next(dims)
            if isinstance(size, int) and not -size <= k < size:
                raise InferenceError(f"index {k} is outside an axis of size {size} of {spec}")
        else:
            raise InferenceError(f"basic slicing takes integers, slices, None and ..., given {k!r}")
    return spec.with_shape(tuple(shape))


def _sliced_size(size: int | SymbolicDim, key: slice, spec: TensorSpec) -> int | SymbolicDim:
    if key.step is not None and key.step < 1:
        raise InferenceError(
            f"slice {key} of {spec}: the step must be positive; use ops.flip or ops.take for another order"
        )
    if key == slice(None):
        return size
    if isinstance(size, int):
        number = len(range(*key.indices(size)))
        # Some of the steps are steps.
        return RankSize(number, "time") if isinstance(size, RankSize) and size.rank == "time" else number
    start, stop, step = key.start or 0, key.stop, key.step
    if step in (None, 1):
        if start >= 0 and (stop is None or stop < 0):
            return size - start if stop is None else size - start + stop
        if (start, stop) in ((0, 1), (-1, None)) and _RANK.fullmatch(repr(size)):
            return 1  # the first or last; a batch has one, as for x[1:]
    raise InferenceError(
        f"slice {key} of the unknown size {size} in {spec}, which may be too small: use ops.take, as in "
        "ops.take(x, ops.arange(2), axis=0)"
    )


class SymbolicOps:
    """The contract evaluated on specs; one instance per graph-function call.

    Args:
        recorder: records the effects of the call.
        float_dtype: the execution's floating dtype.
        name: name of the call; data-dependent sizes are named after it.
    """

    def __init__(self, recorder: EffectRecorder, float_dtype: str, name: str = "N"):
        self._recorder = recorder
        self.float_dtype = float_dtype
        self._name = name
        self._counts: dict[int, tuple[Any, SymbolicDim]] = {}

    def shape(self, x: SymbolicTensor) -> tuple[int | SymbolicDim, ...]:
        """The sizes of `x`; unknown ones are symbols that may go into ``ops.reshape`` and ``ops.zeros``."""
        return tuple(
            AskedSize(dict(size._terms)) if isinstance(size, SymbolicDim) else size for size in x.spec.shape
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in OPERATIONS:
            raise AttributeError(f"the contract has no operation ops.{name}. {nearest(name, OPERATIONS)}")
        contract_operation = OPERATIONS[name]

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._evaluate(contract_operation, args, kwargs)

        return call

    def _evaluate(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            bound = operation.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise InferenceError(f"ops.{operation.name}{operation.signature}: {error}") from None
        bound.apply_defaults()
        self._recorder.families.add(operation.family)
        arguments = bound.arguments
        for name, parameter in operation.signature.parameters.items():
            if name == "dtype":
                arguments[name] = self._dtype(operation, arguments[name])
            elif "TensorSpec" in parameter.annotation or "Operand" in parameter.annotation:
                # Frameworks name them x, a, input, self ...
                if name in kwargs and parameter.default is parameter.empty:
                    raise InferenceError(
                        f"ops.{operation.name}{operation.signature}: pass {name} as a positional argument"
                    )
                self._check_operand(operation, parameter, arguments[name])
            elif operation.family == "random":
                continue  # the rules of draws report tensors, with a workaround
            elif isinstance(arguments[name], SymbolicTensor) and parameter.annotation.startswith(OPTIONS):
                raise InferenceError(
                    f"ops.{operation.name}: {name} must be known at build time ({parameter.annotation}), "
                    f"given the tensor {arguments[name]}"
                )
        if operation.family == "state":
            return self._evaluate_state(operation, arguments)
        if operation.family == "control":
            return self._evaluate_control(operation, arguments)
        if operation.family == "random":
            self._recorder.need_no_region(f"ops.{operation.name}")
        source = next(iter(arguments.values()), None)
        carries = _carried(list(arguments.values())) if operation.differentiable else frozenset()
        sized = self._count(arguments[operation.sized_by]) if operation.sized_by else None
        for name, value in arguments.items():
            arguments[name] = _operand(value)

        def tensor(spec: TensorSpec) -> SymbolicTensor:
            if sized is not None:
                spec = spec.with_shape(tuple(sized if dim == DATA_DEPENDENT else dim for dim in spec.shape))
            shares = operation.view and isinstance(source, SymbolicTensor)
            result = source._view(spec) if shares else SymbolicTensor(spec)  # type: ignore[union-attr]
            result.carries = carries if spec.is_float else frozenset()
            return result

        result = operation.rule(*bound.args, **bound.kwargs)
        if operation.family == "random":
            self._recorder.draw(noise_of(operation.name, arguments, result))
        return tuple(map(tensor, result)) if isinstance(result, tuple) else tensor(result)

    def _count(self, mask: SymbolicTensor) -> SymbolicDim:
        """The number of true elements of `mask`: the same symbol for the same tensor."""
        symbol = SymbolicDim.symbol(f"{self._name}_{len(self._counts)}")
        return self._counts.setdefault(id(mask), (mask, symbol))[
            1
        ]  # the mask is kept, so that its id is not reused

    def _evaluate_state(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        variable = arguments["variable"]
        if not isinstance(variable, SymbolicVariable):
            raise InferenceError(
                f"ops.{operation.name} needs a variable of the component, given {variable!r}"
            )
        if operation.name == "read":
            variable._observe()
            self._recorder.read_whole(variable.name)
            return SymbolicTensor(variable.spec)
        self._recorder.need_no_region(f"ops.{operation.name}")
        values = arguments.get("values")  # of rows, which are written one after another
        if isinstance(values, SymbolicTensor) and variable.name in values.aliases:
            raise InferenceError(
                f"ops.{operation.name}: the values are a part or view of the variable {variable.name} itself: take "
                "them from ops.read(variable)"
            )
        operands = {name: _operand(value) for name, value in arguments.items() if name != "variable"}
        operation.rule(variable=variable.spec, **operands)
        self._recorder.write(variable.name)
        return None

    def _evaluate_control(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        outer, self._recorder.region = self._recorder.region, f"ops.{operation.name}"
        try:
            return operation.rule(**arguments)
        finally:
            self._recorder.region = outer

    def _dtype(self, operation: Operation, dtype: str | Dtype | None) -> str:
        if isinstance(dtype, Dtype):
            return repr(dtype)
        if dtype is None or dtype == "float":
            return self.float_dtype
        if dtype not in DTYPES:
            raise InferenceError(
                f"ops.{operation.name}: unknown dtype {dtype!r}. {nearest(str(dtype), DTYPES)}"
            )
        return dtype

    @staticmethod
    def _check_operand(operation: Operation, parameter: Parameter, value: Any) -> None:
        if value is None and parameter.default is None:
            return
        several = "Sequence" in parameter.annotation or parameter.kind is Parameter.VAR_POSITIONAL
        if several and not isinstance(value, list | tuple):
            raise InferenceError(
                f"ops.{operation.name}: {parameter.name} must be a list of tensors, given {value!r}"
            )
        for item in value if several else [value]:
            scalar = "Operand" in parameter.annotation and isinstance(item, int | float | SymbolicDim)
            if not (isinstance(item, SymbolicTensor) or scalar):
                raise InferenceError(
                    f"ops.{operation.name}: {parameter.name} must be a tensor, given {type(item).__name__} {item!r}"
                )
