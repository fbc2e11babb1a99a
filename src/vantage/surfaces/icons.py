"""Icons by name: one neutral vocabulary, and the form of each icon on every surface.

A glyph takes one cell and has no emoji form, so that no terminal draws it wider than it is counted. Pictures for the
web are strokes on a grid of 16 by 16. Names of SF Symbols map to the same icons; an unknown name is a dot.
"""

from functools import lru_cache

import msgspec


class Icon(msgspec.Struct, frozen=True):
    name: str
    glyph: str
    """One terminal cell."""
    ascii: str
    """One character, for displays without Unicode."""
    emoji: str
    """For chat clients."""
    svg: str
    """What an SVG path's `d` says: lines to be stroked, not filled."""


_ROUND = "M8 2a6 6 0 1 1 0 12a6 6 0 1 1 0-12"

_TABLE = (
    Icon("dot", "•", "*", "🔹", "M8 6.5a1.5 1.5 0 1 1 0 3a1.5 1.5 0 1 1 0-3"),
    Icon("bell", "♪", "!", "🔔", "M3 12h10l-1.5-2V7a3.5 3.5 0 0 0-7 0v3zM7 14h2"),
    Icon("bolt", "↯", "z", "⚡", "M9 2L4 9h4l-1 5l5-7H8z"),
    Icon("book", "❏", "B", "📖",
         "M8 4C6.5 3 4.5 2.5 2 2.5V12c2.5 0 4.5.5 6 1.5"
         "c1.5-1 3.5-1.5 6-1.5V2.5C11.5 2.5 9.5 3 8 4v9.5"),
    Icon("brain", "✺", "%", "🧠",
         "M8 3a2 2 0 0 0-3.5.5A2 2 0 0 0 3 7a2.5 2.5 0 0 0 1 4a2 2 0 0 0 4 1"
         "V3a2 2 0 0 1 3.5.5A2 2 0 0 1 13 7a2.5 2.5 0 0 1-1 4a2 2 0 0 1-4 1"),
    Icon("branch", "⎇", "Y", "🌿", "M5 2v12M5 10c0-3 6-1 6-5M11 5V2"),
    Icon("bug", "✱", "&", "🐞",
         "M5 7a3 3 0 0 1 6 0v3a3 3 0 0 1-6 0zM8 7v6M2 5l3 2"
         "M14 5l-3 2M2 13l3-2M14 13l-3-2M6 4L5 2M10 4l1-2"),
    Icon("calendar", "▦", "#", "📅", "M2 4h12v10H2zM2 7h12M5 2v3M11 2v3"),
    Icon("cart", "⊔", "U", "🛒", "M1 2h2l2 8h7l2-6H4M6 13v.01M11 13v.01"),
    Icon("chart", "▥", "|", "📊", "M2 2v12h12M5 11V8M8 11V4M11 11V6"),
    Icon("chat", "❝", '"', "💬", "M2 3h12v8H7l-3 3v-3H2z"),
    Icon("check", "✓", "v", "✔️", "M3 8.5l3.5 3.5L13 4.5"),
    Icon("clock", "◷", "@", "🕒", f"{_ROUND}M8 5v3l2.5 1.5"),
    Icon("cloud", "◠", "~", "☁️", "M4.5 12a3 3 0 0 1 0-6a4 4 0 0 1 7.5 1a2.5 2.5 0 0 1 0 5z"),
    Icon("code", "λ", "/", "🧩", "M5 4L1 8l4 4M11 4l4 4l-4 4M9 3L7 13"),
    Icon("copy", "❐", "=", "📋", "M5 5h9v9H5zM2 11V2h9"),
    Icon("cross", "✗", "x", "✖️", "M4 4l8 8M12 4l-8 8"),
    Icon("database", "⛁", "D", "🗄️", "M3 4c0-3 10-3 10 0s-10 3-10 0v8c0 3 10 3 10 0V4M3 8c0 3 10 3 10 0"),
    Icon("download", "↓", "v", "📥", "M8 2v8M4.5 7L8 10.5L11.5 7M2 14h12"),
    Icon("edit", "✎", "e", "✏️", "M2 14l1-4l8-8l3 3l-8 8zM9 4l3 3"),
    Icon("eye", "◉", "o", "👀", "M1 8c3-6 11-6 14 0c-3 6-11 6-14 0M8 6a2 2 0 1 1 0 4a2 2 0 1 1 0-4"),
    Icon("file", "▤", "f", "📄", "M4 2h5l4 4v8H4zM9 2v4h4M6 9h5M6 11.5h5"),
    Icon("flag", "⚑", "P", "🚩", "M3 14V2h9l-2 3l2 3H3"),
    Icon("folder", "▸", "d", "📁", "M2 13V3h4l1.5 2H14v8z"),
    Icon("gear", "❂", "o", "⚙️",
         "M8 5.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5M8 1.5v2M8 12.5v2M1.5 8h2"
         "M12.5 8h2M3.5 3.5l1.5 1.5M11 11l1.5 1.5M12.5 3.5L11 5M5 11l-1.5 1.5"),
    Icon("globe", "⊕", "O", "🌐", f"{_ROUND}M2 8h12M8 2c-4 4-4 8 0 12c4-4 4-8 0-12"),
    Icon("heart", "♡", "<", "❤️", "M8 13.5L2.5 8a3 3 0 0 1 5.5-3.5A3 3 0 0 1 13.5 8z"),
    Icon("home", "⌂", "^", "🏠", "M2 8l6-6l6 6M4 6.5V14h8V6.5"),
    Icon("image", "▣", "I", "🖼️", "M2 3h10l2 2v8H2zM2 11l3.5-3.5L9 11l2-2l3 3M10 6v.01"),
    Icon("info", "i", "i", "ℹ️", f"{_ROUND}M8 7.5V11M8 5v.01"),
    Icon("key", "⚷", "k", "🔑", "M5 5a3 3 0 1 1 0 6a3 3 0 1 1 0-6M8 8h6v3M11.5 8v2"),
    Icon("link", "∞", "-", "🔗",
         "M7 9a3 3 0 0 1 0-4l1.5-1.5a3 3 0 0 1 4 4L11 9"
         "M9 7a3 3 0 0 1 0 4l-1.5 1.5a3 3 0 0 1-4-4L5 7"),
    Icon("list", "≡", "=", "📝", "M6 4h8M6 8h8M6 12h8M2.5 4v.01M2.5 8v.01M2.5 12v.01"),
    Icon("lock", "⊠", "L", "🔒", "M3 7h10v7H3zM5 7V5a3 3 0 0 1 6 0v2M8 10v1.5"),
    Icon("mail", "@", "@", "✉️", "M2 4h12v9H2zM2 4.5l6 5l6-5"),
    Icon("map", "◎", "+", "🗺️", "M2 4l4-2l4 2l4-2v10l-4 2l-4-2l-4 2zM6 2v10M10 4v10"),
    Icon("merge", "⋈", "Y", "🔀", "M4 2v12M4 4c0 5 8 2 8 7v3M10 12l2 2l2-2"),
    Icon("money", "¤", "$", "💰", f"{_ROUND}M10 6c-1-1.5-4-1-4 .5S10 8 10 9.5S7 11.5 6 10M8 4v8"),
    Icon("moon", "☾", "c", "🌙", "M13 10A6 6 0 1 1 6 3a5 5 0 0 0 7 7"),
    Icon("music", "♫", "m", "🎵",
         "M6 12V3l7-1v9M6 12a2 2 0 1 1-4 0a2 2 0 0 1 4 0"
         "M13 11a2 2 0 1 1-4 0a2 2 0 0 1 4 0"),
    Icon("package", "⬡", "H", "📦", "M8 2l6 3v6l-6 3l-6-3V5zM2 5l6 3l6-3M8 8v6"),
    Icon("people", "⚇", "8", "👥",
         "M6 3a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5M1.5 14c0-5 9-5 9 0"
         "M11 3.5a2 2 0 0 1 0 4M12 10c1.5.5 2.5 2 2.5 4"),
    Icon("person", "☻", "u", "👤", "M8 2a3 3 0 1 1 0 6a3 3 0 1 1 0-6M2.5 14c0-6 11-6 11 0"),
    Icon("phone", "✆", "t", "📞", "M3 2h3l1 4l-2 1c1 2 2 3 4 4l1-2l4 1v3c-6 2-13-5-11-11"),
    Icon("play", "▷", ">", "▶️", "M4 2.5v11L13 8z"),
    Icon("refresh", "↻", "r", "🔄", "M13 8A5 5 0 1 1 11.5 4.5L13 6M13 2.5V6H9.5"),
    Icon("rocket", "➚", "^", "🚀",
         "M6 10C6 6 9 2 14 2c0 5-4 8-8 8z"
         "M6 10l-3-1l2-3l2.5.5M7 13l3-2l-.5-2.5M2 14l2.5-2.5"),
    Icon("search", "⌕", "?", "🔍", "M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9M10.5 10.5L14 14"),
    Icon("send", "➤", ">", "📨", "M2 8l12-6l-4 12l-3-5zM14 2L7 9"),
    Icon("shield", "◈", "V", "🛡️", "M8 2l5 2v4c0 3-2 5-5 6c-3-1-5-3-5-6V4z"),
    Icon("star", "★", "*", "⭐", "M8 2l1.8 4l4.2.4l-3.2 2.8l1 4.3L8 11.2l-3.8 2.3l1-4.3L2 6.4L6.2 6z"),
    Icon("stop", "■", "#", "⏹️", "M4 4h8v8H4z"),
    Icon("tag", "◇", "#", "🏷️", "M2 2h6l6 6l-6 6l-6-6zM5 5v.01"),
    Icon("terminal", "❯", "$", "💻", "M2 3h12v10H2zM4.5 6L7 8l-2.5 2M8.5 10.5h3"),
    Icon("test", "⊨", "T", "🧪", "M6 2v4l-3.5 7.5h11L10 6V2M5 2h6M4.5 10h7"),
    Icon("tool", "⋔", "w", "🔧",
         "M2.5 13.5l6-6a3.5 3.5 0 0 1 4.5-5L11 4.5l.5 1.5l1.5.5l2-2"
         "a3.5 3.5 0 0 1-5 4.5l-6 6z"),
    Icon("trash", "⌫", "X", "🗑️", "M2 4h12M6 4V2h4v2M4 4l1 10h6l1-10M7 7v4M9 7v4"),
    Icon("upload", "↑", "^", "📤", "M8 10.5V2M4.5 5.5L8 2l3.5 3.5M2 14h12"),
    Icon("warning", "△", "!", "⚠️", "M8 2l6.5 12h-13zM8 6.5V10M8 12v.01"),
    Icon("weather", "☼", "~", "🌤️",
         "M6 11.5a2.5 2.5 0 1 1 1-4.8a3 3 0 0 1 5.5 1.3a1.8 1.8 0 0 1 0 3.5z"
         "M3 5.5a3 3 0 0 1 5-1.5M5.5 2V1M2.5 3l-.7-.7M1.5 6h-1M8.5 2.5l.7-.7"),
)  # fmt: skip

