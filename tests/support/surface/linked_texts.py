"""Texts of a terminal with links (OSC 8): some show another address than the one they lead to, some do not."""


def osc8(link: str, text: str) -> str:
    return f"\x1b]8;;{link}\x07{text}\x1b]8;;\x07"


MISLEADING = {
    "address": osc8("https://evil.example/", "https://bank.example/login"),
    "domain": osc8("https://evil.example/", "bank.example"),
    "user": osc8("https://bank.example@evil.example/", "here"),
    "shown user": osc8("https://evil.example/", "https://bank.example@evil.example"),
    "styles": osc8("https://evil.example/", "\x1b[1mbank\x1b[31m.exam\x1b[mple"),
    "two links": osc8("https://evil.example/1", "bank.ex") + osc8("https://evil.example/2", "ample"),
    "half a link": "bank." + osc8("https://evil.example/", "example"),
    "two rows": "\x1b[1;15H" + osc8("https://evil.example/", " bank.example"),
    "full width": osc8("https://evil.example/", "ｂａｎｋ．ｅｘａｍｐｌｅ"),
    "mail": osc8("mailto:eve@evil.example", "ada@bank.example"),
}
HONEST = {
    "words": osc8("https://evil.example/", "click here"),
    "address": osc8("https://bank.example/login", "https://bank.example/login"),
    "styles": osc8("https://www.bank.example/", "bank\x1b[1m.example"),
    "two rows": "\x1b[1;13H" + osc8("https://bank.example/a", "https://bank.example/a"),
}
