"""Every command: what it prints, what it writes, its exit code, and its errors, which are no tracebacks."""

import json
import re
from importlib.metadata import entry_points, version

import pytest
from doubles import raising

from rlgraph.algorithms.presets import find_preset
from rlgraph.cli.main import main
from rlgraph.core import CheckpointWarning, RLGraphError
from rlgraph.runs import training
from rlgraph.runs.configuration import resolve
from rlgraph.workers import record_data_set


@pytest.fixture
def run(rlgraph, tiny, undrawn):
    """The folder of a run that learned nothing, on NumPy."""
    arguments = ["--agent", tiny(update_spec={"do_updates": False}), "--backend", "numpy", "--steps", 40]
    assert rlgraph("train", *arguments, "--folder", "run").code == 0
    return "run"


# train


def test_train(rlgraph, tiny, backend, tmp_path):
    arguments = ["--agent", tiny(), "--env", "CartPole-v1", "--backend", backend, "--steps", 30, "--seed", 5]
    outcome = rlgraph("train", *arguments, "--num-envs", 2, "--validate-states", "--folder", "some/run")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"dqn learns CartPole-v1 on {backend}, seed 5" in outcome.out
    assert "Done" in outcome.out
    assert re.search(r"evaluation +│ \d+\.\d \+- \d+\.\d over 20 fresh episodes", outcome.out)
    assert re.search(r"training +│ 30 steps, \d+ episodes, 7 updates", outcome.out)
    assert "rlgraph evaluate some/run" in outcome.out
    folder = tmp_path / "some" / "run"
    for name in [
        "curve.png",
        "graph.svg",
        "graph.png",
        "metrics.csv",
        "tensorboard",
        "checkpoints",
        "config.json",
    ]:
        assert (folder / name).exists()
        assert name in outcome.out
    assert "In some/run:" in outcome.out
    run = json.loads((folder / "config.json").read_text())["run"]
    assert (run["environment"], run["backend"], run["steps"], run["seed"]) == ("CartPole-v1", backend, 30, 5)
    assert (run["worker"]["num_envs"], run["worker"]["validate_states"]) == (2, True)


def test_train_from_demonstrations(rlgraph, one_backend, tmp_path, undrawn):
    record_data_set(lambda state: 1, "CartPole-v1", 1, tmp_path / "shown.npz", seed=1)
    spec = json.dumps({"type": "dqfd", "network_spec": [4], "execution_spec": {"threads": None}})
    arguments = ["--agent", spec, "--backend", one_backend, "--steps", 30, "--set", "data.updates=3"]
    outcome = rlgraph("train", *arguments, "--set", "data.file=shown.npz", "--folder", "run")
    assert (outcome.code, outcome.err) == (0, "")
    assert "first 3 updates on shown.npz" in outcome.out
    outcome = rlgraph("train", *arguments, "--set", "data.file=other.npz", "--folder", "run")
    assert outcome.code and "other.npz does not exist" in outcome.err


def test_the_folder_is_named_after_the_run(rlgraph, tiny, backend, tmp_path, undrawn):
    outcome = rlgraph(
        "train", "--agent", tiny(), "--env", "deterministic", "--backend", backend, "--steps", 4
    )
    assert outcome.code == 0
    assert [folder.name for folder in (tmp_path / "runs").iterdir()] == [f"tiny-deterministic-{backend}-0"]


def test_an_alias_of_a_backend_and_an_environment_in_a_module(rlgraph, backends, tmp_path, undrawn):
    """Neither the alias nor a colon gets into the folder's name."""
    if "torch" not in backends:
        pytest.skip("needs PyTorch, which has an alias")
    env = "gymnasium.envs.classic_control:CartPoleEnv"
    agent = json.dumps({"type": "dqn", "network_spec": [{"type": "dense", "units": 4}]})
    (tmp_path / "small.json").write_text(agent)
    allowed = ["--allow-imports", "gymnasium.envs"]
    values = ["--set", "worker.max_timesteps_per_episode=200", "--set", "evaluation.final_episodes=1"]
    arguments = ["--env", env, "--steps", 8, *values, *allowed]
    outcome = rlgraph("train", "--backend", "pytorch", "--agent", "small.json", *arguments)
    assert outcome.code == 0 and "on torch, seed 0" in outcome.out
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name == "small-gymnasium.envs.classic_control-CartPoleEnv-torch-0"
    assert json.loads((folder / "config.json").read_text())["run"]["backend"] == "torch"
    for command in (["evaluate", folder, "--episodes", 1], ["export", folder]):
        assert rlgraph(*command, "--backend", "pytorch", *allowed).code == 0


