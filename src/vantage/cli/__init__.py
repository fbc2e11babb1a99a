"""The command line: commands are loaded when they are called."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

# command → (where it is, as `module:name` below commands/, what it does)
_COMMANDS = {
    "new": ("conversations:new", "Make a conversation, and print its id."),
    "ls": ("conversations:ls", "List conversations."),
    "status": ("conversations:status", "Say what a conversation's terminal does now."),
    "rename": ("conversations:rename", "Give a conversation another name."),
    "close": ("conversations:close", "End a conversation's shell, and keep its files."),
    "delete": ("conversations:delete", "End a conversation's shell, and remove its files."),
    "exec": ("terminal.run:exec_command", "Run a shell command, print what it prints, exit with its exit code."),
    "run": ("terminal.run:run", "Start a program to talk to: a REPL, a debugger, an editor."),
    "send": ("terminal.input:send", "Type text, or a secret, into the program that runs."),
    "keys": ("terminal.input:keys", "Press keys by name: Up Up Enter."),
    "wait": ("terminal.input:wait", "Wait until something appears, ends or falls silent."),
    "end": ("terminal.run:end", "End the program that `run` started; it is asked to leave first."),
    "reset": ("terminal.run:reset", "Kill everything in the terminal, and start a fresh shell."),
    "resize": ("terminal.run:resize", "Give the terminal another size."),
    "blocks": ("look.output:blocks", "List the commands that ran."),
    "read": ("look.output:read", "Print what a command printed."),
    "search": ("look.output:search", "Find lines in what was printed."),
    "watch": ("look.watch:watch", "Show a conversation's timeline, live."),
    "attach": ("look.attach:attach", "Make this terminal a view of the agent's, and type into it."),
    "requests": ("requests:requests", "List what people are asked, in all conversations."),
    "answer": ("requests:answer", "Answer a question that people are asked."),
    "agent": ("agents.agent:agent", "Run an agent in a conversation, and talk to it here."),
    "say": ("agents.agent:say", "Give the agent of a conversation a message."),
    "interrupt": ("agents.agent:interrupt", "Stop the turn of a conversation's agent."),
    "mcp": ("agents.mcp:mcp", "Give an agent a terminal: MCP on standard input and output."),
    "serve": ("server.serve:serve", "Serve conversations to agents and to the people who watch them."),
    "stop": ("server.stop:stop", "End the server; its shells live on."),
    "open": ("server.open:open", "Open the page in a browser, logged in."),
    "token": ("server.token:token", "Make, list and revoke tokens: for other programs, and for watching only."),
    "format": ("agents.format:format", "Show an agent's JSON stream as readable text."),
    "ingest": ("agents.ingest:ingest", "Log an agent's JSON stream as a conversation, so that it can be watched live."),
    "spec": ("agents.spec:spec", "Check and preview render specs, for extension authors."),
    "screen": ("look.screen:screen", "Print what is on a terminal's screen, or was: as text, SVG, PNG, HTML or JSON."),
    "export": ("look.export:export", "Write a whole conversation as one file: a page, markdown, text, or a recording."),
    "rebuild": (
        "server.rebuild:rebuild",
        "Derive a terminal's text and blocks from its raw output again, or check that they agree.",
    ),
    "doctor": ("server.doctor:doctor", "Say what works on this machine and what does not, with the way out."),
    "demo": ("agents.demo:demo", "Show what Vantage does, in a minute: no model, no network, real programs."),
    "connect": (
        "agents.connect:connect",
        "Connect Claude Code, Codex, Gemini CLI and others: their MCP configuration.",
    ),
    "context": (
        "agents.context:context",
        "Print the display instruction for this terminal, for any agent's system prompt.",
    ),
}

# heading → commands, in the order in which a newcomer needs them; a command without a heading comes last
_GROUPS = {
    "Conversations": ("new", "ls", "status", "rename", "close", "delete"),
    "Run and talk": ("exec", "run", "send", "keys", "wait", "end", "reset", "resize"),
    "Look": ("watch", "attach", "screen", "blocks", "read", "search", "export"),
    "People": ("requests", "answer"),
    "Agents": ("agent", "say", "interrupt", "demo", "format", "ingest", "context", "connect", "mcp", "spec"),
    "The server": ("serve", "stop", "open", "token", "doctor", "rebuild"),
}


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of writing to a full disk."""


@contextmanager
def _full_disk_reported() -> Iterator[None]:
    """A full disk is an error in one line."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        from vantage.cli.display.streams import leave_quietly

        leave_quietly()
        raise click.ClickException(
            f"the output cannot be written: {error.strerror}: make room, or send it elsewhere"
        ) from None


class _Group(click.Group):
    """A group that imports only the command that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = vars(import_module(f"vantage.cli.commands.{module}"))[name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:  # as git and gh do
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from vantage.errors import did_you_mean

            hint = did_you_mean(args[0], _COMMANDS, otherwise="see 'vantage --help'")
            ctx.fail(f"there is no command '{args[0]}': {hint}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        if None in (sys.stdin, sys.stdout, sys.stderr):
            from vantage.cli.display.streams import open_closed_streams

            open_closed_streams()
        return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            with _full_disk_reported():  # `--help` and `--version` print here
                return super().make_context(*args, **extra)
        except click.UsageError as error:
            error.ctx = None  # click prints the usage of the context it finds here
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _full_disk_reported():
                return super().invoke(ctx)
        except click.ClickException as error:
            from vantage.text.sanitize import sanitize

            vars(error)["message"] = sanitize(error.message)  # it may quote foreign text
            if isinstance(error, click.UsageError):
                error.ctx = None  # click prints the usage of the context it finds here
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        named = {name for names in _GROUPS.values() for name in names}
        groups = {**_GROUPS, "More": tuple(name for name in _COMMANDS if name not in named)}
        for heading, names in groups.items():
            if known := [(name.ljust(8), _COMMANDS[name][1]) for name in names if name in _COMMANDS]:
                with formatter.section(heading):
                    formatter.write_dl(known)


def _version(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        from vantage import __version__

        click.echo(f"vantage {__version__}")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def main() -> None:
    """The terminal and the display of an AI agent.

    An agent gets a terminal that it can drive, wait on and see; people watch what it does, fitted to the display that
    they use. Commands that need a server start one.

    \b
      vantage demo                          what it does, in a minute
      vantage connect claude --write        your own Claude Code gets a terminal (or codex, gemini, opencode …)
      vantage new work                      a conversation: a shell, and a log of what happens
      vantage exec work -- make test        runs it, prints what it prints, exits with its exit code
      vantage watch work                    its timeline, live

    CONVERSATION may be left out where VANTAGE_CONVERSATION names it, or where there is only one.
    """
