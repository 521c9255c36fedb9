"""Webhooks: signed events, written in the transaction of the change that they report, and delivered at least once."""
