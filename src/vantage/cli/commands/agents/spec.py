"""`vantage spec`: checks and draws render specs, for extension authors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.values import PROFILES, SURFACES
from vantage.cli.errors import WrongUsage
from vantage.client.retry import Retry
from vantage.errors import did_you_mean

if TYPE_CHECKING:
    from vantage.conversation.store.specs.files import Found
    from vantage.events import Json
    from vantage.presentation import PresentationContext
    from vantage.timeline.specs.preview import Sample

Wait = Callable[[], object]
"""Returns when it is time to look at a watched file again."""


class _Group(click.Group):
    command_class = OneLineCommand

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise WrongUsage(f"there is no command '{args[0]}': {did_you_mean(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Group)
def spec() -> None:
    """Check and preview render specs, for extension authors.

    A file holds one spec, {"tool": NAME, "renderSpec": SPEC}, or an object of specs by tool.
    """


@spec.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The problems as a JSON list.")
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """List every problem of the specs in the files.

    A folder stands for the *.json files in it. Exits with 1 when a spec would be refused; warnings alone leave it 0.

    \b
      vantage spec check weather.json
      vantage spec check ~/.local/state/vantage/specs
    """
    from vantage.conversation.store.specs.files import read_specs, report

    read = [(file, found) for file in _expanded(files) for found in read_specs(file)]
    refused = any(found.refused for _, found in read)
    if as_json:
        _print_json([problem for file, found in read for problem in _as_json(file, found)])
    else:
        for file, found in read:
            for line in report(file, found):
                _print(line)
        if not refused:
            _print(_verdict(len(read), sum(len(found.problems) for _, found in read)))
    if refused:
        raise SystemExit(1)


def _expanded(files: tuple[Path, ...]) -> Iterator[Path]:
    from vantage.conversation.store.specs.files import spec_paths

    for file in files:
        if not file.is_dir():
            yield file
            continue
        inside = spec_paths(file)
        if not inside:
            raise click.ClickException(f"{file}: there is no *.json in it: name the files themselves")
        yield from inside


def _as_json(file: Path, found: Found) -> Iterator[dict[str, Json]]:
    import msgspec

    for problem in found.problems:
        yield {"file": str(file), "tool": found.tool, **msgspec.structs.asdict(problem)}


def _verdict(specs: int, warnings: int) -> str:
    said = f", {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
    return f"ok: {specs} spec{'' if specs == 1 else 's'}{said}"


@spec.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tool", metavar="NAME", help="Which spec, when the file has several; else what the tool is called.")
@click.option("--args", "args_text", metavar="JSON|@FILE", help="The call's arguments.")
@click.option("--output", "output_text", metavar="TEXT|@FILE", help="What came back.")
@click.option("--details", "details_text", metavar="JSON|@FILE", help="What templates see as `details`.")
@click.option("--error", metavar="TEXT", help="The call failed with this message.")
@click.option("--running", is_flag=True, help="The call has not ended.")
@click.option(
    "--surface", type=click.Choice([*SURFACES, "all"]), default="all", show_default=True, help="What to draw for."
)
@click.option("--width", type=click.IntRange(1, 65_535), metavar="N", help="Cells of content, instead of each's own.")
@click.option("--watch", is_flag=True, help="Draw again whenever the file changes; Ctrl-C leaves.")
@click.pass_obj
def preview(wait: Wait | None, /, file: Path, surface: str, width: int | None, watch: bool, **given: Any) -> None:
    """Draw a call as its spec describes it, collapsed and expanded, on every surface.

    What is not given by an option comes from the file beside it that is called NAME.sample.json, if there is one:
    an object with args, output, details, error, durationMs, and `partial` for the output of a call that still runs.

    \b
      vantage spec preview weather.json --args '{"location": "Seattle"}' --output @seattle.json
      vantage spec preview examples/specs/weather.json --surface terminal --watch
    """
    surfaces = SURFACES if surface == "all" else (surface,)

    def show() -> None:
        page = "\n".join(_page(file, surfaces, width, given))
        if watch and sys.stdout.isatty():
            click.clear()
        _print(page)

    if not watch:
        show()
        return
    followed = [file, _sample_path(file), *(Path(text[1:]) for text in given.values() if _is_file(text))]
    try:
        follow(show, lambda: [_stamp(path) for path in followed], wait or Retry().pause)
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def follow(show: Callable[[], None], stamp: Callable[[], object], wait: Wait) -> None:
    """Shows now, and again after each wait if the file's stamp has changed. Errors are printed, not raised."""
    seen: object = None
    while True:
        stamped = stamp()
        if stamped != seen:
            seen = stamped
            try:
                show()
            except click.ClickException as error:
                error.show()
        wait()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _page(file: Path, surfaces: tuple[str, ...], width: int | None, given: dict[str, Any]) -> Iterator[str]:
    """The drawings under their headings, then the diagnostics."""
    import msgspec

    from vantage.conversation.store.specs.files import report
    from vantage.surfaces import draw
    from vantage.timeline.specs.preview import preview_row

    found = _chosen(file, given["tool"])
    tool = given["tool"] or found.tool
    row, notes = preview_row(tool, found.value, _sample(file, given))
    notes += [line.removeprefix(f"{file}: ") for line in report(file, found)]
    for surface in surfaces:
        context = _context(surface, width)
        for state, shown in (("collapsed", msgspec.structs.replace(row, blocks=[])), ("expanded", row)):
            rendered = draw([shown], context, surface)
            yield f"── {surface}, {state}"
            yield ""
            yield shown_text(rendered.output)
            yield ""
            notes += [f"{surface}: {note}" for note in rendered.fitted]
    if notes:
        yield "── diagnostics"
        yield ""
        yield from [f"- {note}" for note in dict.fromkeys(notes)]


