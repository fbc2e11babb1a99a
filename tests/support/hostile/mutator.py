"""Inputs made of others: bits flipped, pieces moved, doubled and cut, tokens put in, values of JSON made odd.

The same seed, corpus and tokens give the same inputs, so a failure can be had again.
"""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**64, -(2**63) - 1, 10**400, 1e308, -0.0, 0.5, "", " ", "0", "-1",
    "\0", "\x1b[2J", "\x1b]52;c;AAAA\x07", "\u202e", "\ud800", "\u2028", "\x9b31m", "漢字", "👨‍👩‍👧‍👦", "a" * 300,
    "../../etc", "%00", "{{args.x}}", "<script>", [], {}, [[]], [None], [{}], {"": ""}, {"type": "text"}, ["a", 1],
)  # fmt: skip
"""Values where another was expected."""
_BRACKETS = [(b"[", b"]"), (b"{", b"}"), (b'{"a":', b"}"), (b"> ", b""), (b"- ", b""), (b"*", b"*"), (b"(", b")")]
_MAX_STEPS = 6


class Mutator:
    def __init__(self, corpus: Sequence[bytes], tokens: Sequence[bytes], seed: int, most: int) -> None:
        self._corpus = list(corpus) or [b""]
        self._tokens = list(tokens) or [b"\0"]
        self._random = random.Random(seed)
        self._most = most

    def inputs(self, count: int) -> Iterator[bytes]:
        return (self.input() for _ in range(count))

    def input(self) -> bytes:
        data = self._random.choice(self._corpus)
        steps = _STEPS if self._random.random() < 0.6 or b'{"' not in data else (Mutator._json,)
        for _ in range(self._random.randint(1, _MAX_STEPS)):
            data = self._random.choice(steps)(self, data)[: self._most]
        return data

    def _part(self, data: bytes) -> slice:
        """Somewhere in the data: often a little, now and then much."""
        start = self._random.randint(0, len(data))
        return slice(start, start + int(self._random.expovariate(1 / 12)))

    def _with(self, data: bytes, part: slice, other: bytes) -> bytes:
        return data[: part.start] + other + data[part.stop :]

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return data
        at = self._random.randrange(len(data))
        return self._with(data, slice(at, at + 1), bytes([data[at] ^ 1 << self._random.randrange(8)]))

    def _byte(self, data: bytes) -> bytes:
        part = self._part(data)
        return self._with(data, slice(part.start, part.start), self._random.randbytes(self._random.randint(1, 3)))

    def _token(self, data: bytes) -> bytes:
        """A token between others, or in the place of something."""
        part = self._part(data)
        stop = part.start if self._random.random() < 0.7 else part.stop
        return self._with(data, slice(part.start, stop), self._random.choice(self._tokens))

    def _drop(self, data: bytes) -> bytes:
        return self._with(data, self._part(data), b"")

    def _truncate(self, data: bytes) -> bytes:
        return data[: self._random.randint(0, len(data))]

    def _repeat(self, data: bytes) -> bytes:
        part = self._part(data)
        times = self._random.choice([2, 3, 17, 65, 300])
        return self._with(data, part, data[part] * min(times, self._most // max(1, len(data[part])) + 1))

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self._corpus)
        return data[: self._random.randint(0, len(data))] + other[self._random.randint(0, len(other)) :]

    def _insert(self, data: bytes) -> bytes:
        other = self._random.choice(self._corpus)
        return self._with(data, self._part(data), other[self._part(other)])

    def _nest(self, data: bytes) -> bytes:
        before, behind = self._random.choice(_BRACKETS)
        depth, part = self._random.choice([1, 3, 40, 70, 1100]), self._part(data)
        return self._with(data, part, before * depth + data[part] + behind * depth)

    def _line(self, data: bytes) -> bytes:
        """A line doubled, dropped, or put elsewhere."""
        lines = data.split(b"\n")
        line = lines.pop(self._random.randrange(len(lines)))
        for _ in range(self._random.randint(0, 2)):
            lines.insert(self._random.randint(0, len(lines)), line)
        return b"\n".join(lines)

    def _json(self, data: bytes) -> bytes:
        """Some line that is JSON, one of its values another."""
        lines = data.split(b"\n")
        at = self._random.choice([at for at, line in enumerate(lines) if line[:1] in b"{["] or [0])
        try:
            value = json.loads(lines[at])
            lines[at] = json.dumps(self._spoilt(value), ensure_ascii=self._random.random() < 0.5).encode(
                "utf-8", "surrogatepass"
            )
        except (ValueError, RecursionError):
            return self._token(data)
        return b"\n".join(lines)

    def _spoilt(self, value: Any) -> Any:
        if isinstance(value, dict | list) and value and self._random.random() < 0.85:
            key = self._random.choice(list(value)) if isinstance(value, dict) else self._random.randrange(len(value))
            inner = value[key]
            what = self._random.random()
            if what < 0.1:
                del value[key]
            elif what < 0.2 and isinstance(value, dict):
                value[self._word()] = inner
            elif what < 0.2:
                value.append(inner)
            else:
                value[key] = self._spoilt(inner)
            return value
        if isinstance(value, str) and self._random.random() < 0.5:
            part = self._part(value.encode())
            return value[: part.start] + self._word() + value[part.start :]
        return self._random.choice(ODD)

    def _word(self) -> str:
        return self._random.choice(self._tokens).decode("utf-8", "replace")


_STEPS = (
    Mutator._flip, Mutator._byte, Mutator._token, Mutator._token, Mutator._drop, Mutator._truncate, Mutator._repeat,
    Mutator._splice, Mutator._insert, Mutator._nest, Mutator._line, Mutator._json, Mutator._json,
)  # fmt: skip
