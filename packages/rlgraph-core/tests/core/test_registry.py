import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoints, PathDistribution

import pytest

from rlgraph.core import Component, PluginError, Registry, SpecError, registry
from rlgraph.core.errors import nearest
from rlgraph.core.registry import (
    OTHER_NAMES,
    _of_readable_distributions,
    canonical,
    rlgraph_versions,
)
from rlgraph.spaces import IntBox


def distribution(folder, name, version, entries):
    """A distribution as `pip` leaves it behind: metadata and entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in items.items()) for group, items in entries.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """Four distributions, of which one is broken and two want the same name."""
    distribution(tmp_path, "plug-good", "1.2", {"rlgraph.test": {"Good-One": "plug_good:Thing.part"}})
    distribution(
        tmp_path,
        "plug-broken",
        "0.3",
        {
            "rlgraph.test": {
                "broken": "plug_broken:Thing",
                "missing": "plug_good:No",
                "exits": "plug_exits:Thing",
            }
        },
    )
    distribution(tmp_path, "plug-a", "1.0", {"rlgraph.test": {"twice": "plug_good:Thing"}})
    distribution(tmp_path, "plug-b", "2.0", {"rlgraph.test": {"twice": "plug_b:Other"}})
    (tmp_path / "plug_good.py").write_text("class Thing:\n    part = 'loaded'\n")
    (tmp_path / "plug_broken.py").write_text("raise RuntimeError('no luck')\n")
    (tmp_path / "plug_exits.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("rlgraph.test")
    for name in ("plug_good", "plug_broken", "plug_b"):
        sys.modules.pop(name, None)


def test_listing_imports_nothing(plugins):
    assert plugins.names() == ["broken", "exits", "good_one", "missing", "twice"]
    assert [(p.name, p.distribution, p.version) for p in plugins.plugins() if p.name == "Good-One"] == [
        ("Good-One", "plug-good", "1.2")
    ]
    assert not {"plug_good", "plug_broken"} & set(sys.modules)


def test_loading_reads_no_metadata(plugins, monkeypatch):
    def read(self, filename):
        raise AssertionError(f"{filename} was read")

    monkeypatch.setattr(PathDistribution, "read_text", read)
    assert plugins.names()
    assert plugins.load("good_one") == "loaded"


def test_what_an_extra_needs_and_is_not_installed(tmp_path, monkeypatch):
    entries = {
        "rlgraph.test": {"one": "plug:One [fast]", "two": "plug:Two [fast,slow]", "three": "plug:Three"}
    }
    distribution(tmp_path, "plug", "1.0", entries)
    with (tmp_path / "plug-1.0.dist-info" / "METADATA").open("a") as metadata:
        for requirement in (
            "numpy >=1",
            "not-there[all] (>=2.6) ; extra == 'fast'",
            'numpy>=2; python_version > "3" and extra == "slow"',
            'nor-this>=2; extra == "other"',
        ):
            metadata.write(f"Requires-Dist: {requirement}\n")
    monkeypatch.syspath_prepend(tmp_path)
    one, three, two = Registry("rlgraph.test").plugins()
    assert (one.target, one.missing, one.install) == ("plug:One", ("not-there",), "pip install 'plug[fast]'")
    assert (two.missing, two.install) == (("not-there",), "pip install 'plug[fast,slow]'")
    assert (three.target, three.missing, three.install) == ("plug:Three", (), "")


def test_known_names_that_are_not_installed():
    engines = Registry("rlgraph.engines", lambda group: ())
    expected = {
        "distributed_tf": "rlgraph-dist[tf]",
        "in_process": "rlgraph-dist",
        "ray": "rlgraph-dist[ray]",
    }
    assert engines.not_installed() == expected
    engines.register("Ray", "somewhere:Engine")
    del expected["ray"]
    assert engines.not_installed() == expected


def test_loading(plugins):
    assert plugins.load("good_one") == plugins.load("GOOD one") == plugins.load("GoodOne") == "loaded"
    assert "good-one" in plugins
    assert "other" not in plugins


def test_a_broken_plugin_affects_nobody_else(plugins):
    with pytest.raises(
        PluginError,
        match="'broken' of plug-broken 0.3 cannot be loaded from plug_broken:Thing: RuntimeError: no luck",
    ):
        plugins.load("broken")
    with pytest.raises(PluginError, match="cannot be loaded from plug_good:No: AttributeError"):
        plugins.load("missing")
    with pytest.raises(PluginError, match="cannot be loaded from plug_exits:Thing: SystemExit: 3"):
        plugins.load("exits")
    assert plugins.load("good-one") == "loaded"


def test_two_owners_of_a_name(plugins):
    with pytest.raises(
        PluginError,
        match=r"here: rlgraph.test 'twice' is registered by plug-a 1.0 and plug-b 2.0: uninstall one",
    ):
        plugins.load("twice", where="here")


def test_registering_by_hand(plugins):
    plugins.register("Own", "plug_good:Thing")
    assert plugins.load("own").part == "loaded"
    plugins.register("own", Component)
    assert plugins.load("own") is Component
    plugins.register("twice", "plug_good:Thing.part")  # the program's word counts
    assert plugins.load("twice") == "loaded"
    assert [p.origin for p in plugins.plugins() if p.name == "own"] == ["this program"]


def test_unknown_names():
    with pytest.raises(SpecError, match="net: unknown component 'dens'. Did you mean 'dense'?"):
        registry("rlgraph.components").load("dens", where="net")
    with pytest.raises(SpecError, match="unknown component 'zzz'. Known: .*adam, .*clip, .*dense, "):
        registry("rlgraph.components").load("zzz")
    assert nearest("x", []) == "None exist."


def test_what_others_call_it():
    components = registry("rlgraph.components")
    needed = {
        "linear": {"units": 2},
        "epsilonexploration": {"action_space": IntBox(2)},
    }
    for name, spec in OTHER_NAMES["rlgraph.components"].items():
        assert name not in components
        assert isinstance(Component.from_spec(json.loads(spec), **needed.get(name, {})), Component)
    with pytest.raises(SpecError, match="net: unknown component 'Linear'. It is \"dense\" here"):
        components.load("Linear", where="net")
    with pytest.raises(SpecError, match='It is {"type": "reshape", "flatten": true} here'):
        components.load("flatten")


def test_what_to_install(plugins):
    empty = Registry("rlgraph.backends")
    empty._plugins.clear()
    with pytest.raises(SpecError, match="backend 'PyTorch' is not installed: pip install rlgraph-torch"):
        empty.load("PyTorch")
    with pytest.raises(SpecError, match="backend 'tf' is not installed: pip install rlgraph-tf"):
        empty.load("tf")
    other = Registry("rlgraph.environments")
    other._plugins.clear()
    with pytest.raises(
        SpecError, match="environment 'OpenAIGym' is not installed: pip install rlgraph-agents"
    ):
        other.load("OpenAIGym")


def test_ours_come_through_the_same_door():
    assert "numpy" in registry("rlgraph.backends").names()
    names = registry("rlgraph.components").names()
    for name in names:
        assert issubclass(registry("rlgraph.components").load(name), Component)
    assert registry("rlgraph.components") is registry("rlgraph.components")


@pytest.mark.parametrize(
    ("name", "here"),
    [("DenseLayer", "dense"), ("max-pool2d-layer", "max_pool2d"), ("AdamOptimizer", "adam")],
)
def test_classes_that_had_longer_names(name, here):
    with pytest.raises(SpecError, match=f'unknown component {name!r}. It is "{here}" here'):
        registry("rlgraph.components").load(name)


def test_names_differ_by_more_than_writing():
    assert canonical("Dueling-Policy") == canonical("dueling policy") == "dueling_policy"


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("MaxPool2D", "max_pool2d"),
        ("conv2dtranspose", "conv2d_transpose"),
        ("fc", "dense"),
        ("local_response_normalization", "local_response_norm"),
        ("nn-layer", "activation"),
        ("ReShape", "reshape"),
    ],
)
def test_names_that_components_had(name, listed):
    components = registry("rlgraph.components")
    assert components.load(name) is components.load(listed)
    assert listed in components.names()


def test_what_an_earlier_path_hides_is_no_second_owner(plugins, tmp_path, monkeypatch):
    first = tmp_path / "first"
    distribution(first, "plug-good", "1.3", {"rlgraph.test": {"good-one": "plug_good:Thing"}})
    monkeypatch.syspath_prepend(first)
    found = Registry("rlgraph.test")
    assert [p.version for p in found.plugins() if canonical(p.name) == "good_one"] == ["1.3"]


def test_the_old_distribution_is_named(tmp_path, monkeypatch):
    distribution(tmp_path, "rlgraph", "0.5.5", {})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        PluginError, match=r"old single distribution rlgraph 0\.5\.5 .* pip uninstall rlgraph"
    ):
        Registry("rlgraph.test")


@pytest.mark.parametrize(
    ("file", "content"),
    [("entry_points.txt", b"[rlgraph.test]\nno sign\n"), ("METADATA", b"Name: \xff\xfe\n")],
)
def test_a_distribution_that_cannot_be_read_is_named_and_left_out(plugins, tmp_path, file, content):
    distribution(tmp_path, "unreadable", "1.0", {"rlgraph.test": {"lost": "plug_good:Thing"}})
    (tmp_path / "unreadable-1.0.dist-info" / file).write_bytes(content)
    with pytest.warns(RuntimeWarning, match="unreadable-1.0.dist-info: its metadata or entry points cannot"):
        found = EntryPoints(_of_readable_distributions()).select(group="rlgraph.test")
    assert {entry.name for entry in found} == {"Good-One", "broken", "missing", "exits", "twice"}
    assert isinstance(rlgraph_versions(), dict)


def test_a_broken_file_does_not_end_a_program(tmp_path):
    distribution(tmp_path, "unreadable", "1.0", {})
    (tmp_path / "unreadable-1.0.dist-info" / "entry_points.txt").write_text("[rlgraph.test]\nno sign\n")
    code = "from rlgraph.core import registry; print(registry('rlgraph.components').names()[:1])"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.returncode == 0 and "['activation']" in done.stdout, done.stderr
    assert "unreadable-1.0.dist-info" in done.stderr
