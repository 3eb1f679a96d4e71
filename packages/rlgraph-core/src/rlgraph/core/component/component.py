"""Component, the base class of layers, losses, memories, policies and algorithms."""

from __future__ import annotations

import copy as copying
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

import numpy as np

from rlgraph.core.component.composition import Composition, Expose
from rlgraph.core.component.initializers import resolve_initializer
from rlgraph.core.component.layer_calls import LayerOutput, call_layer
from rlgraph.core.errors import AssemblyError, BuildError, offer
from rlgraph.core.graph.devices import Device, device_parts
from rlgraph.core.graph.trace import Symbol, current_trace
from rlgraph.core.graph.variables import Slots, Variable, VariableList
from rlgraph.core.name_hints import former_names
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.core.specs.specifiable import check_arguments
from rlgraph.spaces import BoxSpace, Space, from_spec
from rlgraph.spaces.ranks import is_fixed

P = ParamSpec("P")
R = TypeVar("R")


class NotConstructed(AssemblyError, AttributeError):
    """A constructor does not call that of `Component`, or calls it too late."""


class _MissingAttribute:
    """The message of an `AttributeError`.

    The names that exist are compared when it is read: `getattr` with a default and `hasattr` never read it.
    """

    def __init__(self, component: Component, name: str):
        self.component, self.name = component, name

    def __str__(self) -> str:
        component = self.component
        known = [*component.api_methods(), *(name for name in vars(component) if not name.startswith("_"))]
        hint = offer(self.name, known, former_names(type(component)))
        return f"{component!r} has no API method or attribute {self.name!r}. {hint}"

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


