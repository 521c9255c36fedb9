import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the sites that members and invited people are limited to."""

    dependencies = [("accounts", "0006_assessments_of_tiers")]
    operations = [
        migrations.AddField(
            model_name=name,
            name="limited_to",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=300), blank=True, db_default=[], default=list, size=None
            ),
        )
        for name in ("membership", "invitation")
    ]
