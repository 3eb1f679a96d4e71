"""What a drawing shows, in each of its forms, and what goes wrong with which message."""

import builtins
import struct
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from rlgraph.components import QPolicy
from rlgraph.core import GraphExecutor, RLGraphError, assemble
from rlgraph.draw import Drawing, draw
from rlgraph.draw.drawing import LEGIBLE, PAGE_SIDES
from rlgraph.spaces import IntBox

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing):
    return [node.text for node in ElementTree.fromstring(drawing.svg()).iter(f"{SVG}text")]


def test_text_of_two_components(two):
    assert draw(two, method="run").text() == (
        "two: Two\n"
        "  input inputs: float32[B, 3]\n"
        "  output run: float32[B, 3]\n"
        "  (_double)\n"
        "  adder: Adder\n"
        "    (_add)\n"
        "  _double -> output run: float32[B, 3]\n"
        "  input inputs -> adder.add\n"
        "  adder.add -> _double: float32[B, 3]\n"
    )


def test_mermaid_of_two_components(two):
    assert draw(two, method="run").mermaid() == (
        "flowchart TB\n"
        '  subgraph n_two["two · Two"]\n'
        '    n_in_3a_run_2e_inputs(["inputs<br/>float32[B, 3]"])\n'
        '    n_adder["adder<br/>Adder<br/>_add"]\n'
        '    n_two_3a__double(["_double"])\n'
        '    n_out_3a_run(["run<br/>float32[B, 3]"])\n'
        "  end\n"
        '  n_two_3a__double -->|"float32[B, 3]"| n_out_3a_run\n'
        '  n_in_3a_run_2e_inputs -->|"add"| n_adder\n'
        '  n_adder -->|"float32[B, 3]"| n_two_3a__double\n'
    )


def test_the_svg_is_well_formed_and_names_everything(built):
    drawing = draw(built, depth=99)
    root = ElementTree.fromstring(drawing.svg())
    assert root.tag == f"{SVG}svg" and float(root.get("width")) == pytest.approx(
        drawing.picture.width, abs=0.1
    )
    shown = texts(drawing)
    for scope in built.graph.components:
        assert scope.rsplit("/", 1)[-1] in shown
    assert set(built.graph.methods) <= set(shown)


def test_an_assembled_graph_is_drawn_without_spaces(unbuilt):
    drawing = draw(assemble(unbuilt))
    assert isinstance(drawing, Drawing) and "float32" not in drawing.svg()


def test_a_component_and_an_executor_can_be_drawn(unbuilt):
    assert draw(unbuilt).text() == draw(assemble(unbuilt)).text()


def test_an_executor_is_drawn_with_spaces(two):
    spaces = {"inputs": two.input_spaces["run"]["inputs"]}
    executor = GraphExecutor(two.graph.components["two"].copy(), spaces, backend="numpy")
    assert draw(executor).svg() == draw(two).svg()


def test_a_dqn_shows_calls_spaces_parameters_hosts_and_copies(dqn):
    drawing = draw(dqn)
    shown = texts(drawing)
    for text in (
        "get_q_values",
        "get_deterministic_action",
        "insert_records",
        "states float32[B, 4]",
        "float32[B, 64]",
        "8 variables",
        "gradients",
        "DuelingPolicy · 4,675 parameters",
        "DuelingPolicy · 4,675 frozen",
        "host component (NumPy)",
    ):
        assert text in shown, text
    elements = drawing.scene.elements
    assert {e.key for e in elements.values() if e.host and e.kind == "component"} == {"memory", "exploration"}
    assert {e.key for e in elements.values() if e.frozen and e.level == 1} == {"target-policy"}


def test_one_method_shows_what_it_reaches(dqn):
    acting = draw(dqn, method="get_actions").scene.elements
    assert {"policy", "policy/network/dense-0", "exploration", "in:get_actions.states"} <= set(acting)
    assert not {"loss", "memory", "target-policy", "in:update"} & set(acting)


def test_depth_closes_components(dqn):
    elements = draw(dqn, depth=1).scene.elements
    assert elements["policy"].lines == ("_argmax", "_combine", "5 components inside")
    assert "policy/network" not in elements
    assert "policy/network/dense-0" not in draw(dqn, depth=2).scene.elements


def png_size(file):
    return struct.unpack(">II", file.read_bytes()[16:24])


def test_without_depth_a_drawing_is_at_most_a_page(tmp_path):
    layers = [{"type": "dense", "units": 2} for _ in range(40)]
    closed = draw(QPolicy(layers, IntBox(2)))
    assert closed.folded == {"network": 40} and closed.levels == 2
    assert "network/dense-0" not in closed.scene.elements
    assert draw(QPolicy(layers[:9], IntBox(2))).folded == {}
    everything = draw(QPolicy(layers, IntBox(2)), depth=closed.levels)
    assert "network/dense-0" in everything.scene.elements and everything.folded == {}
    pytest.importorskip("resvg_py")
    wide = [{"type": "dense", "units": 2, "scope": f"a-layer-with-a-long-name-{i}"} for i in range(40)]
    parts = draw(QPolicy(wide, IntBox(2)), scope="network")  # nothing can be folded
    for drawing in (closed, parts):
        shorter, longer = sorted(png_size(drawing.save(tmp_path / "a.png")))
        assert shorter <= PAGE_SIDES[0] and longer <= PAGE_SIDES[1]
    assert max(png_size(everything.save(tmp_path / "a.png"))) > max(PAGE_SIDES)  # as asked for


