"""Benchmarks, run by `make bench` and described in docs/benchmarks.md."""
