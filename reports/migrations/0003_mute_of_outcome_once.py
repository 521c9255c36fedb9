from django.db import migrations, models

FIELDS = ("organization", "check_id", "host", "path_prefix", "outcome", "fingerprint")
UNIQUE = models.UniqueConstraint(condition=models.Q(("ended_at", None)), fields=FIELDS, name="mute_of_outcome_once")
# A unique constraint with a condition is an index. Built this way, it does not keep anybody from muting.
DROP = "DROP INDEX CONCURRENTLY IF EXISTS mute_of_outcome_once"
CREATE = """
    CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS mute_of_outcome_once
    ON reports_mute (organization_id, check_id, host, path_prefix, outcome, fingerprint) WHERE ended_at IS NULL
"""
DROP_OLD = "DROP INDEX CONCURRENTLY IF EXISTS mute_once"
CREATE_OLD = """
    CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS mute_once
    ON reports_mute (organization_id, check_id, host, path_prefix, fingerprint) WHERE ended_at IS NULL
"""


class Migration(migrations.Migration):
    """Allow a mute of each outcome of a check beside a mute of the check."""

    atomic = False
    dependencies = [("reports", "0002_outcomes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            # An interrupted creation leaves an invalid index, which is dropped first.
            database_operations=[migrations.RunSQL([DROP, CREATE], [DROP])],
            state_operations=[migrations.AddConstraint(model_name="mute", constraint=UNIQUE)],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL([DROP_OLD], [DROP_OLD, CREATE_OLD])],
            state_operations=[migrations.RemoveConstraint(model_name="mute", name="mute_once")],
        ),
    ]