def test_the_deepest_legible_level_is_drawn(dqn):
    policy = QPolicy([{"type": "dense", "units": 2} for _ in range(40)], IntBox(2))
    assert draw(policy).page_scale >= LEGIBLE > draw(policy, depth=2).page_scale
    whole = draw(dqn)
    assert whole.folded == {} and whole.page_scale >= LEGIBLE
    assert draw(dqn, depth=whole.levels).folded == {} != draw(dqn, depth=whole.levels - 1).folded
    inner = draw(dqn, scope="policy", depth=1)
    assert (inner.folded, inner.levels) == ({"policy/network": 2}, 2)
    assert draw(dqn, scope="policy", depth=2).folded == {}


def test_parallel_edges_are_one_wire(dqn):
    wires = draw(dqn, method="update").scene.wires["dqn"]
    pairs = [(wire.source, wire.target) for wire in wires]
    assert len(pairs) == len(set(pairs))
    assert sum(w.source.key == "policy" and w.target.key == "loss" for w in wires) == 1


def test_a_method_called_by_another_keeps_its_own_colour(dqn):
    wires = draw(dqn).scene.wires["dqn"]
    (step,) = [w for w in wires if (w.source.key, w.target.key) == ("loss", "optimizer")]
    (records,) = [w for w in wires if (w.source.key, w.target.key) == ("memory", "loss")]
    assert step.methods == {"update"} and records.methods == {"update_from_memory"}


def test_a_component_called_from_elsewhere_names_its_way_in(tangle):
    ends = {(w.source.key, w.target) for w in draw(tangle, method="run").scene.wires["tangle"]}
    assert any(source == "borrower" and target.port == "inner.add" for source, target in ends)


def test_save_writes_by_suffix(two, tmp_path):
    drawing = draw(two)
    assert (
        drawing.save(tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg() == drawing._repr_svg_()
    )
    assert drawing.save(str(tmp_path / "a.txt")).read_text(encoding="utf-8") == drawing.text()
    assert drawing.save(tmp_path / "a.dot").read_text(encoding="utf-8") == drawing.dot()
    assert drawing.save(tmp_path / "a.mmd").read_text(encoding="utf-8") == drawing.mermaid()
    with pytest.raises(RLGraphError, match=r"one of \.png, \.svg, \.dot, \.mmd, \.txt, given .*a\.gif"):
        drawing.save(tmp_path / "a.gif")


def test_png_has_the_size_of_the_drawing_and_visible_text(dqn, tmp_path):
    pytest.importorskip("resvg_py")
    pytest.importorskip("pymupdf_fonts")
    drawing = draw(dqn, method="get_actions")
    size = [float(ElementTree.fromstring(drawing.svg()).get(key)) for key in ("width", "height")]
    data = drawing.save(tmp_path / "a.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == pytest.approx([2 * s for s in size], abs=2)
    # Letters are drawn: without a font the same picture is smaller by a lot.
    from rlgraph.draw.raster import to_png

    silent = drawing.svg().replace("<text", '<text visibility="hidden"')
    assert len(to_png(drawing.svg(), 2.0)) > 1.5 * len(to_png(silent, 2.0))


def test_png_without_the_extra_says_what_to_install(two, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "resvg_py":
            raise ImportError("No module named 'resvg_py'", name="resvg_py")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "resvg_py", raising=False)
    with pytest.raises(
        RLGraphError, match=r'resvg_py, which is not installed: pip install "rlgraph-core\[draw\]"|pymupdf'
    ):
        draw(two).png(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_wrong_arguments(dqn):
    with pytest.raises(
        RLGraphError, match=r"dqn has no API method 'get_action'\. Did you mean 'get_actions'\?"
    ):
        draw(dqn, method="get_action")
    for depth in (0, -1, True, "2"):
        with pytest.raises(RLGraphError, match="depth: expected an integer >= 1 or None, given"):
            draw(dqn, depth=depth)
    with pytest.raises(RLGraphError, match="component to draw, given 'dqn'"):
        draw("dqn")


def test_special_characters_are_escaped(two):
    drawing = draw(two)
    drawing.scene.root.title = 'a<b> & "c"'
    assert 'a<b> & "c"' in texts(drawing)


@pytest.mark.slow
def test_importing_core_loads_neither_drawing_nor_rasteriser():
    loaded = "m for m in sys.modules if 'resvg' in m or 'pymupdf' in m"
    code = f"import sys, rlgraph.core; print([{loaded} or m.startswith('rlgraph.draw')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
    code = f"import sys, rlgraph.draw; print([{loaded}])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )
