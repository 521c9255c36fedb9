-- Triggers that update scans_scancount in the same transaction as the scans.
--
-- The triggers run once per statement, so a statement that changes many scans updates each counter once. Counters are
-- locked in the same order in every transaction, which prevents deadlocks.
CREATE OR REPLACE FUNCTION scans_scan_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO scans_scancount AS counter (organization_id, period, type, status, count)
        SELECT organization_id, period, type, status, count(*) FROM changed
        GROUP BY organization_id, period, type, status
        ORDER BY organization_id, period, type, status
        ON CONFLICT (organization_id, period, type, status)
        DO UPDATE SET count = counter.count + EXCLUDED.count;
    ELSE
        UPDATE scans_scancount AS counter SET count = counter.count - gone.count
        FROM (
            SELECT organization_id, period, type, status, count(*) AS count FROM changed
            GROUP BY organization_id, period, type, status
            ORDER BY organization_id, period, type, status
        ) AS gone
        WHERE counter.organization_id = gone.organization_id AND counter.period = gone.period
            AND counter.type = gone.type AND counter.status = gone.status;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION scans_scan_status_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO scans_scancount AS counter (organization_id, period, type, status, count)
    SELECT organization_id, period, type, status, sum(change.count) FROM (
        SELECT before.organization_id, before.period, before.type, before.status, -1 AS count
        FROM former AS before JOIN changed AS after USING (id) WHERE before.status <> after.status
        UNION ALL
        SELECT after.organization_id, after.period, after.type, after.status, 1
        FROM former AS before JOIN changed AS after USING (id) WHERE before.status <> after.status
    ) AS change
    GROUP BY organization_id, period, type, status
    ORDER BY organization_id, period, type, status
    ON CONFLICT (organization_id, period, type, status)
    DO UPDATE SET count = counter.count + EXCLUDED.count;
    RETURN NULL;
END $$;

CREATE TRIGGER scans_scan_inserted AFTER INSERT ON scans_scan
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION scans_scan_counted();
CREATE TRIGGER scans_scan_deleted AFTER DELETE ON scans_scan
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION scans_scan_counted();
CREATE TRIGGER scans_scan_status_changed AFTER UPDATE ON scans_scan
    REFERENCING OLD TABLE AS former NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION scans_scan_status_counted();
