"""The terminals of a host, or its agents: by name, each with a folder of its own."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from vantage.ptyhost.connection import Connection
from vantage.ptyhost.fields import Refused
from vantage.ptyhost.protocol import Code
from vantage.ptyhost.shared.hosted import Hosted

Each = TypeVar("Each", bound=Hosted[Any])


class Registry(Generic[Each]):
    def __init__(self, kind: str, unknown: Code, make: Callable[[str, str], Each]) -> None:
        self._kind = kind
        """What messages call one of them."""
        self._unknown = unknown
        self._make = make
        self._all: dict[str, Each] = {}

    def __iter__(self) -> Iterator[Each]:
        return iter(tuple(self._all.values()))

    @property
    def busy(self) -> bool:
        """Whether one of them keeps the host from leaving."""
        return any(each.busy for each in self._all.values())

    def get(self, name: str, folder: str) -> Each:
        """The one of this name, which is made if need be. Raises Refused when name and folder do not fit."""
        known = self._all.get(name)
        if known is None:
            taken = next((other.name for other in self if other.folder == folder), None)
            if taken is not None:
                raise Refused(
                    Code.EXISTS,
                    f"folder {folder} belongs to {self._kind} {taken}: a folder holds one {self._kind}",
                )
            known = self._all[name] = self._make(name, folder)
        elif known.folder != folder:
            raise Refused(
                Code.BAD_REQUEST, f"{self._kind} {name} is in {known.folder}, not in {folder}: forget it first"
            )
        else:
            known.look_again()
        return known

    def known(self, name: str) -> Each:
        try:
            return self._all[name]
        except KeyError:
            raise Refused(self._unknown, f"{self._kind} {name} is not known: attach to it or open it") from None

    def forget(self, each: Each, connections: set[Connection]) -> None:
        """Ends what `get` began. Raises Refused while it is in use."""
        if each.busy:
            raise Refused(Code.EXISTS, f"{self._kind} {each.name} is in use: kill it first")
        for connection in connections:
            connection.watching.discard(each)
            each.unwatch(connection)
        each.rest()
        del self._all[each.name]
