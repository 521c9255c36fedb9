import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    """Apart from the columns of audits, because a migration locks one table in use."""

    dependencies = [("sites", "0002_outcomes")]

    operations = [
        migrations.AddField(
            model_name="listentry",
            name="outcomes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=160),
                blank=True,
                db_default=[],
                default=list,
                help_text="Outcomes that failed or warned, such as hsts.short.",
                size=None,
            ),
        ),
    ]
