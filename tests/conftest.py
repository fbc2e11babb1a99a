"""Shared by all tests: hypothesis without deadlines, because time never decides a test."""

from hypothesis import HealthCheck, settings

settings.register_profile("vantage", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.load_profile("vantage")
