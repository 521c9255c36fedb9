from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sites", "0030_comparisons_of_snapshots")]

    operations = [
        migrations.AddField(
            model_name="listrun", name="insertion", field=models.JSONField(blank=True, null=True)
        ),
    ]
