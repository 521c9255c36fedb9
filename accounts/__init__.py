"""Accounts: organizations, people, roles, API keys, tiers and quotas."""
