"""The tokens of a Codex turn: stated for the turn, or computed from a total that only grows."""

from vantage.agents.values import Object, number, obj

_NAMES = {
    "input_tokens": "input_tokens",
    "cached_input_tokens": "cached_input_tokens",
    "output_tokens": "output_tokens",
    "reasoning_output_tokens": "reasoning_tokens",
}


def usage_of(stated: Object, before: Object | None = None) -> Object:
    """Token counts under our names; with `before`, the counts since then."""
    return {
        ours: value - (number(before or {}, theirs) or 0)
        for theirs, ours in _NAMES.items()
        if (value := number(stated, theirs)) is not None
    }


class Total:
    """The session's tokens so far; each turn takes the difference."""

    def __init__(self) -> None:
        self._stated: Object = {}
        self._taken: Object = {}

    def count(self, event: Object) -> None:
        """A `token_count`: the total is in its `info`, in older versions in the event itself."""
        self._stated = obj(event, "info", "total_token_usage") or (event if "input_tokens" in event else self._stated)

    def turn(self) -> Object:
        usage = usage_of(self._stated, self._taken)
        self._taken = self._stated
        return usage
