"""Specs in files: what is loaded, and what is reported and left out."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import JSON
from vantage.conversation.store.home import specs_folder
from vantage.conversation.store.specs.files import MAX_FILE, load_file, load_folder, read_specs

SPEC = {"collapsed": {"title": "{{args.x}}"}}
OTHER = {"collapsed": {"title": "other"}}


def write(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.mark.parametrize(
    ("value", "specs"),
    [
        (SPEC, {"weather": SPEC}),
        ({"$schema": "https://example.com/render-spec.schema.json", **SPEC}, {"weather": SPEC}),
        ({"tool": "forecast", "renderSpec": SPEC}, {"forecast": SPEC}),
        ({"renderSpec": SPEC}, {"weather": SPEC}),
        ({"a": SPEC, "b": OTHER}, {"a": SPEC, "b": OTHER}),
        ("\ufeff" + json.dumps(SPEC), {"weather": SPEC}),
    ],
)
def test_three_shapes_of_files(tmp_path, value, specs):
    loaded = load_file(write(tmp_path / "weather.json", value))
    assert (loaded.specs, loaded.problems) == (specs, [])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "it is not JSON"),
        (b"", "it is not JSON"),
        (b'{"a": NaN}', "it is not JSON"),
        (b'{"collapsed": {"title": "\xff"}}', "it is not UTF-8, from byte 25 on (save it as UTF-8)"),
        (b"[1]", "it is not a JSON object"),
        (b"{}", "there is no spec in it"),
        (b"[" * 100_000, "it is n"),
        (b'{"tool": 5, "renderSpec": {}}', "'tool' is not the name of a tool"),
        (b'{"tool": " ", "renderSpec": {}}', "'tool' is not the name of a tool"),
        (b'{"renderSpec": 7}', "renderSpec: expected an object, got a number"),
        (b'{"a": 7}', "a: expected an object, got a number"),
        (b'{"expanded": {"blocks": []}}', "collapsed: 'collapsed' is missing"),
        (b'{"colapsed": {"title": "x"}, "specVersion": 1}', "collapsed: 'collapsed' is missing"),
        (b" " * (MAX_FILE + 1), f"it has more than {MAX_FILE} bytes"),
    ],
)
def test_a_broken_file_is_reported(tmp_path, data, says):
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    loaded = load_file(path)
    assert loaded.specs == {}
    assert any(problem.startswith(f"{path}: {says}") for problem in loaded.problems), loaded.problems


def test_every_problem_is_reported_and_the_others_of_the_file_are_kept(tmp_path):
    bad = {"collapsed": {"titel": "x", "iconColor": "rde"}}
    path = write(tmp_path / "many.json", {"good": SPEC, "bad": bad})
    loaded = load_file(path)
    assert loaded.specs == {"good": SPEC}
    assert loaded.problems == [
        f"{path}: warning: bad.collapsed.titel: there is no field 'titel' (did you mean 'title'?)",
        f"{path}: bad.collapsed.title: 'title' is missing",
        f"{path}: bad.collapsed.iconColor: 'rde' is not possible here (did you mean 'red'?)",
    ]


def test_warnings_alone_do_not_keep_a_spec_out(tmp_path):
    newer = {**SPEC, "expanded": {"blocks": [{"type": "hologram", "fallback": "drop"}]}}
    path = write(tmp_path / "newer.json", newer)
    loaded = load_file(path)
    assert (loaded.specs, loaded.problems) == ({"newer": newer}, [])
    assert [problem.code for problem in read_specs(path)[0].problems] == ["unknown_block"]


def test_a_folder(tmp_path):
    write(tmp_path / "b.json", {"tool": "Weather", "renderSpec": OTHER})
    write(tmp_path / "a.json", {"weather": SPEC, "search": OTHER})
    write(tmp_path / "c.json", "{")
    write(tmp_path / "a.sample.json", {"args": {}})
    write(tmp_path / ".hidden.json", "{")
    write(tmp_path / "notes.txt", "{")
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "dangling.json").symlink_to("nowhere")
    loaded = load_folder(tmp_path)
    assert loaded.specs == {"weather": SPEC, "search": OTHER}
    assert [problem.removeprefix(f"{tmp_path}/").partition(": it is not JSON")[0] for problem in loaded.problems] == [
        f"b.json: {tmp_path / 'a.json'} has a spec of 'Weather' already: remove one of them",
        "c.json",
        "dangling.json: there is no such file",
        "folder.json: it is not a regular file",
        "pipe.json: it is not a regular file",
    ]


def test_a_folder_that_is_not_there_has_none(tmp_path):
    assert load_folder(tmp_path / "none") == load_folder(tmp_path)
    assert load_folder(tmp_path).problems == []


@pytest.mark.parametrize("path", ["file", "nul\0"])
def test_a_path_that_is_no_folder_is_reported(tmp_path, path):
    write(tmp_path / "file", "x")
    loaded = load_folder(tmp_path / path)
    assert loaded.specs == {}
    assert len(loaded.problems) == 1


@given(st.one_of(JSON.map(json.dumps).map(str.encode), st.binary(max_size=60)))
def test_any_file_at_all(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    loaded = load_file(path)
    assert loaded.specs or loaded.problems


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"VANTAGE_HOME": "/v", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/v/specs"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/vantage/specs"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/vantage/specs"),
        ({"HOME": "/h", "VANTAGE_HOME": ""}, "/h/.local/state/vantage/specs"),
    ],
)
def test_where_the_folder_is(environment, path):
    assert specs_folder(environment) == path


def test_without_any_home_in_the_environment():
    assert specs_folder({}) == str(Path.home() / ".local/state/vantage/specs")
