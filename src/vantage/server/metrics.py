"""Numbers about the server itself, in Prometheus' format."""

import time
from collections.abc import MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from vantage.conversation.bus import Bus

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("vantage_http_requests", "Requests that were answered.", labels, registry=registry)
        self._latency = Histogram(
            "vantage_http_seconds", "How long answers took.", ("method", "route"), registry=registry, buckets=_LATENCIES
        )
        self.sockets = Gauge("vantage_sockets", "WebSockets that are open.", registry=registry)
        self.waits = Gauge("vantage_waits", "Calls that wait for something in a terminal.", registry=registry)
        self._numbers = {
            name: Gauge(f"vantage_{name}", text, registry=registry)
            for name, text in (
                ("conversations", "Conversations in the home."),
                ("terminals", "Shells that live."),
            )
        }
        started = Gauge("vantage_started_seconds", "When the server began.", registry=registry)
        started.set(time.time())
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def answered(self, scope: MutableMapping[str, Any], status: int, seconds: float) -> None:
        key = (scope["method"], _route(scope), status)
        children = self._children.get(key)
        if children is None:
            method, route, _ = key
            children = (self._requests.labels(method, route, str(status)), self._latency.labels(method, route))
            self._children[key] = children
        count, latency = children
        count.inc()
        latency.observe(seconds)

    async def text(self, bus: Bus) -> bytes:
        numbers = await bus.request("", "numbers")
        for name, gauge in self._numbers.items():
            gauge.set(numbers[name])
        return generate_latest(self._registry)


def _route(scope: MutableMapping[str, Any]) -> str:
    """The path with the names of its parameters: ids are not labels."""
    return str(scope.get("path_template", "none"))
