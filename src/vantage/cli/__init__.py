"""The command line: one file per command, loaded when it is called."""

import errno
from importlib import import_module
from typing import Any

import click

# command → (its module, what it does); the function has the module's name, or stands behind a colon
_COMMANDS = {
    "new": ("conversations:new", "Make a conversation, and print its id."),
    "ls": ("conversations:ls", "List conversations."),
    "status": ("conversations:status", "Say what a conversation's terminal does now."),
    "rename": ("conversations:rename", "Give a conversation another name."),
    "close": ("conversations:close", "End a conversation's shell, and keep its files."),
    "delete": ("conversations:delete", "End a conversation's shell, and remove its files."),
    "exec": ("running:exec_command", "Run a shell command, print what it prints, exit with its exit code."),
    "run": ("running:run", "Start a program to talk to: a REPL, a debugger, an editor."),
    "send": ("talking:send", "Type text, or a secret, into whatever runs."),
    "keys": ("talking:keys", "Press keys by name: Up Up Enter."),
    "wait": ("talking:wait", "Wait until something appears, ends or falls silent."),
    "end": ("running:end", "End the program that `run` started, politely first."),
    "reset": ("running:reset", "Kill everything in the terminal, and start a fresh shell."),
    "resize": ("running:resize", "Give the terminal another size."),
    "blocks": ("reading:blocks", "List the commands that ran."),
    "read": ("reading:read", "Print what a command printed."),
    "search": ("reading:search", "Find lines in what was printed."),
    "watch": ("watch", "Show a conversation's timeline, live."),
    "attach": ("attach", "Make this terminal a view of the agent's, and type into it."),
    "mcp": ("mcp", "Give an agent a terminal: MCP on standard input and output."),
    "serve": ("serve", "Serve conversations to agents and to those who watch them."),
    "stop": ("stop", "End the server; its shells live on."),
    "open": ("open", "Open the page in a browser, logged in."),
    "token": ("token", "Make, list and revoke tokens: for other programs, for those who only watch."),
    "format": ("format", "Show an agent's JSON stream as readable text."),
    "ingest": ("ingest", "Log an agent's JSON stream as a conversation, so that it can be watched live."),
    "spec": ("spec", "Check and preview render specs, for extension authors."),
    "screen": ("screen", "Print what is on a terminal's screen, or was: as text, SVG, PNG, HTML or JSON."),
    "export": ("export", "Write a whole conversation as one file: a page, markdown, text, or a recording."),
    "rebuild": ("rebuild", "Derive a terminal's text and blocks from its raw output again, or check that they agree."),
    "doctor": ("doctor", "Say what works on this machine and what does not, with the way out."),
    "demo": ("demo", "Show what Vantage does, in a minute: no model, no network, real programs."),
    "connect": ("connect", "Connect Claude Code, Codex, Gemini CLI and others: their MCP configuration."),
    "context": ("context", "Print the display instruction for this terminal, for any agent's system prompt."),
}

# heading → commands, from the first thing one does to the last; what stands nowhere comes at the end
_GROUPS = {
    "Conversations": ("new", "ls", "status", "rename", "close", "delete"),
    "Run and talk": ("exec", "run", "send", "keys", "wait", "end", "reset", "resize"),
    "Look": ("watch", "attach", "screen", "blocks", "read", "search", "export"),
    "Agents": ("demo", "format", "ingest", "context", "connect", "mcp", "spec"),
    "The server": ("serve", "stop", "open", "token", "doctor", "rebuild"),
}


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What writing to standard output fails with where the disk is full."""


class _Group(click.Group):
    """A group that knows its commands by name and imports only the one that is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, function = _COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"vantage.cli.{module}"), function or module)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:  # as git and gh have it
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from vantage.errors import nearest_word

            near = nearest_word(args[0], _COMMANDS)
            hint = f"did you mean '{near}'?" if near else "see 'vantage --help'"
            ctx.fail(f"there is no command '{args[0]}': {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            from vantage.text.sanitize import sanitize

            vars(error)["message"] = sanitize(error.message)  # it may repeat what came from strangers
            raise
        except OSError as error:
            if error.errno not in _NO_ROOM or error.filename is not None:
                raise
            from vantage.cli.streams import leave_quietly

            leave_quietly()
            raise click.ClickException(
                f"the output cannot be written: {error.strerror}: make room, or send it elsewhere"
            ) from None

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

    An agent gets a terminal that it can drive, wait on and see; people watch what it does, fitted to whatever they
    look at it with. Commands that need a server start one.

    \b
      vantage demo                          what it does, in a minute
      vantage connect claude --write        your own Claude Code gets a terminal (or codex, gemini, opencode …)
      vantage new work                      a conversation: a shell, and a log of what happens
      vantage exec work -- make test        runs it, prints what it prints, exits with its exit code
      vantage watch work                    its timeline, live

    CONVERSATION may be left out: VANTAGE_CONVERSATION says which one is meant, or it is the only one there is.
    """
