"""Webhooks, which deliver signed events.

An event is written in the transaction of the reported change, and is delivered at least once.
"""