def test_the_default_backend_is_used_and_kept(rlgraph, tiny, backend, tmp_path, undrawn, monkeypatch):
    monkeypatch.setenv("RLGRAPH_BACKEND", backend)
    outcome = rlgraph("train", "--agent", tiny(), "--env", "deterministic", "--steps", 4, "--folder", "run")
    assert f"on {backend}, seed 0" in outcome.out
    assert json.loads((tmp_path / "run" / "config.json").read_text())["run"]["backend"] == backend


def test_a_preset_is_used_for_a_named_agent(rlgraph, backend, monkeypatch):
    specs = []
    monkeypatch.setattr(training, "train", lambda spec, *_: specs.append(spec) or stop())
    for env in ("CartPole-v1", "deterministic"):
        with pytest.raises(Stopped):
            rlgraph("train", "--env", env, "--backend", backend)
    agents = [spec["agent"] for spec in specs]
    assert agents == [find_preset("dqn", "CartPole-v1").agent, {"type": "dqn"}]
    assert [spec["steps"] for spec in specs] == [50_000, 50_000]


def test_which_preset_is_said_and_a_mapping_refuses_it(rlgraph, backend, monkeypatch, tmp_path):
    specs = []
    monkeypatch.setattr(training, "train", lambda spec, *_: specs.append(spec) or stop())
    (tmp_path / "run.yaml").write_text("agent: ppo\nenvironment: CartPole-v1\nworker: {frameskip: 2}\n")
    for options in (
        ["--agent", "ppo"],
        ["--agent", "ppo", "--quiet"],
        ["--agent", '{"type": "ppo"}'],
        [tmp_path / "run.yaml", "--num-envs", 3, "--set", "num_epochs=2"],
    ):
        with pytest.raises(Stopped):
            rlgraph("train", "--backend", backend, *options)
    preset = find_preset("ppo", "CartPole-v1")
    changed = {**preset.agent, "num_epochs": 2}
    assert [spec["agent"] for spec in specs] == [preset.agent, preset.agent, {"type": "ppo"}, changed]
    assert [spec["steps"] for spec in specs] == [100_000, 100_000, 50_000, 100_000]
    assert specs[3]["worker"] == {"num_envs": 3, "frameskip": 2}


def test_threads(rlgraph, backend, monkeypatch, tmp_path):
    specs = []
    monkeypatch.setattr(training, "train", lambda spec, *_: specs.append(resolve(spec)) or stop())
    file = tmp_path / "agent.json"
    file.write_text(json.dumps({"type": "dqn", "execution_spec": {"threads": 3}}))
    for options in ((), ("--threads", 2), ("--agent", str(file))):
        with pytest.raises(Stopped):
            rlgraph("train", "--backend", backend, *options)
    assert [spec["agent"]["execution_spec"]["threads"] for spec in specs] == [1, 2, 3]


class Stopped(Exception):
    pass


def stop():
    raise Stopped


def test_quickstart(rlgraph, backend, monkeypatch):
    specs = []
    monkeypatch.setattr(training, "train", lambda spec, folder, _: specs.append((spec, folder)) or stop())
    with pytest.raises(Stopped):
        rlgraph("quickstart", "--backend", backend, "--steps", 70, "--json")
    ((spec, folder),) = specs
    assert str(folder) == "runs/quickstart"
    assert (spec["environment"], spec["steps"], spec["backend"]) == ("CartPole-v1", 70, backend)
    assert (spec["agent"], spec["worker"]) == (find_preset("ppo", "CartPole-v1").agent, {"num_envs": 8})
    assert spec["evaluation"]["policy"] == "last"


# evaluate


