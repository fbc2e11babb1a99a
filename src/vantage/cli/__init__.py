"""The command line: one file per command, loaded when it is called."""

from importlib import import_module
from typing import Any

import click

# command → (its module, what it does); the function has the module's name
_COMMANDS = {
    "format": ("format", "Show an agent's JSON stream as readable text."),
    "spec": ("spec", "Check and preview render specs, for extension authors."),
    "screen": ("screen", "Print what is on a terminal's screen, or was: as text, SVG, PNG, HTML or JSON."),
    "export": ("export", "Write a terminal's whole life as one file: an asciicast, or a page that plays it."),
    "rebuild": ("rebuild", "Derive a terminal's text and blocks from its raw output again, or check that they agree."),
    "doctor": ("doctor", "Say what works on this machine and what does not, with the way out."),
    "context": ("context", "Print the display instruction for this terminal, for any agent's system prompt."),
}


class _Group(click.Group):
    """A group that knows its commands by name and imports only the one that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"vantage.cli.{module}"), module)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from vantage.errors import nearest_word

            near = nearest_word(args[0], _COMMANDS)
            hint = f"did you mean '{near}'?" if near else "see 'vantage --help'"
            ctx.fail(f"there is no command '{args[0]}': {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


def _version(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        from vantage import __version__

        click.echo(f"vantage {__version__}")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def main() -> None:
    """The terminal and the display of an AI agent.

    Show what an agent does, fitted to whatever it is looked at with, and tell the model what that display can show.
    """
