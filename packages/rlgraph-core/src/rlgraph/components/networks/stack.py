"""Components called in sequence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.components.networks.layer_chain import call_layer, check_state_keys, run_layers, states_space
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.spaces import Dict


@dataclass(frozen=True)
class StackMethod:
    """An API method of a stack.

    Attributes:
        name: its name.
        called: the API method of each component that it calls.
        wiring: ``f(stack, *inputs)`` wires it instead.
        fold_time_rank, unfold_time_rank: fold time into the batch before the first component, unfold it after the last.
    """

    name: str
    called: str
    wiring: Callable[..., Any] | None = None
    fold_time_rank: bool = False
    unfold_time_rank: bool = False


class Stack(TimeFolding):
    """Calls components in sequence: each receives the output of the one before.

    Args:
        sub_components: the components or their specs.
        api_methods: its API methods, each as ``"name"``; as ``("new", "name")``, which calls `name` of every component;
            as ``("name", function)``, wired by ``function(stack, *inputs)``; or as a dict ``{"api": "name", "function":
            ..., "fold_time_rank": ..., "unfold_time_rank": ...}``: time ranks are folded into the batch before the
            first component and unfolded after the last. States of recurrent components are carried as in `LayerChain`.

    Raises:
        SpecError: no components, a component without the API method, or an invalid description of a method.
    """

    passes_training_on = True

    def __init__(
        self,
        *sub_components: Any,
        api_methods: Collection[Any] = ("call",),
        scope: str = "stack",
        **kwargs: Any,
    ):
        if not sub_components:
            raise SpecError("expected components or their specs, given none", path=scope)
        if isinstance(api_methods, str):
            raise SpecError(
                f"expected a list of API methods, given {api_methods!r}: write [{api_methods!r}]",
                path=f"{scope}.api_methods",
            )
        self.stacked = [
            Component.from_spec(spec, path=f"{scope}[{i}]") for i, spec in enumerate(sub_components)
        ]
        methods = [_method(given, scope) for given in sorted(api_methods, key=str)]
        for method in methods:
            self._check(method, scope)
        check_state_keys(self.stacked, scope)
        super().__init__(*self.stacked, scope=scope, **kwargs)
        for method in methods:
            self.add_member(rlgraph_api(name=method.name)(self._wired(method)))

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states of recurrent components, which `call` carries; None without them."""
        return states_space(self.stacked)

    def _check(self, method: StackMethod, scope: str) -> None:
        for component in self.stacked if method.wiring is None else ():
            known = component.api_methods()
            if method.called not in known:
                raise SpecError(
                    f"{component.scope} has no API method {method.called!r}. {nearest(method.called, known)}",
                    path=f"{scope}.api_methods",
                )

    def _wired(self, method: StackMethod) -> Callable[..., Any]:
        if method.wiring is not None:
            return method.wiring
        if method.unfold_time_rank and not method.fold_time_rank:
            raise SpecError(
                f"{method.name}: unfold_time_rank without fold_time_rank", path=f"{self.scope}.api_methods"
            )

        if method.called == "call" and self.internal_states_space is not None:
            return self._carrying(method)

        def wired(self: Stack, *args: Any, **kwargs: Any) -> Any:
            arguments = signature.bind(self, *args, **kwargs).arguments
            training = arguments.pop("training", None)
            _, *given = arguments.values()
            values = tuple(self._folded(x) for x in given) if method.fold_time_rank else tuple(given)
            for component in self.stacked:
                result = call_layer(component, *values, training=training, method=method.called)
                values = result if isinstance(result, tuple) else (result,)
            if method.unfold_time_rank:
                values = tuple(self._unfold_time(x, given[0]) for x in values)
            return values if len(values) != 1 else values[0]

        # The signature of the first component, since the stack may be a root, whose arguments have names.
        first, *others = (inspect.signature(part.api_methods()[method.called]) for part in self.stacked)
        signature = first if "training" in first.parameters else _with_training(first, others)
        wired.__signature__ = signature  # type: ignore[attr-defined]
        wired.__doc__ = f"`{method.called}` of every component, in sequence."
        return wired

    def _folded(self, value: Any) -> Any:
        """`value` without time rank; unchanged if it is not a tensor, such as an omitted argument."""
        return value if value is None or isinstance(value, bool | int | float) else self._fold_time(value)

    def _carrying(self, method: StackMethod) -> Callable[..., Any]:
        """Make `call` and `call_with_states` of components some of which are recurrent (see `LayerChain`)."""
        if method.fold_time_rank:
            raise SpecError(
                "recurrent components need the time rank: remove fold_time_rank",
                path=f"{self.scope}.api_methods",
            )

        def call_with_states(
            self: Stack,
            inputs: Any,
            internal_states: Any = None,
            sequence_length: Any = None,
            resets: Any = None,
            training: Any = None,
            every_step: Any = None,
        ) -> Any:
            """``{"output", "internal_states"}``: as `call`, and the states after the last step, or every step."""
            output, states = run_layers(
                self.stacked, inputs, internal_states, sequence_length, resets, training, every_step
            )
            return {"output": output, "internal_states": states}

        def call(self: Stack, *args: Any, **kwargs: Any) -> Any:
            """`call` of every component, in sequence."""
            return call_with_states(self, *args, **kwargs)["output"]

        call.__signature__ = inspect.signature(call_with_states)  # type: ignore[attr-defined]
        if method.name == "call":
            self.add_member(rlgraph_api(name="call_with_states")(call_with_states))
        return call


def _with_training(first: inspect.Signature, others: Iterable[inspect.Signature]) -> inspect.Signature:
    """`first`, with the argument ``training`` if one of `others` has it."""
    if not any("training" in other.parameters for other in others):
        return first
    training = inspect.Parameter("training", inspect.Parameter.KEYWORD_ONLY, default=None)
    return first.replace(parameters=[*first.parameters.values(), training])


def _method(given: Any, scope: str) -> StackMethod:
    match given:
        case str():
            return StackMethod(given, given)
        case (str() as name, str() as called):
            return StackMethod(name, called)
        case (str() as name, function) if callable(function):
            return StackMethod(name, name, function)
        case dict() if isinstance(given.get("api"), str) and given.keys() <= {
            "api",
            "function",
            "fold_time_rank",
            "unfold_time_rank",
        }:
            function = given.get("function")
            called = function if isinstance(function, str) else given["api"]
            return StackMethod(
                given["api"],
                called,
                None if isinstance(function, str) else function,
                bool(given.get("fold_time_rank")),
                bool(given.get("unfold_time_rank")),
            )
    raise SpecError(
        f'expected "name", ("new", "name"), ("name", function) or {{"api": "name", "function": '
        f'..., "fold_time_rank": bool, "unfold_time_rank": bool}}, given {given!r}',
        path=f"{scope}.api_methods",
    )