ICONS: dict[str, Icon] = {icon.name: icon for icon in _TABLE}
DOT = ICONS["dot"]

# SF Symbol, or the first of its dotted parts → ours; only if it is not the name of an icon already
_SYMBOLS: dict[str, str] = {
    "airplane": "send",
    "alarm": "clock",
    "allergens": "bug",
    "ant": "bug",
    "antenna": "cloud",
    "app": "package",
    "archivebox": "package",
    "arrow.2.circlepath": "refresh",
    "arrow.branch": "branch",
    "arrow.clockwise": "refresh",
    "arrow.counterclockwise": "refresh",
    "arrow.down": "download",
    "arrow.merge": "merge",
    "arrow.triangle.2.circlepath": "refresh",
    "arrow.triangle.branch": "branch",
    "arrow.triangle.merge": "merge",
    "arrow.triangle.pull": "merge",
    "arrow.triangle.swap": "merge",
    "arrow.up": "upload",
    "arrow.up.message": "send",
    "arrow.up.right": "link",
    "at": "mail",
    "bag": "cart",
    "banknote": "money",
    "basket": "cart",
    "battery": "bolt",
    "bookmark": "tag",
    "books": "book",
    "briefcase": "folder",
    "bubble": "chat",
    "building": "home",
    "camera": "image",
    "character.book.closed": "book",
    "checklist": "list",
    "checkmark": "check",
    "checkmark.seal": "star",
    "checkmark.shield": "shield",
    "chevron.left.forwardslash.chevron.right": "code",
    "chevron.left.slash.chevron.right": "code",
    "circle": "dot",
    "clipboard": "copy",
    "cloud.bolt": "weather",
    "cloud.drizzle": "weather",
    "cloud.fog": "weather",
    "cloud.hail": "weather",
    "cloud.heavyrain": "weather",
    "cloud.moon": "weather",
    "cloud.rain": "weather",
    "cloud.sleet": "weather",
    "cloud.snow": "weather",
    "cloud.sun": "weather",
    "command": "terminal",
    "compass": "map",
    "cpu": "gear",
    "creditcard": "money",
    "cube": "package",
    "curlybraces": "code",
    "cylinder": "database",
    "desktopcomputer": "terminal",
    "display": "terminal",
    "doc": "file",
    "doc.badge.gearshape": "gear",
    "doc.on.clipboard": "copy",
    "doc.on.doc": "copy",
    "doc.text.magnifyingglass": "search",
    "dollarsign": "money",
    "envelope": "mail",
    "eurosign": "money",
    "exclamationmark": "warning",
    "externaldrive": "database",
    "eyes": "eye",
    "flask": "test",
    "function": "code",
    "gauge": "chart",
    "gearshape": "gear",
    "hammer": "tool",
    "hand.raised": "stop",
    "hare": "bolt",
    "heart.text.square": "heart",
    "hourglass": "clock",
    "house": "home",
    "icloud": "cloud",
    "internaldrive": "database",
    "laptopcomputer": "terminal",
    "ladybug": "bug",
    "lightbulb": "info",
    "line.3.horizontal": "list",
    "line.horizontal.3": "list",
    "list.bullet": "list",
    "location": "map",
    "macwindow": "terminal",
    "magnifyingglass": "search",
    "mappin": "map",
    "megaphone": "bell",
    "message": "chat",
    "minus": "cross",
    "music.note": "music",
    "network": "globe",
    "newspaper": "book",
    "note": "file",
    "number": "tag",
    "opticaldisc": "database",
    "paintbrush": "edit",
    "paintpalette": "edit",
    "paperclip": "link",
    "paperplane": "send",
    "pencil": "edit",
    "person.2": "people",
    "person.3": "people",
    "person.crop.circle.badge.checkmark": "person",
    "photo": "image",
    "pin": "map",
    "point.3.connected.trianglepath.dotted": "branch",
    "power": "bolt",
    "questionmark": "info",
    "quote": "chat",
    "rectangle.and.pencil.and.ellipsis": "edit",
    "scissors": "trash",
    "scope": "search",
    "server": "database",
    "shippingbox": "package",
    "sparkle": "star",
    "sparkles": "star",
    "speaker": "music",
    "square.and.arrow.down": "download",
    "square.and.arrow.up": "upload",
    "square.and.pencil": "edit",
    "stethoscope": "test",
    "stopwatch": "clock",
    "sun": "weather",
    "table": "database",
    "tablecells": "database",
    "text.book.closed": "book",
    "text.bubble": "chat",
    "text.magnifyingglass": "search",
    "thermometer": "weather",
    "timer": "clock",
    "tornado": "weather",
    "tray": "package",
    "tray.and.arrow.down": "download",
    "tray.and.arrow.up": "upload",
    "umbrella": "weather",
    "waveform": "chart",
    "wifi": "globe",
    "wind": "weather",
    "wrench": "tool",
    "xmark": "cross",
}

_LONGEST = 64
"""The most characters of a name that are read; no icon has a longer one."""


@lru_cache(maxsize=256)
def icon(name: str) -> Icon:
    """The icon of a name of ours or of an SF Symbol, by its longest known start: `cloud.sun.fill` is `cloud.sun`."""
    parts = name[:_LONGEST].strip().lower().replace("_", ".").replace("-", ".").split(".")
    for count in range(len(parts), 0, -1):
        start = ".".join(parts[:count])
        if found := ICONS.get(_SYMBOLS.get(start, start)):
            return found
    return DOT
