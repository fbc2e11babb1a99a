"""A program that guesses a number by talking to another one in a real terminal: run, wait, answer, go on.

python examples/guessing.py
"""

import asyncio
from pathlib import Path

from vantage import open_terminal

GAME = Path(__file__).parent / "guess"


async def main() -> None:
    async with open_terminal() as terminal:
        game = await terminal.exec_interactive(str(GAME))
        low, high, cursor = 1, 10, game.cursor
        while True:
            asked = await terminal.wait_for("Guess a number", from_cursor=cursor)
            guess = (low + high) // 2
            print(f"I guess {guess}.", end=" ")
            await terminal.send(f"{guess}\r")
            said = await terminal.wait_for("Too low|Too high|Correct!", regex=True, from_cursor=asked.cursor)
            print(f"{said.match_text}")
            cursor = said.cursor
            if said.match_text == "Correct!":
                break
            low, high = (guess + 1, high) if said.match_text == "Too low" else (low, guess - 1)
        await terminal.wait_for("PROMPT", from_cursor=cursor)
        block = (await terminal.read_block(game.block_id)).block
        print(f"The game ended with {block.exit_code} after {block.duration_ms:.0f} ms.")


if __name__ == "__main__":
    asyncio.run(main())
