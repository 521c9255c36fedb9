-- Triggers that update sites_assessmentcount in the same transaction as the results.
--
-- The triggers run once per statement, so a statement that changes many results updates each counter once. Counters are
-- locked in the same order in every transaction, which prevents deadlocks.
CREATE OR REPLACE FUNCTION sites_assessment_result_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO sites_assessmentcount AS counter
            (assessment_id, criterion, result, is_failing, needs_review, has_passes, count)
        SELECT assessment_id, criterion, result, open_failures > 0, open_reviews > 0, has_passes, count(*) FROM changed
        GROUP BY 1, 2, 3, 4, 5, 6
        ORDER BY 1, 2, 3, 4, 5, 6
        ON CONFLICT (assessment_id, criterion, result, is_failing, needs_review, has_passes)
        DO UPDATE SET count = counter.count + EXCLUDED.count;
    ELSE
        UPDATE sites_assessmentcount AS counter SET count = counter.count - gone.count
        FROM (
            SELECT assessment_id, criterion, result, open_failures > 0 AS is_failing, open_reviews > 0 AS needs_review,
                has_passes, count(*) AS count
            FROM changed
            GROUP BY 1, 2, 3, 4, 5, 6
            ORDER BY 1, 2, 3, 4, 5, 6
        ) AS gone
        WHERE counter.assessment_id = gone.assessment_id AND counter.criterion = gone.criterion
            AND counter.result = gone.result AND counter.is_failing = gone.is_failing
            AND counter.needs_review = gone.needs_review AND counter.has_passes = gone.has_passes;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION sites_assessment_result_recounted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sites_assessmentcount AS counter
        (assessment_id, criterion, result, is_failing, needs_review, has_passes, count)
    SELECT assessment_id, criterion, result, is_failing, needs_review, has_passes, sum(count) FROM (
        SELECT assessment_id, criterion, result, open_failures > 0 AS is_failing, open_reviews > 0 AS needs_review,
            has_passes, -1 AS count
        FROM former
        UNION ALL
        SELECT assessment_id, criterion, result, open_failures > 0, open_reviews > 0, has_passes, 1
        FROM changed
    ) AS change
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING sum(count) <> 0
    ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (assessment_id, criterion, result, is_failing, needs_review, has_passes)
    DO UPDATE SET count = counter.count + EXCLUDED.count;
    RETURN NULL;
END $$;

CREATE TRIGGER sites_assessment_result_inserted AFTER INSERT ON sites_assessmentresult
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sites_assessment_result_counted();
CREATE TRIGGER sites_assessment_result_deleted AFTER DELETE ON sites_assessmentresult
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sites_assessment_result_counted();
CREATE TRIGGER sites_assessment_result_updated AFTER UPDATE ON sites_assessmentresult
    REFERENCING OLD TABLE AS former NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION sites_assessment_result_recounted();

-- CREATE TRIGGER has locked the results against changes until the end of this transaction.
INSERT INTO sites_assessmentcount (assessment_id, criterion, result, is_failing, needs_review, has_passes, count)
SELECT assessment_id, criterion, result, open_failures > 0, open_reviews > 0, has_passes, count(*)
FROM sites_assessmentresult
GROUP BY 1, 2, 3, 4, 5, 6;
