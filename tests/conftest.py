"""Shared by all tests: hypothesis without deadlines, because time never decides a test.

`VANTAGE_EXAMPLES=5000 make test` looks longer.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "vantage",
    deadline=None,
    max_examples=int(os.environ.get("VANTAGE_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("vantage")
