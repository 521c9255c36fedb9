"""Documentation at /docs/, with guides from docs/*.md, the API from openapi.yaml, and a page per check."""
