"""Measurements: `make bench`. Figures of one run are comparable with each other, not with another run's."""
