"""Webhooks: signed events, recorded in the transaction that ends a scan and delivered at least once."""
