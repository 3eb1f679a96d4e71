"""Texts from somebody's files on a terminal."""

import json
import warnings

from rich.table import Table

from rlgraph.cli.output import Output, printable

ORDERS = "\x1b]0;title\x07 \x1b[2J\x9b2J \u202egnp.exe\u2066 \r\ud800"
SHOWN = r"\x1b]0;title\x07 \x1b[2J\x9b2J \u202egnp.exe\u2066 \r\ud800"


def test_unprintable_characters_are_shown_as_escapes():
    assert printable(ORDERS) == SHOWN
    text = "lines\n\tand tabs, é, 漢字, \N{NO-BREAK SPACE}, \N{WAVING HAND SIGN}, [bold], C:\\x1b"
    assert printable(text) == text


def test_results_notes_and_cells(capsys):
    table = Table("name")
    table.add_row(ORDERS)
    output = Output()
    for what in (table, ORDERS):
        output.result(what, None)
        assert "\x1b" not in (shown := capsys.readouterr().out) and r"\x1b[2J\x9b2J" in shown
    output.notes.print(ORDERS)
    assert r"\x1b[2J" in capsys.readouterr().out


def test_no_text_becomes_a_picture(rlgraph, capsys, monkeypatch):
    text = "a:X:b :smile: :warning:"
    table = Table("name", title=text)
    table.add_row(text)
    output = Output()
    for what in (table, text):
        output.result(what, None)
        assert capsys.readouterr().out.count("a:X:b :smile: :warning:") == (2 if what is table else 1)
    output.notes.print(text, f"[bold]{text}[/]")
    assert capsys.readouterr().out.count(text) == 2
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # a spinner is shown on terminals only
    with output.status(text):
        pass
    assert text in capsys.readouterr().out
    for arguments in (
        ["config", "show", ":X:"],
        ["evaluate", ":smile:"],
        [":smile:"],
        ["train", "--:smile:"],
    ):
        outcome = rlgraph(*arguments)
        assert outcome.code == 2 and arguments[-1].strip("-") in outcome.err


def test_keys_in_messages_and_warnings(rlgraph, tmp_path, monkeypatch):
    (tmp_path / "run.json").write_text(json.dumps({"\x1b[2J": 1, "environment": "CartPole-v1", "steps": 1}))
    outcome = rlgraph("config", "show", "run.json")
    assert outcome.code == 2 and r"\x1b[2J: there is no such key" in outcome.err and "\x1b" not in outcome.err
    assert r"UserWarning: \x1b[2J" in warnings.formatwarning("\x1b[2J", UserWarning, "file", 1)
