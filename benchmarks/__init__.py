"""Benchmarks, run by `make bench`.

Figures from different runs are not comparable.
"""