def test_evaluate_on_every_backend(rlgraph, run, backends):
    lines = []
    for name in [None, "numpy", *backends]:
        outcome = rlgraph("evaluate", run, "--episodes", 3, *(["--backend", name] if name else []))
        assert (outcome.code, outcome.err) == (0, "")
        lines.append(outcome.out.strip())
    assert re.fullmatch(r"mean return \d+\.\d \+- \d+\.\d over 3 episodes", lines[0])
    assert set(lines) == {lines[0]}
    assert rlgraph("evaluate", run, "--episodes", 3, "--seed", 2).code == 0


def test_evaluate_takes_the_best_policy_or_else_the_last(rlgraph, refused, run, tmp_path):
    checkpoints = tmp_path / run / "checkpoints"
    assert not (checkpoints / "best").exists()
    last = rlgraph("evaluate", run, "--episodes", 2)
    assert last.code == 0
    (checkpoints / "best").mkdir()
    with pytest.warns(CheckpointWarning, match="best is not a checkpoint: it has no manifest.json; skipped"):
        instead = rlgraph("evaluate", run, "--episodes", 2)
    assert (instead.code, instead.out) == (0, last.out)
    (checkpoints / "last" / "manifest.json").write_text("{")
    assert "manifest.json cannot be read" in refused("no valid checkpoint in", "evaluate", run).err


@pytest.mark.parametrize("content", [None, "{", "{}", '{"run": {}}'])
def test_evaluate_what_is_no_run(refused, tmp_path, content):
    (tmp_path / "run").mkdir()
    if content:
        (tmp_path / "run" / "config.json").write_text(content)
    outcome = refused(
        "RunFolderError: run is not a run folder: config.json cannot be read (", "evaluate", "run"
    )
    assert outcome.err.startswith("RunFolderError")


# plugins, plan, graph


def test_plan(rlgraph):
    outcome = rlgraph("plan", "get_greedy_actions", "--env", "CartPole-v1")
    assert (outcome.code, outcome.err) == (0, "preset dqn/CartPole-v1\n")
    assert "def get_greedy_actions(states):" in outcome.out
    assert outcome.out.count("dqn__policy__network__dense_0__call(") == 1
    # The page is Python: no line is broken by the width of the terminal.
    compile(outcome.out, "plan", "exec")


def test_the_outline_of_an_update(rlgraph):
    outcome = rlgraph("plan", "update_from_memory", "--outline", "--env", "deterministic")
    assert outcome.code == 0 and outcome.out.startswith("agent.update_from_memory(num_records []):\n")
    assert "\n    gradients of loss by " in outcome.out
    assert "\n    host: memory.get_records (sample): num_records [] -> " in outcome.out
    outcome = rlgraph("plan", "act", "--outline", "--full")
    assert outcome.code == 2 and "expected one of --outline and --full" in outcome.err


def test_the_full_page_of_an_update(rlgraph, tmp_path):
    outcome = rlgraph("plan", "update_from_memory", "--full", "--env", "deterministic")
    assert outcome.code == 0 and outcome.out.startswith("# agent.update_from_memory\n")
    assert "## Papers" in outcome.out and "def double_q_next_values(" in outcome.out
    for name, begin in (("u.html", "<!doctype"), ("u.md", "# agent"), ("u.txt", "agent.")):
        outcome = rlgraph("plan", "update_from_memory", "--full", "--env", "deterministic", "--file", name)
        assert (outcome.code, outcome.out) == (0, f"wrote {name}\n")
        assert (tmp_path / name).read_text().startswith(begin)


def test_plan_of_an_update_needs_no_gradients(rlgraph):
    outcome = rlgraph("plan", "update_from_memory", "--env", "deterministic")
    assert outcome.code == 0
    for name in ("memory__sample", "dqn__loss__loss", "dqn__optimizer__apply"):
        assert name in outcome.out


def test_graph_as_text(rlgraph):
    whole = rlgraph("graph")
    assert whole.code == 0
    for name in ("policy", "target-policy", "memory", "exploration", "optimizer", "loss"):
        assert name in whole.out
    part = rlgraph("graph", "--method", "get_greedy_actions", "--depth", 2)
    assert "policy" in part.out
    assert "memory" not in part.out


