-- Initial plans. Operators may edit the rows, so existing rows stay unchanged.
INSERT INTO accounts_tier (
    name, scans_per_month, concurrent_scans, requests_per_minute, webhooks, schedules, pages_per_audit,
    shortest_interval, quota_per_owner, lists, list_entries, snapshots_kept_days
) VALUES
    ('free', 100, 2, 60, 3, 1, 10, 'day', true, 1, 10, 100),
    ('pro', 2000, 10, 300, 10, 25, 100, '6h', false, 10, 500, 400),
    ('business', 20000, 50, 1200, 25, 250, 1000, 'hour', false, 50, 10000, 1100),
    ('enterprise', 200000, 200, 6000, 100, 2500, 10000, 'hour', false, 500, 100000, NULL)
ON CONFLICT (name) DO NOTHING;
