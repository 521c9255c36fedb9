import django.db.models.deletion
from django.db import migrations, models

from infrastructure.postgresql.indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    """The newest entries of one person or key, made while the service runs. The organization's own index goes.

    Others begin with the organization, too. Django would make the foreign key anew, and lock both tables for it.
    """

    atomic = False

    dependencies = [("accounts", "0004_kept_days")]
    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS accounts_auditevent_organization_id_5fa8aa26")],
            [
                migrations.AlterField(
                    "auditevent",
                    "organization",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="accounts.organization"
                    ),
                ),
            ],
        ),
        AddIndexConcurrently(
            "auditevent",
            models.Index(
                condition=models.Q(("actor_email", ""), _negated=True),
                fields=["organization", "actor_email", "-id"],
                name="audit_newest_of_person",
            ),
        ),
        AddIndexConcurrently(
            "auditevent",
            models.Index(
                condition=models.Q(("actor_key", ""), _negated=True),
                fields=["organization", "actor_key", "-id"],
                name="audit_newest_of_key",
            ),
        ),
    ]
