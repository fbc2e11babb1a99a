"""Whether a path is private to us: no other user can change it, or replace it.

`check_home` walks a path from the root, link by link. Every directory on the way must belong to root or to us, and may
be writable by others only with the sticky bit, as /tmp is. The home and its files must belong to us. `check_peer` asks
the kernel which user listens at a socket, before anything is sent there.
"""

import contextlib
import grp
import os
import pwd
import socket
import stat
import struct

_ROOT = 0
_MAX_LINKS = 40
"""Symbolic links followed in one path: the kernel's own limit."""


class NotPrivate(PermissionError):
    """The path belongs to another user or can be changed by one. `hint` says what to do."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"{message}: {hint}")
        self.message = message
        self.hint = hint


def check_home(home: str) -> None:
    """Raises NotPrivate if another user could change the home or a file in it. It need not exist yet."""
    _check_path(home)
    try:
        names = os.listdir(home)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # gone since, or a link to nothing
            _check_entry(os.path.join(home, name))


def make_home(home: str) -> None:
    """Makes the home, and checks it before and after: another user may have made it in between."""
    check_home(home)
    os.makedirs(home, mode=0o700, exist_ok=True)
    check_home(home)


def tighten(home: str) -> None:
    """Removes other users' right to read the home. `check_home` has checked that they cannot write."""
    if stat.S_IMODE(os.stat(home).st_mode) & 0o077:
        os.chmod(home, 0o700)


def own_directory(path: str) -> None:
    """Makes a private directory, or checks that the existing one is private."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    if os.path.islink(path):
        raise NotPrivate(f"{path} is a link, expected a directory", hint=f"remove it: rm {_quoted(path)}")
    _check_path(path)
    if mode := stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise NotPrivate(
            f"{path} must have mode 0700, got {mode | 0o700:04o}: other users may have used it",
            hint=f"run: rm -r {_quoted(path)}",
        )


def check_peer(connection: socket.socket) -> None:
    """Raises NotPrivate if the process at the other end of a Unix socket is another user's."""
    if not hasattr(socket, "SO_PEERCRED"):
        return
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", found)
    if user not in (_ROOT, os.geteuid()):
        raise NotPrivate(
            f"{connection.getpeername()} belongs to another user: {_name(user)}, process {pid}",
            hint="nothing was sent to it; end that process, or give another --home",
        )


def _check_path(path: str) -> None:
    """Every directory and link from the root to the path; missing ones will be made by us.

    `..` is followed as the kernel does: after a link it is the parent of the link's target.
    """
    left = [part for part in os.path.join(os.getcwd(), path).split("/") if part not in ("", ".")][::-1]
    at, links = "/", 0
    _check_parent("/", path)
    while left:
        part = left.pop()
        if part == "..":
            at = os.path.dirname(at)
            continue
        at = os.path.join(at, part)
        try:
            found = os.lstat(at)
        except FileNotFoundError:
            return
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > _MAX_LINKS:
                raise OSError(f"{path} leads into a loop of symbolic links at {at}")
            _check_owner(at, found, path)
            target = os.readlink(at)
            at = "/" if target.startswith("/") else os.path.dirname(at)
            left += [part for part in target.split("/") if part not in ("", ".")][::-1]
        elif left:
            _check_parent(at, path)
        else:
            _check_own(at, found)


def _check_parent(at: str, home: str) -> None:
    found = os.stat(at)
    _check_owner(at, found, home)
    if _others_write(at, found) and not found.st_mode & stat.S_ISVTX:
        raise NotPrivate(
            f"other users can write to {at} (mode {stat.S_IMODE(found.st_mode):04o}), and so replace {home}",
            hint=f"run: chmod go-w {_quoted(at)}, or give a --home elsewhere",
        )


def _check_owner(at: str, found: os.stat_result, home: str) -> None:
    if found.st_uid not in (_ROOT, os.geteuid()):
        raise NotPrivate(
            f"{at} belongs to {_name(found.st_uid)}, who could replace {home}",
            hint=f"give a --home below directories of {_name(os.geteuid())}",
        )


def _check_own(at: str, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise NotPrivate(
            f"{at} belongs to {_name(found.st_uid)}, and this process runs as {_name(os.geteuid())}",
            hint="run as that user, or give another --home",
        )
    if _others_write(at, found):
        raise NotPrivate(
            f"other users can write to {at} (mode {stat.S_IMODE(found.st_mode):04o})",
            hint=f"look for files in it that are not yours, then run: chmod 700 {_quoted(at)}",
        )


def _check_entry(at: str) -> None:
    """A file of the home: a token, a configuration, a folder of conversations."""
    for found in (os.lstat(at), os.stat(at)):
        if found.st_uid != os.geteuid():
            raise NotPrivate(
                f"{at} belongs to {_name(found.st_uid)}, and this process runs as {_name(os.geteuid())}",
                hint=f"look at it, then remove it or run: chown {os.geteuid()} {_quoted(at)}",
            )
        if not stat.S_ISLNK(found.st_mode) and _others_write(at, found):
            raise NotPrivate(
                f"other users can write to {at} (mode {stat.S_IMODE(found.st_mode):04o})",
                hint=f"look at it, then run: chmod go-w {_quoted(at)}",
            )


def _others_write(at: str, found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(at, found.st_gid)


def _is_own_group(at: str, group: int) -> bool:
    """Whether a group has no member but us, like the groups that are named after their users.

    With umask 002, all files of a user are writable by that group. An access list gives its users the group's rights,
    so there must be none.
    """
    with contextlib.suppress(OSError):  # a file system without attributes has no access lists
        if "system.posix_acl_access" in os.listxattr(at):
            return False
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return group == user.pw_gid and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}


def _name(user: int) -> str:
    try:
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    except KeyError:
        return f"user {user}"


def _quoted(path: str) -> str:
    import shlex  # noqa: PLC0415 -- only an error needs it

    return shlex.quote(path)
