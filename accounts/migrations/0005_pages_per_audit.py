"""How many pages an audit may have, by tier; an operator's own tiers get the least."""

from django.db import migrations, models

PAGES = {"free": 10, "pro": 100, "business": 1_000, "enterprise": 10_000}


def seed(apps, schema_editor):
    Tier = apps.get_model("accounts", "Tier")
    for name, pages in PAGES.items():
        Tier.objects.filter(name=name).update(pages_per_audit=pages)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_closing")]
    operations = [
        migrations.AddField("tier", "pages_per_audit", models.PositiveIntegerField(db_default=10)),
        migrations.RunPython(seed, migrations.RunPython.noop),
    ]
