"""Network guard: only this package opens connections to sites and to receivers of webhooks."""
