from django.db import migrations, models

# Numbers of journeys of the initial plans. Operators may have changed or deleted the plans.
JOURNEYS = {"pro": 10, "business": 100, "enterprise": 1_000}


def set_journeys(apps, schema_editor):
    tiers = apps.get_model("accounts", "Tier").objects
    for name, journeys in JOURNEYS.items():
        tiers.filter(name=name).update(journeys=journeys)


class Migration(migrations.Migration):
    """Add the number of journeys of a plan."""

    dependencies = [("accounts", "0007_limited_members")]
    operations = [
        migrations.AddField(
            model_name="tier",
            name="journeys",
            field=models.PositiveIntegerField(db_default=1, default=1, help_text="Number of journeys."),
        ),
        migrations.RunPython(set_journeys, migrations.RunPython.noop),
    ]
