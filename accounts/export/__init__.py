"""Data export for an organization's owners.

A Celery task writes zip files of JSON (docs/accounts.md).
"""
