"""The server's settings: flags, then the environment, then `<home>/config.toml`, then the defaults here.

`load` also returns where each value is from, for `vantage doctor`. An unknown setting, or a value of the wrong type, is
an error that names the file and the key.
"""

import ipaddress
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vantage.conversation.manager import RETENTION
from vantage.errors import InputError, did_you_mean

FILE_NAME = "config.toml"
PREFIX = "VANTAGE_"


class ConfigError(InputError):
    code = "bad_config"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    home: Path
    host: Annotated[str, Meta(min_length=1, description="The address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="The port; 0 picks a free one")] = 7878
    any_port: bool = False
    """Listen on a free port if `port` is taken: for a server that another command started."""
    expose: Annotated[bool, Meta(description="Listen on an address that other machines can reach")] = False
    hosts: Annotated[list[str], Meta(description="More names of this server, in Host and Origin")] = []
    origins: Annotated[list[str], Meta(description="More origins whose pages may talk to it: https://host:port")] = []
    rate_limit: Annotated[int, Meta(ge=0, description="Requests a second from one address; 0 is no limit")] = 1000
    request_wait: Annotated[
        float, Meta(gt=0, le=3600, description="Seconds for the head of a request, and between parts of its body")
    ] = 30
    login_limit: Annotated[
        int, Meta(ge=0, description="Wrong tokens and links a minute from one address; 0 is no limit")
    ] = 30
    session_days: Annotated[int, Meta(ge=1, le=400, description="How long a browser stays logged in")] = 30
    retention: Annotated[int, Meta(ge=1 << 20, description="Bytes of raw output that a conversation keeps")] = RETENTION
    engine: Annotated[
        Literal["auto", "ghostty", "pyte"],
        Meta(description="What draws the screens of new conversations: auto, ghostty or pyte"),
    ] = "auto"
    mcp_wait: Annotated[int, Meta(ge=1, le=3600, description="Seconds that one MCP call waits at most")] = 45
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="The least level that is logged; debug has every request"),
    ] = "info"
    log_bytes: Annotated[
        int, Meta(ge=10_000, description="The log's size at which it begins a new file; three are kept")
    ] = 5_000_000


_NOT_SETTINGS = ("home", "any_port")
SETTINGS: dict[str, msgspec.structs.FieldInfo] = {
    field.name: field for field in msgspec.structs.fields(Config) if field.name not in _NOT_SETTINGS
}


class Loaded(msgspec.Struct, frozen=True):
    config: Config
    sources: dict[str, str]
    """Setting → `flag`, the name of a variable, the path of the file, or `default`."""


def load(home: Path, flags: Mapping[str, Any], environment: Mapping[str, str], *, any_port: bool = False) -> Loaded:
    """The settings in force. A flag that is None or empty counts as not given."""
    path = home / FILE_NAME
    values: dict[str, Any] = {}
    sources = dict.fromkeys(SETTINGS, "default")
    for name, value in _read_file(path).items():
        values[name], sources[name] = _checked(name, value, f"{path}: {name}"), str(path)
    for name in SETTINGS:
        variable = PREFIX + name.upper()
        if stated := environment.get(variable, ""):
            values[name], sources[name] = _checked(name, _spelled(name, stated), variable, strict=False), variable
    for name, value in flags.items():
        if value not in (None, (), []):
            option = f"--{name.replace('_', '-')}"
            values[name] = _checked(name, list(value) if isinstance(value, tuple) else value, option)
            sources[name] = "flag"
    config = Config(home=home, any_port=any_port and sources["port"] == "default", **values)
    _check_exposure(config, sources)
    return Loaded(config, sources)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint="correct or remove it") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint="check its owner and its mode") from None
    for name in said:
        if name not in SETTINGS:
            raise ConfigError(f"{path}: there is no setting {name!r}", hint=did_you_mean(name, SETTINGS))
    return said


def _checked(name: str, value: Any, where: str, *, strict: bool = True) -> Any:
    field = SETTINGS[name]
    try:
        return msgspec.convert(value, field.type, strict=strict)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_small(str(error))}", hint=_small(describe(name))) from None


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _spelled(name: str, value: str) -> Any:
    """The text of a variable, as a value of the setting's type."""
    if isinstance(SETTINGS[name].default, bool):
        return {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(value.lower(), value.lower())
    if isinstance(getattr(Config(home=Path()), name), list):
        return [part for part in value.replace(",", " ").split() if part]
    return value


def describe(name: str) -> str:
    """The description of a setting."""
    described = msgspec.inspect.type_info(SETTINGS[name].type)
    assert isinstance(described, msgspec.inspect.Metadata)
    return str((described.extra_json_schema or {})["description"])


def unknown_variables(environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Variables that look like a misspelt setting, each with a hint that names the nearest setting."""
    names = {PREFIX + name.upper() for name in SETTINGS}
    found = []
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in names | _OTHER_VARIABLES:
            hint = did_you_mean(variable, names, otherwise="", cutoff=0.8)
            if hint:
                found.append((variable, hint))
    return found


_OTHER_VARIABLES = {"VANTAGE_HOME", "VANTAGE_TOKEN"}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_exposure(config: Config, sources: Mapping[str, str]) -> None:
    if not is_loopback(config.host) and not config.expose:
        raise ConfigError(
            f"{config.host!r} (from {sources['host']}) can be reached from other machines",
            hint="add --expose if that is meant: every client with a token then gets a shell; an SSH tunnel is safer",
        )
