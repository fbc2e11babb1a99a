"""Benchmarks against what people would use instead: `python -m bench [NAME…]`. See docs/performance.md."""
