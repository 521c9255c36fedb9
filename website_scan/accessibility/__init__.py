"""Accessibility of a page's markup: which elements are hidden, and which role and accessible name each has."""
