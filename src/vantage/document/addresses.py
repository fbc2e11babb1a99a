"""Links whose text shows one address and that lead to another.

A link's text shows an address when a word of it has a host: after `scheme://`, after `www.`, after the `@` of a mail
address, or because it is a domain (`bank.example`). It shows another one when such a host is not the target's.
Hosts are compared as a browser reads them: without invisible characters, in lower case, with compatible characters and
all dots as one, names of other scripts in their ASCII form, without `www.` and ports. A target or a shown address with
a user name (`http://bank.example@evil.example`) always shows another.
"""

import re
import unicodedata
from urllib.parse import unquote

_WORDS = re.compile(r"[^\s<>()\[\]{}\"'`,;|“”‘’«»]+")
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}")
_AUTHORITY_END = re.compile(r"[/\\?#]")
_PORT = re.compile(r":\d*$")
_DOMAIN = re.compile(r"(?:[\w-]+\.)+(?:xn--[\w-]+|[^\W\d_]{2,})")
_NUMBERS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_DOTS = str.maketrans("。．｡", "...")
_FILES = frozenset({
    "c", "cfg", "cjs", "conf", "cpp", "css", "csv", "gif", "go", "h", "hpp", "html", "ini", "ipynb", "java", "jpeg",
    "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "mdx", "mjs", "pdf", "php", "png", "rb", "rst", "sql",
    "svg", "swift", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
})  # fmt: skip
"""Endings of file names that are no endings of hosts."""
_BOTH = frozenset({
    "cc", "md", "pl", "ps", "py", "rs", "sh", "so", "tf", "zip",
})  # fmt: skip
"""Endings of both. They count as a file if the target ends with the same name."""


def shows_another(text: str, url: str) -> bool:
    """Whether a link with this text shows an address that is not where it leads."""
    if _user(url):
        return True
    target = _host(url)
    shown = [host for word in _WORDS.findall(_plain(text)) if (host := _shown_host(word, url))]
    return any(host != target for host in shown)


def real_address(url: str) -> str:
    """The address without the user name, which is not where it leads."""
    user = _user(url)
    return url.replace(user, "", 1) if user else url


def _plain(text: str) -> str:
    """The text as a browser would read an address in it."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_DOTS)
        text = "".join([char for char in text if unicodedata.category(char) not in ("Cf", "Cc", "Mn", "Me")])
    return text.lower()


def _shown_host(word: str, url: str) -> str:
    """The host that a word shows, if it shows one."""
    scheme = _SCHEME.match(word)
    word = word.removeprefix("mailto:")
    authority = _AUTHORITY_END.split(word[scheme.end() :] if scheme else word, maxsplit=1)[0]
    host = _PORT.sub("", authority.rpartition("@")[2]).strip(".:!?…*_~")
    if scheme and "@" in authority:
        return authority
    if scheme or _NUMBERS.fullmatch(host):
        return _same(host)
    if len(host) > 253 or not _DOMAIN.fullmatch(host):
        return ""
    ending = host.rpartition(".")[2]
    if ending in _FILES or (ending in _BOTH and _plain(url).endswith(f"/{host}")):
        return ""
    return _same(host)


def _host(url: str) -> str:
    url = _plain(unquote(url.strip()))
    if url.startswith("mailto:"):
        return _same(url[7:].split("?", 1)[0].rpartition("@")[2])
    scheme = _SCHEME.match(url)
    if scheme is None:
        return ""
    authority = _AUTHORITY_END.split(url[scheme.end() :], maxsplit=1)[0]
    return _same(_PORT.sub("", authority.rpartition("@")[2]))


def _user(url: str) -> str:
    """`name@` of an address, as it is written."""
    scheme = _SCHEME.match(url.strip().lower())
    if scheme is None:
        return ""
    authority = _AUTHORITY_END.split(url.strip()[scheme.end() :], maxsplit=1)[0]
    name, at, _ = authority.rpartition("@")
    return name + at


def _same(host: str) -> str:
    """A host in the form in which equal hosts are equal."""
    host = host.strip(".").removeprefix("www.")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host
