"""Credentials of audits, as scans have them."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_pages_per_audit'),
        ('scans', '0013_with_credentials'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='scan',
            name='scan_newest_single',
        ),
        migrations.AddField(
            model_name='audit',
            name='credential_names',
            field=models.JSONField(blank=True, help_text='What of the credentials may be shown.', null=True),
        ),
        migrations.AddField(
            model_name='audit',
            name='encrypted_credentials',
            field=models.BinaryField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='audit',
            index=models.Index(condition=models.Q(('encrypted_credentials__isnull', False)), fields=['created_at'], name='audit_with_credentials'),
        ),
        migrations.AddIndex(
            model_name='scan',
            index=models.Index(condition=models.Q(('audit_page', None), ('is_background', False), ('lead', None)), fields=['organization', '-created_at', '-id'], name='scan_newest_single'),
        ),
    ]
