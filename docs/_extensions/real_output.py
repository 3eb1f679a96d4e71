"""Directives that show what RLgraph really prints and draws; made afresh at every build of the documentation."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack, chdir
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx

from page_runner import Result, folded, run_page


@cache
def _agent() -> Any:
    """The build of the default DQN agent on CartPole-v1."""
    from rlgraph.agents import Agent

    return Agent.from_spec({"type": "dqn"}, env="CartPole-v1", backend="numpy", seed=0).executor.built


def _learner(algorithm: Any, experience: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The root component of a learner, and the Spaces of its inputs."""
    from rlgraph.learning.agent_graph import AgentGraph
    from rlgraph.spaces import FloatBox, IntBox

    states, actions = FloatBox(shape=(4,)), IntBox(2)
    layers = [{"type": "dense", "units": 64}]
    root = AgentGraph(algorithm(states, actions, network_spec=layers, **options), experience=experience)
    acting = root.acting_spaces(states, (*root.acting_methods, *root.front_methods))
    return root, {**acting, **root.experience.input_spaces(states, actions, None)}


def _dqn() -> tuple[Any, dict[str, Any]]:
    from rlgraph.algorithms.dqn import DQN
    from rlgraph.experience.replay import Replay

    return _learner(DQN, Replay())


def _placed() -> Any:
    """The graph of a DQN on three devices, not built: a machine need not have them."""
    from rlgraph.core import assemble

    root, spaces = _dqn()
    root.device = {"ops": "cuda:0", "variables": "cuda:0"}
    root.algorithm.target.device = {"ops": "cuda:1", "variables": "cuda:1"}
    root.algorithm.policy.device = {"variables": "cpu"}
    return assemble(root, spaces)


def _on_gpu(root: Any, spaces: dict[str, Any]) -> Any:
    """A learner on one GPU, not built; its memory and what it reads are the host's."""
    from rlgraph.core import assemble

    root.device = "cpu"
    root.algorithm.device = "cuda:0"
    return assemble(root, spaces)


def _apex() -> Any:
    from rlgraph.algorithms.apex import Apex
    from rlgraph.experience.replay import Replay

    return _on_gpu(*_learner(Apex, Replay(memory_spec={"type": "prioritized_replay", "capacity": 1000})))


def _impala() -> Any:
    from rlgraph.algorithms.impala import IMPALA
    from rlgraph.experience.fragments import Fragments

    return _on_gpu(*_learner(IMPALA, Fragments()))


def _in_group() -> Any:
    """A DQN of a group of learners, on its GPU; not run: a machine need not have one."""
    from rlgraph.core import assemble, build

    root, spaces = _dqn()
    return build(assemble(root, spaces, in_group=True), spaces, device="cuda:0")


def _page_example() -> dict[str, Any]:
    """What the Python blocks of the page on drawings define, without those that print or write."""
    page = Path(__file__).parents[1] / "drawing.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (definition,) = (block for block in blocks if "class Refine" in block)
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(definition.partition("\nprint(")[0], namespace)
    return namespace


def _loops() -> Any:
    example = _page_example()
    spaces = {"inputs": example["vectors"], "is_final": bool}
    return example["build"](example["assemble"](example["Refine"]()), spaces)


def _failure() -> Exception:
    from rlgraph.core import BuildError

    example = _page_example()
    spaces = {
        "inputs": example["FloatBox"](shape=(4,), add_batch_rank=True),
        "is_final": example["FloatBox"](),
    }
    try:
        example["build"](example["assemble"](example["Refine"]()), spaces)
    except BuildError as error:
        return error
    raise AssertionError("the example of a failing build does not fail")


SUBJECTS: dict[str, Callable[[], Any]] = {
    "agent": _agent,
    "apex": _apex,
    "impala": _impala,
    "devices": _placed,
    "learner": _in_group,
    "loops": _loops,
    "failure": _failure,
}


@cache
def results_of(page: Path) -> list[Result]:
    """What came of the Python blocks of a page, run in a temporary folder. Warnings are errors, as in tests."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings(
            "ignore", category=DeprecationWarning, module=r"(tensorflow|keras|google)(\.|$)"
        )
        return run_page(page)


def _result_above(directive: Directive) -> Result:
    """That of the page's last Python block above a directive."""
    page = Path(directive.state.document.current_source)
    return [result for result in results_of(page) if result.block.end < directive.lineno][-1]


#: What stands for a pass that is left out, so that its work can be seen.
LEFT_OUT: dict[str, dict[str, Callable[..., Any]]] = {
    "merging": {"pipeline.merge_equal_calls": lambda nodes, results, *_: (nodes, results)},
    "dead nodes": {"pipeline.remove_dead_nodes": lambda nodes, results, effects: nodes},
    "hoisting": {
        "pipeline.hoist_gradients": lambda nodes: nodes,
        "passes.slices._check_writes": lambda *_: None,
    },
    "snapshots": {"pipeline.find_snapshots": lambda *_: frozenset()},
}


