"""Tests hold PyTorch's process-wide settings still; and GPUs that are not there, for those that need some."""

import threading
from collections import defaultdict

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

from rlgraph.torch import autograd, devices


@pytest.fixture(autouse=True)
def settings():
    before = (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads())
    yield
    assert (torch.is_grad_enabled(), torch.get_default_dtype(), torch.get_num_threads()) == before


@pytest.fixture
def gpus(monkeypatch):
    """Two simulated GPUs."""
    monkeypatch.setattr(devices, "device_names", lambda: frozenset({"cpu", "cuda:0", "cuda:1"}))
    # The private functions tell no mode what they make.
    monkeypatch.setattr(autograd, "_flatten", autograd._by_cat)
    monkeypatch.setattr(autograd, "_run", autograd._by_grad)
    with SimulatedGpus() as mode:
        monkeypatch.setattr(torch.cuda, "Event", mode.make_event)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda device: device)
        yield mode


CPU = torch.device("cpu")


class SimulatedGpus(TorchFunctionMode):
    """While it is entered, tensors on the CPU behave as if some were on GPUs.

    What PyTorch refuses on a machine with GPUs is refused here: an operation on tensors of two devices, a generator of
    another device than its tensor, an array of a tensor that is not on the CPU. So a move that is missing is found.
    Copies to the CPU that nobody waits for arrive when somebody waits for an event after them. Each thread enters it on
    its own, and has its own queue of copies.

    Attributes:
        moves: devices to which something was moved, in order.
        waits: what made the CPU wait for a GPU, in order.
        on_wait: called before it waits for an event.
    """

    def __init__(self):
        super().__init__()
        self.places = {}
        self.kept = []
        self.moves = []
        self.waits = []
        self._under_way = defaultdict(list)
        self.on_wait = lambda: None

    def forget(self):
        self.moves.clear()
        self.waits.clear()

    @property
    def under_way(self):
        """Copies of this thread that have not arrived."""
        return self._under_way[threading.get_ident()]

    def take_under_way(self):
        return self._under_way.pop(threading.get_ident(), [])

    def make_event(self):
        return Event(self)

    def place(self, tensor, device):
        device = torch.device(device)
        if device != CPU:
            self.places[id(tensor)] = device
            self.kept.append(tensor)  # so that no other tensor gets its id
        return tensor

    def where(self, tensor):
        return self.places.get(id(tensor), CPU)

    def moved(self, tensor, device, waits=True):
        if self.where(tensor) == torch.device(device):
            return tensor
        self.moves.append(str(device))
        if waits:
            self.waits.append(f"move to {device}")
        elif torch.device(device) == CPU:
            raise RuntimeError("nobody knows when this copy to the CPU has arrived")
        return self.place(tensor.clone(), device)

    def copied(self, target, source, waits):
        """What `copy_` of `source` to another device does."""
        self.moves.append(str(self.where(target)))
        if waits:
            self.waits.append(f"copy to {self.where(target)}")
            target.copy_(source)
        elif self.where(target) == CPU:
            self.under_way.append((target, source.clone()))
        else:
            target.copy_(source)
        return target

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = resolve_name(function) or getattr(function, "__name__", "")
        if function == Tensor.device.__get__:
            return self.where(args[0])
        if function == Tensor.is_cuda.__get__:
            return self.where(args[0]) != CPU
        if function is Tensor.cpu:
            return self.moved(args[0], CPU)
        if function is Tensor.to and not isinstance(args[1], torch.dtype):
            return self.moved(args[0], args[1], not kwargs.get("non_blocking"))
        if function is Tensor.copy_ and self.where(args[0]) != self.where(args[1]):
            return self.copied(*args, not kwargs.get("non_blocking"))
        if kwargs.pop("pin_memory", False):
            assert not kwargs.get("device")
        if name.rpartition(".")[2] in READS and self.where(args[0]) != CPU:
            self.waits.append(name)
        if function is torch.autograd.grad:  # each derivative is where its leaf is
            found = function(*args, **kwargs)
            return tuple(
                x if x is None else self.place(x, self.where(y)) for x, y in zip(found, args[1], strict=True)
            )
        tensors = list(_tensors([args, kwargs]))
        devices = {self.where(x) for x in tensors if x.ndim} or {self.where(x) for x in tensors[:1]}
        if function is Tensor.copy_:
            devices = {self.where(args[0])}
        if name.endswith(".numpy") and devices != {CPU}:
            raise TypeError(f"a tensor of {devices} has no array")
        if len(devices) > 1:
            raise RuntimeError(f"{name}: expected all tensors on one device, found {devices}")
        device = torch.device(kwargs.pop("device", None) or (next(iter(devices)) if devices else CPU))
        generator = kwargs.get("generator")
        if generator is not None and device != CPU:
            raise RuntimeError(f"{name}: a generator of the CPU, and a tensor on {device}")
        results = function(*args, **kwargs)
        for result in _tensors([results]):
            self.place(result, device)
        return results


#: What Python makes of the numbers of a tensor.
READS = ("item", "tolist", "__bool__", "__float__", "__int__", "__index__")


class Event:
    """A moment in the queue of a simulated GPU."""

    def __init__(self, gpus):
        self.gpus, self.before = gpus, []

    def record(self, stream):
        self.before = self.gpus.take_under_way()

    def synchronize(self):
        self.gpus.on_wait()
        self.gpus.waits.append("event")
        for target, source in self.before:
            target.copy_(source)
        self.before = []


def _tensors(value):
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for every test."""
    monkeypatch.setenv("RLGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "torch"


@pytest.fixture
def straight(monkeypatch):
    """Traced graphs run as they are, so that only the compiler itself is left out; lists what was 'compiled'."""
    from rlgraph.torch.compile import program

    made = []

    def compile_library(graph, inputs, library, folder):
        made.append(graph)
        library.write_text(str(len(made) - 1))

    def load_library(library):
        graph = made[int(library.read_text())]

        def run(inputs):
            with torch.no_grad():
                return graph(*inputs)

        return run

    monkeypatch.setattr(program, "missing_compiler", lambda: None)
    monkeypatch.setattr(program, "compile_library", compile_library)
    monkeypatch.setattr(program, "load_library", load_library)
    return made
