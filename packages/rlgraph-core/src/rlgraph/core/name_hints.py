"""Unknown names are answered with those that there are: the nearest, or what became of a name of RLgraph 0.5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import getattr_static
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from rlgraph.core.errors import OtherNames, offer
from rlgraph.spaces.former_names import answer_names, names_of

_DECORATED = "Methods with @rlgraph_api are found by their decorator; those of an algorithm are in its class."
_SUMMARIES = "Return the value from an API method; workers log metrics."
_STREAMS = "Both streams have 'units_state_value_stream' units, 'activation', and weights like other layers."
_SIZE = "The action Space decides the size: leave it out."
_SEGMENTS = "SumTree has it: SumTree.of(capacity)."

#: Class or method -> its attribute or argument -> its name, or a sentence. Those of a class hold for its subclasses.
OF_COMPONENTS: Mapping[str, OtherNames] = MappingProxyType(
    {
        "Component": {
            **dict.fromkeys(("define_api_methods", "define_graph_api"), _DECORATED),
            **dict.fromkeys(("create_summary", "summary_regexp"), _SUMMARIES),
        },
        "Component.get_variable": {
            "is_python": "host",
            "is_input_feed": "An input is an argument of an API method.",
            "use_resource": "All variables of TensorFlow are resources: leave it out.",
            "local": "Each process has its own variables: leave it out.",
            **dict.fromkeys(("shape", "dtype", "from_space", "flatten"), "'space' says it."),
            **dict.fromkeys(
                ("add_batch_rank", "add_time_rank", "time_major"), "Give 'space' a shape with all ranks."
            ),
        },
        "Policy": {
            "max_likelihood": "deterministic",
            "get_state_values_and_logits": (
                "get_state_values_adapter_outputs_and_parameters",
                "A SharedValueFunctionPolicy has get_state_values_adapter_outputs_and_parameters.",
            ),
        },
        "ActorComponent": {"max_likelihood": "Its policy has it: give 'policy_spec' a key deterministic."},
        "Distribution": {"max_likelihood": "deterministic"},
        "ActionAdapter": {"add_units": _SIZE, "units": _SIZE},
        "DuelingPolicy": {
            **dict.fromkeys(("units_advantage_stream", "activation_advantage_stream"), _STREAMS),
            **dict.fromkeys(("weights_spec_advantage_stream", "biases_spec_advantage_stream"), _STREAMS),
            **dict.fromkeys(("weights_spec_state_value_stream", "biases_spec_state_value_stream"), _STREAMS),
        },
        "SegmentTree": {
            "get_sum": "It is SumTree.reduce(start, stop).",
            "get_min_value": "It is MinTree.reduce(start, stop).",
            "index_of_prefixsum": "It is SumTree.index_of_prefix_sum.",
        },
        "PrioritizedReplay": dict.fromkeys(("get_sum", "get_min_value", "index_of_prefixsum"), _SEGMENTS),
    }
)

#: In `rlgraph.components`, beside those with ``Layer``, ``LossFunction`` or ``Optimizer`` at the end.
_IN_COMPONENTS = MappingProxyType(
    {
        **dict.fromkeys(("SegmentTree", "MemSegmentTree"), "There are SumTree and MinTree."),
        "GradientDescentOptimizer": "It is SGD.",
        "LocalOptimizer": "It is Optimizer.",
        "HorovodOptimizer": 'There is no wrapper, no local_optimizer: give execution_spec={"collective": "horovod"}.',
        "neural_networks": "All components are in rlgraph.components; for force_tuple write tuple(elements).",
        "component": "Component is in rlgraph.core.",
        "loss_functions": "All components are in rlgraph.components.",
        "layers.nn": "Layers are in rlgraph.components; get_activation_function: give layers activation=NAME.",
    }
)
_IN_RLGRAPH = MappingProxyType(
    {
        "get_backend": 'A backend belongs to an agent: backend="tf"; executor.backend_name says it.',
        "get_distributed_backend": 'An executor has an engine: executor_spec={"engine": "ray"}.',
        "tests": "ComponentTest is in rlgraph.testing.",
        "graphs": "GraphExecutor is in rlgraph.core.",
        "utils": (
            "Decorators, errors and Specifiable are in rlgraph.core; for force_list and force_tuple write [*elements] "
            "and tuple(elements)."
        ),
    }
)


def former_names(target: Any) -> OtherNames:
    """What `OF_COMPONENTS` has for a class, with those it is derived from, or for a function."""
    return names_of(target, OF_COMPONENTS)


class NameHints:
    """An unknown attribute is answered with the name that it has here."""

    #: As `OF_COMPONENTS`.
    _name_hints: ClassVar[Mapping[str, OtherNames]] = OF_COMPONENTS

    if not TYPE_CHECKING:  # the attributes that there are stay checked

        def __getattr__(self, name):
            kind = type(self)
            if getattr_static(kind, name, None) is not None:
                return object.__getattribute__(self, name)  # a property, whose own error is the cause
            if (following := getattr(super(), "__getattr__", None)) is not None:
                return following(name)
            message = f"{kind.__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                public = [each for each in {*dir(kind), *vars(self)} if not each.startswith("_")]
                message = f"{message}. {offer(name, public, names_of(kind, kind._name_hints))}"
            raise AttributeError(message)


def answer_names_of_components(present: Iterable[str]) -> None:
    """Answer the former names of `rlgraph.components`, whose names are `present`, and those of ``rlgraph``."""
    suffixed = {f"{name}{suffix}": f"It is {name}." for name in present for suffix in ("Layer", "Optimizer")}
    losses = {f"{name}Function": f"It is {name}." for name in present if name.endswith("Loss")}
    answer_names("rlgraph.components", {**suffixed, **losses, **_IN_COMPONENTS})
    answer_names("rlgraph", _IN_RLGRAPH)