@pytest.mark.parametrize(("name", "begin"), [("g.svg", b"<svg"), ("g.png", b"\x89PNG\r\n\x1a\n")])
def test_graph_as_a_picture(rlgraph, tmp_path, name, begin):
    outcome = rlgraph("graph", "--env", "deterministic", "--method", "act", "--file", name)
    assert (outcome.code, outcome.out) == (0, f"wrote {name}\n")
    assert begin in (tmp_path / name).read_bytes()[:400]


@pytest.mark.parametrize(
    ("form", "begin"),
    [("dot", 'digraph "policy" {\n'), ("mermaid", "flowchart TB\n"), ("svg", "<svg "), ("text", "policy: ")],
)
def test_graph_of_one_component_in_every_form(rlgraph, form, begin):
    outcome = rlgraph("graph", "--env", "deterministic", "--scope", "dqn/policy", "--format", form)
    assert outcome.code == 0 and outcome.out.startswith(begin)
    assert "get_q_values" in outcome.out and "insert_records" not in outcome.out


def test_graph_and_plan_of_a_run(rlgraph, refused, tiny, undrawn):
    options = "--env deterministic --backend numpy --steps 4 --set update_spec.do_updates=false --folder run"
    assert rlgraph("train", "--agent", tiny(dueling_q=False), *options.split()).code == 0
    whole = rlgraph("graph", "run", "--depth", 9)
    assert whole.code == 0 and "advantage" not in whole.out  # the default agent is a dueling one
    assert "advantage" in rlgraph("graph", "--env", "deterministic", "--depth", 9).out
    plan = rlgraph("plan", "run", "act")
    assert plan.code == 0 and "def act(" in plan.out and "advantage" not in plan.out
    said = "run: a run has its agent and environment: leave out --agent and --env"
    refused(said, "graph", "run", "--agent", "ppo")
    refused("nowhere is not a run folder", "graph", "nowhere")
    refused("expected [RUN] METHOD, such as runs/one update, given run", "plan", "run")
    refused("expected [RUN] METHOD", "plan", "run", "a", "b")
    refused("nowhere is not a run folder", "plan", "nowhere", "act")
    refused("act", "plan", "run", "acct")


# Mistakes.


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("train --backend nmpy", "SpecError: backend: unknown backend 'nmpy'. Did you mean 'numpy'?"),
        ("train --agent dqm", "SpecError: agent.type: unknown agent 'dqm'. Did you mean 'dqn'?"),
        ("train --agent missing.json", "SpecError: agent: file "),
        ("train --agent list.json", "SpecError: agent: list.json: expected a mapping with 'type', given [1]"),
        ("train --agent broken.json", "broken.json' is not valid JSON: "),
        (
            "train --agent execution.json",
            "SpecError: agent.execution_spec: expected a mapping or null, given 'fast'",
        ),
        ("train --agent keys.json", "DQNAgent has no such key."),
        ("train --env CartPol-v1", "The nearest is 'CartPole-v1'."),
        ("train --steps 0", "SpecError: steps: expected an integer >= 1 without a data set, given 0"),
        ("train --num-envs 0", "SpecError: worker.num_envs: expected an integer >= 1 and <= 10000, given 0"),
        ("train --seed -1", "SpecError: seed: expected an integer >= 0, given -1"),
        ("evaluate nowhere", "RunFolderError: nowhere is not a run folder"),
        ("plan get_action", "has no API method 'get_action'. Did you mean 'get_greedy_actions'?"),
        ("plan act --full --file p.pdf", "the suffix of a page must be"),
        ("plan act --file p.md", "--file writes the page of --full"),
        ("graph --method act_greedly", "has no API method 'act_greedly'. Did you mean 'act_greedily'?"),
        ("graph --scope polcy", "has no component 'polcy'. Did you mean 'dqn/policy'?"),
        ("graph --depth 0", "depth: expected an integer >= 1 or None, given 0"),
        ("graph --file g.jpg", "the suffix of a drawing must be"),
        ("graph --agent norm.json --env grid_world", "SpaceError: dqn/policy/network/layer_norm-0"),
        (
            "graph --agent norm.json --env grid_world",
            "\n>>           dqn/policy/network/layer_norm-0.call(inputs: int64[B]) -> ?",
        ),
        ("trian", "No such command 'trian'"),
        ("train --stps 3", "No such option"),
        ("train --steps many", "Invalid value for '--steps'"),
        ("plan", "Missing argument"),
        ("graph --format png", "Invalid value for '--format'"),
    ],
)
def test_mistakes(refused, tmp_path, monkeypatch, command, said):
    monkeypatch.setenv("RLGRAPH_BACKEND", "numpy")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "execution.json").write_text('{"type": "dqn", "execution_spec": "fast"}')
    (tmp_path / "norm.json").write_text('{"type": "dqn", "network_spec": [{"type": "layer_norm"}]}')
    (tmp_path / "keys.json").write_text('{"type": "dqn", "[draw]": 1}')
    refused(said, *command.split())


