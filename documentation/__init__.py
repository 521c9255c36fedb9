"""The documentation at /docs/: guides from docs/*.md, the API from openapi.yaml, a page for each check."""
