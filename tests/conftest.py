"""Shared by all tests: hypothesis without deadlines, because time never decides a test.

`VANTAGE_EXAMPLES=5000 make test` looks longer. In CI the examples are the same every time: what is found by chance is
found where somebody can look into it.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "vantage",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=int(os.environ.get("VANTAGE_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("vantage")
