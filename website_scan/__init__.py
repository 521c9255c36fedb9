"""Scan web pages for security, performance, accessibility and SEO.

The package is a library and a command, and needs no framework.
"""

# Version of the release for the Python distribution, openapi.yaml and the operations page.
__version__ = "1.0.0"