def shown_text(output: Any) -> str:
    """The output of a surface as text: messages as JSON, a string unchanged."""
    if isinstance(output, str):
        return output.rstrip("\n")
    import json

    return json.dumps(output, indent=2, ensure_ascii=False)


def _context(surface: str, width: int | None) -> PresentationContext:
    import dataclasses

    from vantage import own_terminal
    from vantage.presentation import profile, terminal_context

    if surface == "terminal":  # the one on stdout, so that a pipe gets no colours
        context = terminal_context(own_terminal.read((1,)))
    else:
        context = profile(PROFILES.get(surface, surface))
    return context if width is None else dataclasses.replace(context, content_width=width)


def _chosen(file: Path, tool: str | None) -> Found:
    """The spec to draw. A refused spec ends the command with all its problems."""
    from vantage.conversation.store.specs.files import read_specs, report
    from vantage.timeline.calls import normal_name

    specs = read_specs(file)
    named = {found.tool: found for found in specs}
    if len(specs) == 1:
        (found,) = specs
    elif tool is None:
        raise WrongUsage(f"{file} has specs of {', '.join(named)}: choose one with --tool")
    else:
        matching = [found for name, found in named.items() if normal_name(name) == normal_name(tool)]
        if not matching:
            raise WrongUsage(f"{file} has no spec of '{tool}': {did_you_mean(tool, named)}")
        (found, *_) = matching
    if found.refused:
        raise _RefusedError(list(report(file, found)))
    return found


class _RefusedError(click.ClickException):
    """A spec with problems: a line for each."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))

    def show(self, file: Any = None) -> None:
        click.echo(self.message.encode("utf-8", "replace"), file=file, err=file is None)


def _sample_path(file: Path) -> Path:
    from vantage.conversation.store.specs.files import SAMPLE

    return file.with_name(file.stem + SAMPLE)


def _sample(file: Path, given: dict[str, Any]) -> Sample:
    """The sample: the options, with missing ones taken from the file beside the spec."""
    from vantage.timeline.specs.preview import Sample

    beside = read_sample(_sample_path(file), running=given["running"])
    output = given["output_text"]
    return Sample(
        args=_json("--args", given["args_text"]) if given["args_text"] is not None else beside.args,
        output=_text("--output", output) if output is not None else beside.output,
        details=_json("--details", given["details_text"]) if given["details_text"] is not None else beside.details,
        error=given["error"] if given["error"] is not None else beside.error,
        duration_ms=beside.duration_ms,
        running=given["running"],
    )


def read_sample(path: Path, *, running: bool = False) -> Sample:
    """The content of a file of sample data; with `running`, `partial` is the output. Without a file it is empty."""
    from vantage.conversation.store.specs.files import read_json
    from vantage.timeline.specs.preview import Sample

    if not path.exists():
        return Sample(running=running)
    value, problem = read_json(path)
    if problem is not None or not isinstance(value, dict):
        raise click.ClickException(
            f"{path}: {problem.message if problem else 'it is not an object'}: mend or remove it"
        )
    output = value.get("partial", value.get("output")) if running else value.get("output")
    return Sample(
        args=value.get("args"),
        output=output,
        details=value.get("details"),
        error=value.get("error"),
        duration_ms=value.get("durationMs"),
        running=running,
    )


def _is_file(text: Any) -> bool:
    return isinstance(text, str) and text.startswith("@")


def _text(option: str, text: str) -> str:
    if not _is_file(text):
        return text
    try:
        return Path(text[1:]).read_text("utf-8", errors="replace")
    except OSError as error:
        raise WrongUsage(f"{option}: cannot read {text[1:]}: {error.strerror}") from error


def _json(option: str, text: str) -> Json:
    import msgspec

    try:
        return msgspec.json.decode(_text(option, text))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        way_out = """give JSON, as '{"x": 1}', or @file"""
        raise WrongUsage(f"{option} is not JSON: {error}: {way_out}") from error


def _print(text: str) -> None:
    # As bytes: UTF-8 in every locale, and the colours that the display was found to have.
    click.echo(text.encode("utf-8", "replace"))


def _print_json(value: Json) -> None:
    import json

    _print(json.dumps(value, indent=2, ensure_ascii=False))