class PlanDirective(Directive):
    """The plan of one API method of the default DQN agent on CartPole-v1: ``{rlgraph-plan} act``.

    With ``:built: name`` it is that of what the page's own Python blocks above call `name`; with ``:without: pass``
    as it would be if that pass did not exist; with ``:segments:`` the driver is left out.
    """

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "built": directives.unchanged_required,
        "without": lambda name: directives.choice(name, LEFT_OUT),
        "segments": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        from rlgraph.draw import plan_text

        name = self.options.get("built")
        built = _agent() if name is None else _result_above(self).values[name]
        with ExitStack() as stack:
            for place, stand_in in LEFT_OUT.get(self.options.get("without"), {}).items():
                stack.enter_context(patch(f"rlgraph.core.graph.{place}", stand_in))
            text = plan_text(built, self.arguments[0])
        if "segments" in self.options:
            head, _driver, *segments = text.split("\n\n")
            text = "\n\n".join([head, *segments])
        return [nodes.literal_block(text, text, language="python")]


class OutputDirective(Directive):
    """What the page's last Python block above has printed; text in lines that a page has room for."""

    option_spec: ClassVar[dict[str, Any]] = {"language": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        text = _result_above(self).printed
        if not text:
            raise self.error("the Python block above prints nothing")
        language = self.options.get("language", "text")
        shown = folded(text) if language == "text" else text
        return [nodes.literal_block(shown, shown, language=language)]


class FailureDirective(Directive):
    """The message of the failing build of the page on drawings, with its note."""

    def run(self) -> list[nodes.Node]:
        error = _failure()
        text = "\n".join([f"{type(error).__name__}: {error}", *error.__notes__])
        return [nodes.literal_block(text, text, language="text")]


class GraphDirective(Directive):
    """A component graph as SVG; default: that of the default DQN agent on CartPole-v1. Options as those of `draw`."""

    option_spec: ClassVar[dict[str, Any]] = {
        "of": lambda name: directives.choice(name, SUBJECTS),
        "scope": directives.unchanged_required,
        "depth": directives.positive_int,
        "method": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        from rlgraph.draw import draw

        subject = self.options.get("of", "agent")
        part = {key: value for key, value in self.options.items() if key != "of"}
        drawing = draw(SUBJECTS[subject](), **part)
        name = "-".join([subject, *(f"{key}-{value}" for key, value in sorted(part.items()))])
        shown = ", ".join(f"{key} {value}" for key, value in sorted(part.items())) or "all of it"
        alt = f"component graph of {drawing.scene.root.title}, {shown}"
        return [saved_image(drawing, name, alt, Path(self.state.document.settings.env.srcdir))]


def saved_image(drawing: Any, name: str, alt: str, folder: Path) -> nodes.image:
    """The image of a drawing, which is saved below ``generated`` of a folder of pages."""
    file = folder / "generated" / f"{re.sub(r'[^a-z0-9_-]', '_', name)}.svg"
    file.parent.mkdir(exist_ok=True)
    drawing.save(file)
    return nodes.image(uri="/" + file.relative_to(folder).as_posix(), alt=alt)


class OperationsDirective(Directive):
    """Every operation of the contract: its signature and the first sentence on it, by family."""

    def run(self) -> list[nodes.Node]:
        from rlgraph.core.ops import OPERATIONS

        families: dict[str, list[nodes.Node]] = {}
        for operation in OPERATIONS.values():
            terms = [nodes.literal(text=f"ops.{operation.name}{_options(operation)}")]
            meaning = operation.doc.split("\n\n")[0].replace("\n", " ")
            item = nodes.definition_list_item("", nodes.term("", "", *terms))
            item += nodes.definition("", nodes.paragraph("", "", *_inline(meaning)))
            families.setdefault(operation.family, []).append(item)
        return [node for family, items in families.items() for node in _section(family, items)]


def _options(operation: Any) -> str:
    """The signature without types."""
    bare = [p.replace(annotation=p.empty) for p in operation.signature.parameters.values()]
    return str(operation.signature.replace(parameters=bare, return_annotation=operation.signature.empty))


def _inline(text: str) -> list[nodes.Node]:
    """Text in which `` `code` `` and ``` ``code`` ``` are literals."""
    parts = re.split(r"``(.+?)``|`(.+?)`", text)
    made: list[nodes.Node] = []
    for plain, *code in zip(parts[::3], [*parts[1::3], None], [*parts[2::3], None], strict=True):
        made.append(nodes.Text(plain))
        made.extend(nodes.literal(text=literal) for literal in code if literal)
    return made


def _section(title: str, items: list[nodes.Node]) -> list[nodes.Node]:
    return [nodes.rubric(text=title.capitalize()), nodes.definition_list("", *items)]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-plan", PlanDirective)
    app.add_directive("rlgraph-output", OutputDirective)
    app.add_directive("rlgraph-graph", GraphDirective)
    app.add_directive("rlgraph-failure", FailureDirective)
    app.add_directive("rlgraph-operations", OperationsDirective)
    return {"version": "1", "parallel_read_safe": True}
