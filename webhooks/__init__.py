"""Webhooks: events recorded with the scan's end, delivered at least once, signed."""
