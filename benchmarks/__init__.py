"""Benchmarks, run by `make bench`. Figures of different runs are not comparable with each other."""
