"""Documentation at /docs/: guides from docs/*.md, the API from openapi.yaml, and a page for each check."""
