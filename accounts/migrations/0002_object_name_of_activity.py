from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename a field in Python only. The column stays `target`, so no SQL runs and the previous release still works."""

    dependencies = [("accounts", "0001_initial")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="activityevent",
                    name="target",
                    field=models.CharField(blank=True, db_column="target", max_length=300),
                ),
                migrations.RenameField(model_name="activityevent", old_name="target", new_name="object_name"),
            ]
        ),
    ]
