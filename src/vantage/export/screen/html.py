"""A screen as HTML: one `<pre>` with spans, or a page. Everything is escaped; links are http, https and mailto."""

from html import escape

from vantage.export.screen.pieces import DARK, MISLEADS, PLAIN, CellStyle, Piece, Theme, elsewhere, pieces, style_of
from vantage.export.screen.svg import decoration
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.text.sanitize import one_line


def screen_html(
    snapshot: ScreenSnapshot, *, theme: Theme = DARK, cursor: bool = True, page: bool = False, title: str | None = None
) -> str:
    rows = [_row(snapshot, row, theme, cursor=cursor) for row in range(snapshot.rows_count)]
    name = escape(one_line(snapshot.title if title is None else title))
    pre = (
        f'<pre class="screen" role="img" aria-label="{name or "Terminal"}" style="background:{theme.background};'
        f'color:{theme.foreground};font-family:monospace;line-height:1.3;padding:1em">' + "\n".join(rows) + "</pre>"
    )
    if not page:
        return pre
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<title>{name or "Terminal"}</title>\n<body style="margin:0;background:{theme.background}">\n{pre}\n'
    )


def _row(snapshot: ScreenSnapshot, row: int, theme: Theme, *, cursor: bool) -> str:
    parts = []
    at = 0
    here = snapshot.cursor.col if cursor and snapshot.cursor.visible and snapshot.cursor.row == row else -1
    for piece in pieces(snapshot, row):
        if piece.start > at:
            parts += _spans(Piece(at, piece.start - at, " " * (piece.start - at), PLAIN), theme, here)
        parts += _spans(piece, theme, here)
        at = piece.start + piece.cells
    if here >= at:
        parts += [" " * (here - at), _cursor(" ", theme)]
    return "".join(parts).rstrip(" ")


def _spans(piece: Piece, theme: Theme, cursor: int) -> list[str]:
    style = style_of(piece.run, theme)
    if not piece.start <= cursor < piece.start + piece.cells:
        return [_span(piece.text, style, piece.leads_to)]
    index = cursor - piece.start if len(piece.text) == piece.cells else 0
    before, under, after = piece.text[:index], piece.text[index : index + 1], piece.text[index + 1 :]
    if len(piece.text) != piece.cells:  # a wide character, or one with marks on it
        before, under, after = "", piece.text, ""
    leads_to = piece.leads_to
    return [_span(before, style, leads_to), _cursor(under, theme), _span(after, style, leads_to)]


def _cursor(text: str, theme: Theme) -> str:
    return f'<span class="cursor" style="background:{theme.foreground};color:{theme.background}">{escape(text)}</span>'


def _span(text: str, style: CellStyle, leads_to: str | None = None) -> str:
    if not text:
        return ""
    styles = []
    if style.ground:
        styles.append(f"background:{style.ground}")
    if "hidden" in style.attrs:
        styles.append("color:transparent")
    styles += [css for name, css in _STYLES if name in style.attrs]
    if lines := decoration(style):
        styles.append(f"text-decoration:{lines}")
    shown = escape(text)
    if style.link:
        shown = f'<a href="{escape(style.link)}" rel="noopener noreferrer" style="color:inherit">{shown}</a>'
    if leads_to:
        styles.append(MISLEADS)
        shown = f'<span title="{escape(elsewhere(leads_to))}">{shown}</span>'
    if "hidden" not in style.attrs:
        styles.append(f"color:{style.ink}")
    return f'<span style="{";".join(styles)}">{shown}</span>'


_STYLES = (("bold", "font-weight:bold"), ("italic", "font-style:italic"), ("dim", "opacity:.6"))
