"""Maintenance windows, in which alerts of monitors are held."""
