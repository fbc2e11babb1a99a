"""A terminal inside a program, without a server: commands, a REPL, a full-screen editor, a screenshot.

python examples/embed.py
"""

import asyncio

from vantage import open_terminal


async def main() -> None:
    async with open_terminal(cols=80, rows=24) as terminal:
        ran = await terminal.exec_block("printf '%s\\n' one two three | wc -l")
        print(f"exit {ran.exit_code}: {ran.output.strip()} lines")

        python = await terminal.exec_interactive("python3 -q")
        ready = await terminal.wait_for(">>>", from_cursor=python.cursor)
        await terminal.send("print(6 * 7)\r")
        said = await terminal.wait_for(r"^\d+$", regex=True, from_cursor=ready.cursor)
        print(f"the REPL says {said.match_text}")
        print(f"it was ended by {(await terminal.end_session(python.session_id)).how}")

        editor = await terminal.exec_interactive("vi -n note.txt", cwd="/tmp")  # noqa: S108
        await terminal.wait_for({"screen": "[New]"})  # what only the editor shows: its command is on the screen too
        await terminal.keys(["i", "h", "i", "Escape"])
        await terminal.wait_for({"screen": "hi"})
        print(f"first line of the screen: {terminal.screen().lines()[0]!r}")
        await terminal.send(":q!\r")
        await terminal.wait_for("EOF", session_id=editor.session_id)


if __name__ == "__main__":
    asyncio.run(main())
