"""Network guard, the only opener of connections.

The connections are to sites and to receivers of webhooks.
"""