def _names_checked(function: Callable[P, R]) -> Callable[P, R]:
    """A method that reports unknown arguments with its name, a constructor with its class, and the known ones."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            target: Any = type(args[0]) if function.__name__ == "__init__" else function
            check_arguments(target, kwargs, target.__name__)
            raise

    return checked


class Component(Composition):
    """A part of an algorithm that can be built and tested alone from Spaces.

    Args:
        sub_components: the components it is composed of; their scopes must differ.
        scope: its name among its siblings and in the names of its variables.
        trainable: False freezes its variables and those of everything below it.
        device: a device name of the backend, or ``{"variables": ..., "ops": ...}``; default: that of the parent.
        switched_off_apis: names of API methods that are neither assembled nor callable.
        expose_apis: as in `add_components`.

    Raises:
        SpecError: an unknown argument.
        AssemblyError: an invalid scope, or invalid sub-components.
    """

    registry_group: ClassVar[str] = "rlgraph.components"
    #: In host functions: the component's stream of random numbers.
    rng: np.random.Generator
    #: Whether calls of one API method may differ in batch and time ranks; if False, the build refuses it.
    ranks_may_differ: ClassVar[bool] = True

    @_names_checked
    def __init__(
        self,
        *sub_components: Component,
        scope: str = "",
        trainable: bool = True,
        device: Device | None = None,
        switched_off_apis: Collection[str] = (),
        expose_apis: Expose = (),
    ):
        self._set_scope(scope or type(self).__name__.lower())
        self.trainable = trainable
        self.sub_components = {}
        self.exposed_apis = {}
        self.switched_off_apis = frozenset(switched_off_apis)
        self.device = device_parts(device, f"{self.scope}: device=", AssemblyError)
        self.declared_variables: dict[str, Variable] = {}
        self._role = ""
        self._starts_like: Component | None = None
        self._float_dtype = "float32"
        self._variables_device = ""
        self.add_components(*sub_components, expose_apis=expose_apis)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.scope_path}>"

    if not TYPE_CHECKING:  # it would hide wrong attributes from type checkers

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if "scope_path" not in vars(self):
                raise NotConstructed(
                    f"{type(self).__name__} has no {name!r}: its constructor has not called super().__init__(...) yet"
                )
            raise AttributeError(_MissingAttribute(self, name))

    def __call__(self, *args: Any, **kwargs: Any) -> LayerOutput:
        """Describe a call of the API method `call` with Spaces and outputs of other layers, for a network.

        ``NeuralNetwork(inputs=states, outputs=Dense(2)(Dense(64)(states)))``. A component may be called several times,
        with the same variables.

        Raises:
            AssemblyError: there is no API method `call`, it takes other inputs, or one is neither Space nor output.
        """
        return call_layer(self, args, kwargs)

    def copy(
        self,
        name: str | None = None,
        scope: str | None = None,
        device: Device | None = None,
        trainable: bool | None = None,
        reuse_variable_scope: str | None = None,
        reuse_variable_scope_for_sub_components: str | None = None,
        *,
        starts_equal: bool = False,
    ) -> Self:
        """An unbuilt copy with the same configuration and its own variables.

        Args:
            name: another word for `scope`, as in RLgraph 0.5.
            scope: scope of the copy.
            device: device of the copy and of all components in it; default: those of this component.
            trainable: False makes a frozen copy, e.g. a target network.
            reuse_variable_scope, reuse_variable_scope_for_sub_components: those of RLgraph 0.5 are refused: a component
                that is used in several places shares its variables.
            starts_equal: the variables of the copy start with the values of this component's, which is in the same
                graph.

        Raises:
            AssemblyError: it is built already, `name` and `scope` differ, or variables are to be shared.
        """
        if any(component.declared_variables for component in self.walk()):
            raise AssemblyError(f"{self.scope_path} is built already: copy a component before it is built")
        if name and scope and name != scope:
            raise AssemblyError(
                f"{self.scope_path}.copy: name={name!r} and scope={scope!r} differ: a component has one name, its scope"
            )
        if reuse_variable_scope is not None or reuse_variable_scope_for_sub_components is not None:
            raise AssemblyError(
                f"{self.scope_path}.copy: reuse_variable_scope is refused, since a copy has its own variables: to "
                "share variables, use the component itself, or its sub-components, in both places"
            )
        twin = copying.deepcopy(self)
        twin._set_scope(scope or name or self.scope)
        places = device_parts(device, f"{self.scope_path}.copy: device=", AssemblyError)
        for original, component in zip(self.walk(), twin.walk(), strict=True):
            if starts_equal:
                component._starts_like = original
            # The variables of a copy have their own buffer, so that synchronising it is one operation.
            component._role = f"copy:{twin.scope}"
            component.device = {**component.device, **places}
            if trainable is not None:
                component.trainable = trainable
        return twin

    def _set_scope(self, scope: str) -> None:
        if not scope or "/" in scope:
            raise AssemblyError(f"scope {scope!r} of {type(self).__name__} must be a name without '/'")
        self.scope = self.scope_path = scope

    @property
    def is_copy(self) -> bool:
        """Whether it is a copy of another component (see `copy`), or part of one."""
        return self._role.startswith("copy:")

    # Build hooks.

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        """Raise `SpaceError` if the Spaces of the API arguments do not fit.

        Called when all are known; where this component's own outputs lead to some of them, when those are known that it
        reads, and again later.

        Args:
            input_spaces: argument name -> Space; also ``method.argument`` if two methods differ.
            action_space: the action Space of the build, if it has one.
        """

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        """Called after `check_input_spaces`. Declare variables here with `get_variable`."""

    def check_stored(self, stored: Callable[[str], np.ndarray]) -> None:
        """Refuse values of host variables that do not fit; called before anything of a checkpoint is loaded.

        Args:
            stored: reads a host variable of this component, by the name that `get_variable` got.

        Raises:
            CheckpointError: a value does not fit; names the variable, what is expected and what is given.
        """

    def after_load(self) -> None:
        """Called after a checkpoint was loaded into the variables of this component.

        Reset state outside of variables here, such as environments, since it no longer fits the loaded values. Nothing
        else runs meanwhile.
        """

    @classmethod
    def needs_input_spaces(cls) -> bool:
        """Whether the build must know the Spaces of all arguments before this component can be created."""
        return (
            cls.create_variables is not Component.create_variables
            or cls.check_input_spaces is not Component.check_input_spaces
        )

    @_names_checked
    def get_variable(
        self,
        name: str,
        space: Any,
        *,
        initializer: Any = 0.0,
        trainable: bool | None = None,
        host: bool = False,
        alone: bool = False,
    ) -> Variable:
        """Declare a variable; assign the result to an attribute and use that attribute in graph functions.

        Args:
            name: name within this component; for a leaf ``f"{name}/{path}"``, even if its path is empty.
            space: a Space (or a spec of one) with a fixed shape; a rank has a fixed size: ``add_batch_rank=64`` is a
                batch of 64 values.
            initializer: a number, a name such as ``"glorot_uniform"``, ``f(shape, dtype, rng) -> array``, or another
                spec of `resolve_initializer`.
            trainable: default: as the component, for floats.
            host: a NumPy array for this component's host functions, read and written directly; only such a variable
                can be float64 independently of the execution's dtype.
            alone: it shares its buffer with no other variable, so that a program may write a part of it in place: for
                large variables, such as a memory's rows.

        Raises:
            BuildError: the name is taken or empty, or the Space has no fixed shape.
        """
        box = from_spec(space)
        path = f"{self.scope_path}/{name}".removesuffix("/")
        if not all(name.removesuffix("/").split("/")):
            raise BuildError(
                f"variable {name!r} of {self.scope_path} needs a name, or several joined by single slashes"
            )
        if path in self.declared_variables:
            raise BuildError(f"variable {path} is declared twice")
        if not isinstance(box, BoxSpace) or not all(
            rank is False or is_fixed(rank) for rank in (box.batch_rank, box.time_rank)
        ):
            raise BuildError(
                f"variable {path} needs a Space with a fixed shape and ranks of fixed size, given {box!r}"
            )
        # Host variables keep double precision; all others have the dtype of the execution.
        keeps = host and box.dtype == "float64"
        spec = TensorSpec.from_space(box, "float64" if keeps else self._float_dtype)
        may_train = spec.is_float and not host
        wants = self.trainable if trainable is None else (trainable and self.trainable)
        start = resolve_initializer(initializer, where=path)
        device = "" if host else self._variables_device
        first = self._starts_like
        while first is not None and first._starts_like is not None:  # a copy of a copy
            first = first._starts_like
        like = "" if first is None else f"{first.scope_path}/{name}".removesuffix("/")
        role = f"alone:{path}" if alone else self._role
        variable = Variable(path, spec, start, may_train and wants, host, role, device, like)
        self.declared_variables[path] = variable
        return variable

    def get_variables(self, name: str, space: Any, **options: Any) -> Any:
        """Declare a variable for each leaf of a Space, ``f"{name}/{path}"``.

        Args:
            name: name within this component.
            space: any Space; see `get_variable` for its leaves.
            options: of `get_variable`.

        Returns:
            The variables, in dicts and tuples of the Space's structure.
        """
        return from_spec(space).map_leaves(
            lambda path, box: self.get_variable(f"{name}/{path}", box, **options)
        )

    def get_slots(self, name: str, variables: VariableList, *, initializer: float = 0.0) -> Slots:
        """Declare one variable for each of `variables` (e.g. an optimizer's moments), on the same device.

        Args:
            name: name within this component, before the names of `variables`.
            variables: the variables that they belong to.
            initializer: their starting value, a number.
        """
        slots = []
        for variable in variables:
            path = f"{self.scope_path}/{name}/{variable.name}"
            start, role = resolve_initializer(initializer, where=path), f"slot:{self.scope_path}/{name}"
            slot = Variable(path, variable.spec, start, False, False, role, variable.device)
            self.declared_variables[path] = slot
            slots.append(slot)
        return Slots(slots)

    # Wiring.

    def variables(self, *, trainable_only: bool = False) -> Symbol:
        """All variables of this component and those below, sorted by scoped name; for use in API methods.

        Args:
            trainable_only: only variables that an optimizer steps: no frozen variables, counters, running means.
        """
        return current_trace(f"{self.scope_path}.variables()").variables_of(self, trainable_only)
