"""How a graph is executed: precision, seed, threads, devices, compilation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from rlgraph.core.errors import OtherNames, SpecError, nearest
from rlgraph.core.graph.devices import Device, device_parts
from rlgraph.core.specs.spec_paths import locate, record
from rlgraph.core.specs.specifiable import check_arguments

#: Maximum number of threads; frameworks crash if the system cannot provide them.
MAX_THREADS = 1024
#: Where methods that act may run.
ACT_ON = ("auto", "numpy", "backend")

_SESSIONS = "There are no sessions: leave it out."
_PROFILE = "Call executor.profile(file) instead, and leave it out."
_DEVICES = (
    "Give 'device', such as cuda:0. For updates on several give 'devices', such as [cuda:0, cuda:1], and 'collective', "
    "such as nccl."
)
#: Keys of RLgraph 0.5.
_OTHER_NAMES: OtherNames = MappingProxyType(
    {
        "torch_num_threads": "threads",
        "OMP_NUM_THREADS": "threads",
        "default_device": "device",
        "allow_soft_placement": "soft_placement",
        "mode": "An executor says where a run is: leave it out.",
        "distributed_spec": (
            "Executors of rlgraph.execution.distributed_tf read it; runs have an executor_spec: leave it out."
        ),
        "ray_spec": "Executors of rlgraph.execution.ray read it; runs have an executor_spec: leave it out.",
        **dict.fromkeys(("gpu_spec", "num_gpus", "device_strategy", "replicas"), _DEVICES),
        **dict.fromkeys(("disable_monitoring", "session_config", "log_device_placement"), _SESSIONS),
        **dict.fromkeys(
            ("enable_profiler", "profiler_frequency", "enable_timeline", "timeline_frequency"), _PROFILE
        ),
    }
)


#: The root of all random numbers where none is given: in Python, in documents and on the command line.
DEFAULT_SEED = 0


@dataclass(frozen=True)
class ExecutionSpec:
    """How a graph is executed.

    Attributes:
        dtype: ``float32`` or ``float64``, for all floating tensors.
        seed: root of all random streams and initial values.
        threads: threads of the framework's operations, 1 to 1024; None leaves the framework's own setting.
        use_kernels: False computes everything from the single source.
        compile: True compiles all methods that gain from it, a list of names exactly these API methods. The compiler
            depends on the backend; results differ by at most 1e-6.
        acting_methods: API methods that act, called at every step of an environment for a row or a few. `act_on` says
            where they run; all other methods run on the backend. Their draws always come from NumPy's streams. Agents
            set this option.
        act_on: ``backend``; ``numpy``, on the backend's own memory or updated copies; or ``auto``: NumPy if the methods
            read at most 200,000 parameters, contain no convolution, write nothing, and can run there. The decision of
            ``auto`` and its reason are in ``executor.choices["acting"]``.
        device: default device for everything that neither `device_map` nor a component places: a name, or
            ``{"variables": name, "ops": name}``; None: the backend chooses.
        device_map: scope of a component -> device of it and its sub-components, which overrides their own; the
            longest scope wins.
        soft_placement: replace missing devices by the backend's choice, instead of an error.
        devices: of this machine, for a learner each, whose `device` it is; one may be named several times.
        learners: how many processes share the updates, each with its share of every batch; None: one for each of the
            `devices`, or one.
        collective: how they add up what they have: a registered name such as ``gloo``, or a mapping with it as ``type``
            and, say, ``timeout``, the seconds that a learner waits for the others. Under ``torchrun`` or ``horovodrun``
            the processes are there, and `learners` need not be given.
        launcher: what starts the other learners where nothing else has: ``processes`` of this machine, or ``ray``.
        choices: earlier decisions of a backend, to be repeated (see `Backend.choices`).
    """

    other_names: ClassVar[OtherNames] = _OTHER_NAMES

    dtype: str = "float32"
    seed: int = DEFAULT_SEED
    threads: int | None = None
    use_kernels: bool = True
    compile: bool | Sequence[str] = False
    acting_methods: Sequence[str] = ()
    act_on: str = "auto"
    device: Device | None = None
    device_map: Mapping[str, Device] = field(default_factory=dict)
    soft_placement: bool = False
    devices: Sequence[str] = ()
    learners: int | None = None
    collective: str | Mapping[str, Any] | None = None
    launcher: str = "processes"
    choices: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.dtype not in ("float32", "float64"):
            raise SpecError(
                f"expected 'float32' or 'float64', given {self.dtype!r}", path="execution_spec.dtype"
            )
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise SpecError(f"expected an integer >= 0, given {self.seed!r}", path="execution_spec.seed")
        threads = self.threads
        is_number = isinstance(threads, int) and not isinstance(threads, bool)
        if threads is not None and not (is_number and 1 <= threads <= MAX_THREADS):
            raise SpecError(
                f"expected an integer from 1 to {MAX_THREADS}, given {threads!r}",
                path="execution_spec.threads",
            )
        for name in ("use_kernels", "soft_placement"):
            if not isinstance(getattr(self, name), bool):
                raise SpecError(
                    f"expected true or false, given {getattr(self, name)!r}", path=f"execution_spec.{name}"
                )
        if not isinstance(self.compile, bool) and not _is_list_of_names(self.compile):
            raise SpecError(
                f"expected true, false or a list of API methods, given {self.compile!r}",
                path="execution_spec.compile",
            )
        if not _is_list_of_names(self.acting_methods):
            raise SpecError(
                f"expected a list of API methods, given {self.acting_methods!r}",
                path="execution_spec.acting_methods",
            )
        if self.act_on not in ACT_ON:
            raise SpecError(
                f"given {self.act_on!r}. {nearest(str(self.act_on), ACT_ON)}", path="execution_spec.act_on"
            )
        self._check_devices()
        self._check_learners()
        texts = isinstance(self.choices, Mapping) and all(
            isinstance(text, str) for pair in self.choices.items() for text in pair
        )
        if not texts:
            raise SpecError(f"expected name -> choice, given {self.choices!r}", path="execution_spec.choices")

    def _check_learners(self) -> None:
        number = self.learners
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
            raise SpecError(f"expected an integer >= 1, given {number!r}", path="execution_spec.learners")
        if self.devices and number not in (None, len(self.devices)):
            raise SpecError(
                f"each of the {len(self.devices)} devices has a learner, given {number}: leave it out, or change "
                "'devices'",
                path="execution_spec.learners",
            )
        if self.number_of_learners > 1 and self.collective is None:
            given = "'devices': [...]" if self.devices else f"'learners': {number}"
            raise SpecError(
                f"{self.number_of_learners} learners need a collective, for example {{{given}, 'collective': 'gloo'}}",
                path="execution_spec.collective",
            )
        if not isinstance(self.collective, str | Mapping | None):
            raise SpecError(
                f"expected the name of a collective, or a mapping with 'type', given {self.collective!r}",
                path="execution_spec.collective",
            )
        if not isinstance(self.launcher, str):
            raise SpecError(f"expected a name, given {self.launcher!r}", path="execution_spec.launcher")

    def _check_devices(self) -> None:
        device_parts(self.device, "execution_spec.device")
        if not isinstance(self.device_map, Mapping):
            raise SpecError(
                f"expected scope -> device, given {self.device_map!r}", path="execution_spec.device_map"
            )
        for scope, device in self.device_map.items():
            device_parts(device, f"execution_spec.device_map[{scope!r}]")
        if not _is_list_of_names(self.devices):
            raise SpecError(
                f"expected a list of devices, one for each learner, given {self.devices!r}",
                path="execution_spec.devices",
            )
        if self.devices and self.device is not None:
            raise SpecError(
                "every learner has the one of 'devices' that is its own: leave it out",
                path="execution_spec.device",
            )
        if self.devices and self.launcher != "processes":
            raise SpecError(
                f"they are of this machine, and launcher {self.launcher!r} starts learners anywhere: give 'device'",
                path="execution_spec.devices",
            )

    @property
    def number_of_learners(self) -> int:
        """How many learners there are, where nothing else has started them."""
        return self.learners or max(len(self.devices), 1)

    def of_learner(self, number: int | None) -> ExecutionSpec:
        """That of one learner, on its device.

        Args:
            number: of the learner, among those of this machine; None: it is alone.

        Raises:
            SpecError: it has no device, or is alone and has several.
        """
        if not self.devices:
            return self
        if number is None and len(self.devices) > 1:
            raise SpecError(
                f"{len(self.devices)} devices are of as many learners, and an executor is one: make an agent, or give "
                "each executor its place in a group, collective=",
                path="execution_spec.devices",
            )
        number = number or 0
        if number >= len(self.devices):
            raise SpecError(
                f"expected a device for each learner of this machine, given {len(self.devices)}: there is none for "
                f"learner {number}",
                path="execution_spec.devices",
            )
        return replace(self, device=self.devices[number], devices=())

    @classmethod
    def from_spec(cls, spec: ExecutionSpec | Mapping[str, Any] | None) -> ExecutionSpec:
        """From an instance, a mapping or None.

        Raises:
            SpecError: an unknown key or a value out of range.
        """
        if isinstance(spec, ExecutionSpec):
            return spec
        if not isinstance(spec, Mapping | None):
            raise SpecError(f"expected a mapping, given {spec!r}", path="execution_spec")
        check_arguments(cls, spec or {}, "execution_spec")
        execution = cls(**(spec or {}))
        record(locate("execution_spec"), vars(execution))
        return execution


def _is_list_of_names(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return is_list and all(isinstance(name, str) and name for name in value)
