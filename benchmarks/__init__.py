"""Benchmarks: `make bench`. Figures of one run are comparable with each other, not with those of another run."""