def test_messages_are_neither_wrapped_nor_read_as_markup(refused, monkeypatch):
    long = "[bold]" + "needs " * 40 + 'pip install "rlgraph-core[draw]" [/]'
    monkeypatch.setattr("rlgraph.draw.draw", raising(RLGraphError(long)))
    refused(f"\nRLGraphError: {long}\n", "graph", "--env", "deterministic")


def test_several_backends_and_none_named(refused, backends, monkeypatch, tmp_path):
    if len(backends) < 2:
        pytest.skip(f"needs two backends, installed: {', '.join(backends) or 'none'}")
    monkeypatch.delenv("RLGRAPH_BACKEND", raising=False)
    monkeypatch.setenv("RLGRAPH_HOME", str(tmp_path))
    outcome = refused(
        f"SpecError: several backends are installed: {', '.join(backends)}. Choose one", "train"
    )
    assert f"--backend {backends[0]})" in outcome.err


def test_a_program_error_is_not_hidden(rlgraph, monkeypatch):
    monkeypatch.setattr("rlgraph.draw.draw", raising(ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        rlgraph("graph", "--env", "deterministic")


def test_ctrl_c_outside_of_training(rlgraph, monkeypatch):
    monkeypatch.setattr("rlgraph.draw.draw", raising(KeyboardInterrupt))
    outcome = rlgraph("graph", "--env", "deterministic")
    assert outcome.code == 130
    assert "Traceback" not in outcome.out + outcome.err


def test_version(rlgraph):
    outcome = rlgraph("--version")
    assert outcome.code == 0
    assert f"rlgraph-agents {version('rlgraph-agents')}\n" in outcome.out
    assert f"rlgraph-core {version('rlgraph-core')}\n" in outcome.out
    assert f"rlgraph-spaces {version('rlgraph-spaces')}\n" in outcome.out


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"], ["plugins"]])
def test_what_looks_at_nothing_imports_nothing(python, arguments):
    """Fast to start: no framework, and none of what only runs need."""
    program = (
        "import sys\n"
        f"sys.argv = ['rlgraph', *{arguments!r}]\n"
        "from rlgraph.cli.main import main\n"
        "assert main() == 0\n"
        "heavy = ('torch', 'tensorflow', 'keras', 'jax', 'tensorboard', 'matplotlib', 'gymnasium')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    assert python("-c", program).splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("rlgraph pl", {"plan", "plugins"}),
        ("rlgraph train --agent d", {"dqfd", "dqn"}),
        ("rlgraph train --env grid", {"grid_world"}),
        ("rlgraph train --backend num", {"numpy"}),
        ("rlgraph graph --format m", {"mermaid"}),
        ("rlgraph agents d", {"dqfd", "dqn"}),
    ],
)
def test_shell_completion(rlgraph, monkeypatch, line, offered):
    """What bash is told: the words of the line so far, and which of them is being typed."""
    monkeypatch.setenv("_RLGRAPH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    outcome = rlgraph()
    assert set(outcome.out.split()) == offered


def test_help(rlgraph):
    outcome = rlgraph("--help")
    assert outcome.code == 0
    for command in ("quickstart", "train", "evaluate", "plugins", "plan", "graph"):
        assert f" {command} " in outcome.out
    nothing = rlgraph()
    assert nothing.code == 2
    assert "Usage" in nothing.out + nothing.err


def test_the_command_is_installed():
    (command,) = entry_points(group="console_scripts", name="rlgraph")
    assert command.load() is main
