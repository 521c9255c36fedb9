-- Triggers that keep scans_scancount in step with the scans, in the transaction that changes them.
--
-- Whole statements for inserts and deletes, so that a bulk insert costs one update per counter; single rows for
-- updates, and only where the status changes, because progress is written far more often. Counters are always
-- taken in the same order, so that two transactions can't wait for each other.
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
    SELECT NEW.organization_id, NEW.period, NEW.type, change.status, change.count
    FROM (VALUES (OLD.status, -1), (NEW.status, 1)) AS change (status, count)
    ORDER BY change.status
    ON CONFLICT (organization_id, period, type, status)
    DO UPDATE SET count = counter.count + EXCLUDED.count;
    RETURN NULL;
END $$;

CREATE TRIGGER scans_scan_inserted AFTER INSERT ON scans_scan
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION scans_scan_counted();
CREATE TRIGGER scans_scan_deleted AFTER DELETE ON scans_scan
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION scans_scan_counted();
CREATE TRIGGER scans_scan_status_changed AFTER UPDATE OF status ON scans_scan
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION scans_scan_status_counted();
