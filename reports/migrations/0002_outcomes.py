from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="mute",
            name="outcome",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Empty: all outcomes of the check.", max_length=80
            ),
        ),
    ]
