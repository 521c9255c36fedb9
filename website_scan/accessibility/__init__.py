"""Accessibility checks, and the roles and names of elements.

This package also determines the visibility of elements.
"""
