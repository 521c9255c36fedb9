"""Who may do what and how much: organizations, people, keys, tiers, quota."""
