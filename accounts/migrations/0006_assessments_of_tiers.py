from django.db import migrations, models

# Numbers of assessments of the initial plans. Operators may have changed or deleted the plans.
ASSESSMENTS = {"pro": 10, "business": 100, "enterprise": 1_000}


def set_assessments(apps, schema_editor):
    tiers = apps.get_model("accounts", "Tier").objects
    for name, assessments in ASSESSMENTS.items():
        tiers.filter(name=name).update(assessments=assessments)


class Migration(migrations.Migration):
    """Add the number of assessments of a plan."""

    dependencies = [("accounts", "0005_branding")]
    operations = [
        migrations.AddField(
            model_name="tier",
            name="assessments",
            field=models.PositiveIntegerField(
                db_default=1, default=1, help_text="Number of assessments of conformance."
            ),
        ),
        migrations.RunPython(set_assessments, migrations.RunPython.noop),
    ]
