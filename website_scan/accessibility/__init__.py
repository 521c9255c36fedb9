"""Accessibility of a page's markup: visibility, role and accessible name of its elements, and checks of them."""
