import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sites", "0031_insertion_of_list_results")]

    operations = [
        migrations.CreateModel(
            name="ListImport",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=40)),
                ("last_part_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("finished", "Finished"), ("forgotten", "Forgotten")],
                        default="open",
                        max_length=9,
                    ),
                ),
                (
                    "site_list",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imports",
                        to="sites.sitelist",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("site_list", "name"),
                        condition=models.Q(("state", "open")),
                        name="list_import_open_unique",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ListImportSite",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("digest", models.UUIDField()),
                (
                    "list_import",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sites",
                        to="sites.listimport",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("list_import", "digest"), name="list_import_site_unique")
                ],
            },
        ),
    ]
