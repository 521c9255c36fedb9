import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sites", "0029_list_results_without_score")]

    operations = [
        migrations.CreateModel(
            name="ListComparison",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("enqueued_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("data", models.JSONField(blank=True, null=True)),
                (
                    "other",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="sites.listrun"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comparisons",
                        to="sites.listrun",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("run", "other"), name="list_comparison_unique")],
            },
        ),
    ]
