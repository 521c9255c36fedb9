"""What a key may do, from where it was used, and the secrets that it had before. Keys that there are may do everything."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_mailing")]
    operations = [
        migrations.AddField(
            "apikey",
            "scope",
            models.CharField(
                choices=[("read", "Read"), ("scan", "Scan"), ("manage", "Manage")],
                db_default="manage",
                default="manage",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "apikey",
            "regenerated_at",
            models.DateTimeField(blank=True, help_text="When its secret was last replaced.", null=True),
        ),
        migrations.AddField(
            "apikey", "last_used_from", models.CharField(blank=True, db_default="", default="", max_length=45)
        ),
        migrations.AddField("apikey", "notice_days", models.PositiveSmallIntegerField(editable=False, null=True)),
        migrations.CreateModel(
            "FormerKey",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("prefix", models.CharField(max_length=20)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_from", models.CharField(blank=True, default="", max_length=45)),
                (
                    "key",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="former", to="accounts.apikey"),
                ),
            ],
            options={"ordering": ("-expires_at", "-id")},
        ),
    ]
