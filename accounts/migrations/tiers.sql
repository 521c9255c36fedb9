-- The tiers to start with; an operator may edit the rows.
INSERT INTO accounts_tier (
    name, scans_per_month, concurrent_scans, requests_per_minute, webhooks, schedules, pages_per_audit,
    shortest_interval, quota_per_owner
) VALUES
    ('free', 100, 2, 60, 3, 1, 10, 'day', true),
    ('pro', 2000, 10, 300, 10, 25, 100, '6h', false),
    ('business', 20000, 50, 1200, 25, 250, 1000, 'hour', false),
    ('enterprise', 200000, 200, 6000, 100, 2500, 10000, 'hour', false)
ON CONFLICT (name) DO NOTHING;
