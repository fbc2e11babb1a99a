"""How to leave a program politely: what a person would type, by the name of what runs in the foreground."""

_SHELLS = (
    "bash",
    "zsh",
    "fish",
    "sh",
    "dash",
    "ash",
    "ksh",
    "tcsh",
    "csh",
    "nu",
    "pwsh",
    "ssh",
    "telnet",
    "su",
    "sudo",
)
_END_OF_INPUT = (
    *("python", "python3", "ipython", "ipython3", "bpython", "pypy3", "node", "deno", "bun", "irb", "ruby", "lua"),
    *("luajit", "ghci", "ghc", "scala", "erl", "R", "julia", "octave", "sqlite3", "bc", "dc", "cat", "wc", "sort"),
    *("php", "perl", "jshell", "tclsh", "guile", "sbcl", "utop", "ocaml", "swipl", "maxima", "gp", "sftp", "ftp"),
)

POLITE: dict[str, bytes] = {
    **dict.fromkeys(_SHELLS, b"exit\r"),
    **dict.fromkeys(_END_OF_INPUT, b"\x04"),
    **dict.fromkeys(("gdb", "lldb", "pdb", "cgdb", "dlv"), b"quit\r"),
    **dict.fromkeys(("psql", "mysql", "mariadb"), b"\\q\r"),
    **dict.fromkeys(("less", "more", "most", "man", "top", "htop", "btop", "tig", "w3m", "watch"), b"q"),
    **dict.fromkeys(("vi", "vim", "nvim", "view", "vimdiff", "vim.basic", "vim.tiny"), b"\x1b:qa!\r"),
    "nano": b"\x18n",
    "emacs": b"\x18\x03",
    "redis-cli": b"quit\r",
    "mongosh": b"exit\r",
}


def polite(name: str | None) -> bytes | None:
    """What ends this program, for those we know; `python3.11` is known as `python3`."""
    if name is None:
        return None
    return POLITE.get(name) or POLITE.get(name.split(".", 1)[0])
