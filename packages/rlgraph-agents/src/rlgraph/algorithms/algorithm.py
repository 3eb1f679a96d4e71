"""The base class of algorithms: what a paper says, as one component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.algorithms.metric import Metric
from rlgraph.components.networks.layer_chain import is_recurrent
from rlgraph.core import Component, rlgraph_api
from rlgraph.experience.experience import ExperienceKind
from rlgraph.spaces import Dict, Space


class Algorithm(Component):
    """A component that acts and learns; everything else of an agent is made around it.

    A subclass takes the Spaces of the states that its policy sees and of the actions, then options by name. It has
    three API methods, of which it writes `update`, and the others if a drawn and a best action of its part ``policy``
    are not what it does:

    * ``act(observations)``, with ``progress`` if it needs it: a dict with ``"action" [B, ...]``, as policies
      return it.
    * ``act_greedily(observations)``: the same without exploration; the observations say that noisy layers have none.
    * ``update(records)``, with ``progress`` and ``importance_weights`` if it needs them: a dict of numbers
      ``[]``, each of which is a metric; ``"priorities" [B]`` go back to the store, ``"loss_per_item" [B]`` to whoever
      gave the batch.

    API methods that `schedule` names, or whose names begin with ``get_``, become API methods of the agent's root. Where
    the first argument is ``observations``, the root's takes ``states``.

    ``observations`` is a dict with ``"states"``, with ``"internal_states"`` of recurrent networks, and with
    ``"training"``: False where actions are greedy, True in ``records`` of `update`, where the values that a loss
    differentiates are with dropout and batch statistics; for others of the same states, such as targets, give
    ``evaluating(part, observations)``. Policies and value functions take it whole. ``records``
    has ``"observations"``, ``"next_observations"`` and the fields of the algorithm's kind of experience.

    Attributes:
        experience: the kind of experience that it learns from, and the options that both have.
        agent_class: import path of the class of agents, without an algorithm, that those with this one are made from.
            It is imported when the first is made, since algorithms import nothing of agents.
        executor: name of the executor that suits it, where actors are elsewhere (rlgraph-dist).
        behaviour_outputs: name of what `act` returns besides the action, and `update` finds in
            ``records["remembered"]`` -> its Space, one per item; of algorithms that learn from rollouts. Up to version
            0.2 the attribute was called ``remembers``; this name is taken too.
        action_values: name of the values of all actions ``[B, A]`` among what `act` returns, on the scale of rewards;
            priorities of new records are computed from them, where actors are elsewhere. Empty: there are none.
        action_power: the highest power of actions that it computes: 0 if it only draws them, 1 for the densities of a
            policy, 4 for critics, whose gradients optimizers square. Bounds that leave it infinite are refused.
        values_next_actions: whether updates value the actions of a state that ends an episode by truncation, as
            Q-learning does, so that a mask must allow one there; False: values of states do, or none.
        schedule: API method without arguments -> the option with its interval, and what that counts: ``"steps"`` of
            environments or ``"updates"``.
        make_loss: makes the loss: its class, or a method. It is called in the constructor with the options that concern
            the loss, by name. Algorithms without a loss component do not call it.
        metrics: name of a number that `update` returns -> what it is, for the glossary and the columns of a run; it has
            no need to name ``loss``. What is missing here is recorded all the same.
        live_metrics: the metrics that the live view of a run shows, the most important ones first.
        search_space: where `rlgraph.runs.tuning.tune` searches: path of an option -> a list of choices, or a range, a
            mapping with ``low``, ``high``, and ``log`` or ``step``.
        test_options: options with which the conformance suite tests its agents (``python -m rlgraph.testing --agent``),
            where its defaults, or the small networks and frequent updates of the suite, do not learn small tasks.
        test_alternatives: option -> further values, one of which must change what training ends with; for options whose
            values neither `search_space` nor their type tells. An empty list: none has an effect in small tasks.
        test_exceptions: row of the conformance suite, ``"targets/lag"`` -> why it does not concern the algorithm, such
            as "its policy learns less often than its targets move".
    """

    policy: Any
    update: Any
    make_loss: Any

    experience: ClassVar[ExperienceKind]
    agent_class: ClassVar[str] = "rlgraph.agents.agent:Agent"
    executor: ClassVar[str] = "sync_batch"
    behaviour_outputs: ClassVar[Mapping[str, Space]] = {}
    action_values: str = ""
    action_power: ClassVar[int] = 1
    values_next_actions: ClassVar[bool] = True
    schedule: ClassVar[Mapping[str, tuple[str, str]]] = {}
    metrics: Mapping[str, Metric] = {}
    live_metrics: Sequence[str] = ("loss", "epsilon", "noise_scale")
    search_space: ClassVar[Mapping[str, Any]] = {}
    test_options: ClassVar[Mapping[str, Any]] = {}
    test_alternatives: ClassVar[Mapping[str, Sequence[Any]]] = {}
    test_exceptions: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        cls.behaviour_outputs = vars(cls).get("remembers", cls.behaviour_outputs)

    @classmethod
    def options_of_actor(cls, options: Mapping[str, Any], number: int, count: int) -> Mapping[str, Any]:
        """The options of one of several actors: its exploration may be its own, its variables are those of all.

        Args:
            options: the agent's.
            number: of the actor, 0 to ``count - 1``.
            count: how many there are.
        """
        return options

    @classmethod
    def as_it_meant(cls, options: Mapping[str, Any], meaning: int) -> Mapping[str, Any]:
        """Stored options of an agent, with the values that give them the meaning they had when they were stored.

        Args:
            options: all options of the agent at that time, with its ``type``.
            meaning: a number below `rlgraph.learning.stored_meaning.MEANING`; 1: of versions up to 0.2.
        """
        return options

    @rlgraph_api
    def act(self, observations: Any) -> Any:
        """Actions that the policy draws."""
        return self.policy.get_stochastic_action(observations)

    @rlgraph_api
    def act_greedily(self, observations: Any) -> Any:
        """The policy's best actions."""
        return self.policy.get_deterministic_action(observations)

    def check_sequences(self, number: int) -> None:  # most algorithms learn from any number
        """Raise `SpecError` if it cannot learn from rollouts of this number of sequences, with recurrent networks."""

    @staticmethod
    def trainable_variables(*parts: Component) -> Any:
        """Those of `parts`, of each part once; for use in API methods."""
        first, *others = (part.variables(trainable_only=True) for part in dict.fromkeys(parts))
        return sum(others, start=first)

    @property
    def recurrent_parts(self) -> list[Any]:
        """The parts whose internal states an actor carries; copies such as target networks are none of them."""
        parts = [part for part in self.sub_components.values() if is_recurrent(part) and not part.is_copy]
        return [part for part in parts if not hasattr(part, "next_internal_states")]

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states that an actor carries, by part; None if nothing is recurrent."""
        spaces = {key: s for part in self.recurrent_parts for key, s in part.internal_states_space.items()}
        return Dict(spaces) if spaces else None
