"""What a verb is: a function from a target and typed parameters to a typed result.

A verb is declared at its function, with `@verb("One line for people.")`; its name is the function's, its parameters and
result are read from the annotations. `table` lists the verbs. HTTP routes, MCP tools, OpenAPI, the Python methods and
the checks of input are all made from these records.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UNSET


class Params(msgspec.Struct, kw_only=True, frozen=True):
    """The parameters of a verb. Limits and descriptions are in the fields' annotations."""

    def given(self) -> dict[str, Any]:
        """The fields without those that are UNSET."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not UNSET}


class NoParams(Params, frozen=True):
    """The verb takes nothing."""


class Result(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`result.cursor`, `result["cursor"]`. On the wire, fields that have their default value are left out."""

    ok: bool = True

    def __getitem__(self, name: str) -> Any:
        return msgspec.structs.asdict(self)[name]

    def get(self, name: str, default: Any = None) -> Any:
        return msgspec.structs.asdict(self).get(name, default)

    def keys(self) -> tuple[str, ...]:
        return self.__struct_fields__

    def to_dict(self) -> dict[str, Any]:
        """The JSON values: `ok`, and the fields that are set."""
        return {"ok": self.ok, **msgspec.to_builtins(self)}


class Whole(Result):
    """A result that travels with all its fields, also those that are null, false or 0."""

    def to_dict(self) -> dict[str, Any]:
        return {name: msgspec.to_builtins(value) for name, value in msgspec.structs.asdict(self).items()}


class Done(Result):
    """The verb has succeeded, and returns nothing else."""


T = TypeVar("T")
P = TypeVar("P", bound=Params)
R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Verb(Generic[T, P, R]):
    """One verb. `T` is its target: a terminal, a conversation or the home."""

    name: str
    run: Callable[[T, P], Awaitable[R]]
    params: type[P]
    result: type[R]
    summary: str
    """One line for people."""
    reads: bool = False
    """It changes nothing: a read-only token may call it."""
    destructive: bool = False
    """It ends what runs."""
    waits: bool = False
    """It only waits: when its caller leaves, it is cancelled."""


def verb(
    summary: str, *, reads: bool = False, destructive: bool = False, waits: bool = False
) -> Callable[[Callable[[T, P], Awaitable[R]]], Verb[T, P, R]]:
    """Declares the function below as a verb."""

    def declare(run: Callable[[T, P], Awaitable[R]]) -> Verb[T, P, R]:
        kinds = list(run.__annotations__.values())
        name = run.__name__.strip("_")  # `list_` and `type_`: the names are taken in Python
        return Verb(name, run, kinds[1], kinds[2], summary, reads, destructive, waits)

    return declare


def verb_table(*verbs: Verb[T, Any, Any]) -> dict[str, Verb[T, Any, Any]]:
    return {each.name: each for each in verbs}
