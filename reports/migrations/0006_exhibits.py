from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0005_pictures"),
    ]

    operations = [
        migrations.AddField(
            model_name="report",
            name="exhibits",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
