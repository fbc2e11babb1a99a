"""The words that a page shows."""

from html.parser import HTMLParser


class Words(HTMLParser):
    """The words that a browser would show, and those it would say of a picture."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.words += data.split()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.words += next((value or "" for name, value in attrs if name == "alt"), "").split()
