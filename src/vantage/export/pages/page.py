"""A whole conversation as one web page: its timeline as rows, and below it a player for its terminal.

The page loads nothing and runs only its own two scripts, which its policy names by their hashes. The player has a frame
of its own, so that neither's styles and keys affect the other.
"""

from collections.abc import Iterable, Iterator

from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.errors import NotFound
from vantage.export.moments import clock, day, day_and_clock
from vantage.export.pages.parts import escape, hash_of, holes, part
from vantage.export.pages.player import player, player_script, player_style
from vantage.export.recording import Progress
from vantage.export.rows import MAX_OUTPUT
from vantage.export.screen.themes import DAY, NIGHT, variables
from vantage.presentation import profile
from vantage.surfaces.html import row_html
from vantage.text.sanitize import one_line
from vantage.timeline.row import Row

_FOOTER = (
    f"Written by Vantage. Of one command's output, up to {MAX_OUTPUT:,} characters are here; where there was more, "
    "it says how much."
)


def page(
    folder: ConversationFolder, settings: Settings, rows: Iterable[Row], progress: Progress = lambda _done, _all: None
) -> Iterator[str]:
    """The page, piece by piece."""
    style = "\n".join(
        [variables(NIGHT, DAY), part("styles/tokens.css", "web"), part("styles/rows.css", "web"), part("page.css")],
    )
    script = part("page.js")
    title = one_line(settings.name) or settings.id
    policy = [
        "default-src 'none'",
        f"style-src {hash_of(style)} {hash_of(player_style())}",
        f"script-src {hash_of(script)} {hash_of(player_script())}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    values = {
        "policy": "; ".join(policy),
        "title": escape(title),
        "about": f"Conversation <code>{escape(settings.id)}</code>, begun {day_and_clock(settings.created)}",
        "style": style,
        "script": script,
        "footer": _FOOTER,
    }
    for text, hole in holes(part("page.html")):
        yield text
        if hole == "rows":
            yield from _timeline(rows)
        elif hole == "terminal":
            yield from _terminal(folder, progress)
        elif hole:
            yield values[hole]


def _timeline(rows: Iterable[Row]) -> Iterator[str]:
    context = profile("web")
    today = ""
    empty = True
    for row in rows:
        empty = False
        now = day(row.ts) if row.ts is not None else ""
        if now and now != today:
            today = now
            yield f'<div class="entry-day">{now}</div>\n'
        yield f'<div class="entry of-{escape(row.kind)}">{_when(row)}{row_html(row, context)}</div>\n'
    if empty:
        yield '<p class="none">Nothing was said or run.</p>\n'


def _when(row: Row) -> str:
    time = clock(row.ts) if row.ts is not None else ""
    return f'<a class="entry-when" href="#row-{escape(row.id)}">{time}</a>'


def _terminal(folder: ConversationFolder, progress: Progress) -> Iterator[str]:
    try:
        recording = player(folder, progress)
    except NotFound:
        return  # the terminal was never used
    document = recording.replace("&", "&amp;").replace("'", "&#39;")
    yield '<section id="terminal" aria-labelledby="terminal-title">\n<h2 id="terminal-title">The terminal</h2>\n'
    yield f'<iframe title="Recording of the terminal" loading="lazy" srcdoc=\'{document}\'></iframe>\n</section>'
