from pathlib import Path

import accounts.addresses
import accounts.models.export
import accounts.models.mail
import accounts.models.invitations
import accounts.models.organizations
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('first_name', models.CharField(blank=True, max_length=150, validators=[accounts.addresses.without_addresses], verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, validators=[accounts.addresses.without_addresses], verbose_name='last name')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('email', models.EmailField(max_length=254, unique=True, verbose_name='e-mail address')),
                ('closed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.CharField(default=accounts.models.organizations.new_key_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('scope', models.CharField(choices=[('read', 'Read'), ('scan', 'Scan'), ('manage', 'Manage')], db_default='manage', default='manage', max_length=10)),
                ('prefix', models.CharField(max_length=20)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('regenerated_at', models.DateTimeField(blank=True, help_text='When its secret was last replaced.', null=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_from', models.CharField(blank=True, db_default='', default='', max_length=45)),
                ('notice_days', models.PositiveSmallIntegerField(editable=False, null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API key',
                'ordering': ('-created_at',),
            },
        ),
        migrations.CreateModel(
            name='DataExport',
            fields=[
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.CharField(default=accounts.models.export.new_export_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('making', 'Making'), ('ready', 'Ready'), ('failed', 'Failed')], default='making', max_length=8)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('cursor', models.JSONField(blank=True, default=dict)),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='DataExportPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('size', models.PositiveBigIntegerField(help_text='Bytes.')),
                ('export', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='accounts.dataexport')),
            ],
        ),
        migrations.CreateModel(
            name='DataExportChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                ('part', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='accounts.dataexportpart')),
            ],
        ),
        migrations.CreateModel(
            name='FormerKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('prefix', models.CharField(max_length=20)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_from', models.CharField(blank=True, default='', max_length=45)),
                ('key', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former', to='accounts.apikey')),
            ],
            options={
                'ordering': ('-expires_at', '-id'),
            },
        ),
        migrations.CreateModel(
            name='LoginSession',
            fields=[
                ('id', models.CharField(default=accounts.models.organizations.new_login_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('address', models.CharField(blank=True, max_length=45)),
                ('user_agent', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_seen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-last_seen_at',),
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('member', 'Member'), ('viewer', 'Viewer')], default='member', max_length=10)),
                ('weekly_digest', models.BooleanField(db_default=False, default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Organization',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, validators=[accounts.addresses.without_addresses])),
                ('slug', models.SlugField(max_length=60, unique=True)),
                ('shares_reports', models.BooleanField(default=False, help_text='New reports are shared from the start.')),
                ('second_factor_required', models.BooleanField(db_default=False, default=False, help_text="Members without one cannot see the organization's pages.")),
                ('login_provider', models.CharField(blank=True, db_default='', default='', help_text='The identity provider that members with an address of the domain below log in with.', max_length=40)),
                ('login_domain', models.CharField(blank=True, db_default='', default='', max_length=253)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('closed_at', models.DateTimeField(blank=True, help_text='When it was closed; its rows are being deleted.', null=True)),
                ('members', models.ManyToManyField(through='accounts.Membership', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='MonthlyUsage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('period', models.DateField(help_text='The first day of the month.')),
                ('used', models.PositiveIntegerField(default=0)),
                ('owner', models.CharField(blank=True, db_default='', default='', help_text='A digest; empty if the quota is not shared.', max_length=64)),
                ('organization', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to='accounts.organization')),
            ],
        ),
        migrations.AddField(
            model_name='membership',
            name='organization',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='accounts.organization'),
        ),
        migrations.CreateModel(
            name='Mail',
            fields=[
                ('claim_token', models.UUIDField(blank=True, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.CharField(default=accounts.models.mail.new_mail_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('topic', models.CharField(help_text='What the person can unsubscribe from, as “digest:17”.', max_length=100)),
                ('subject', models.CharField(max_length=250)),
                ('text', models.TextField()),
                ('html', models.TextField()),
                ('key', models.CharField(blank=True, help_text='What the e-mail is about, so that it is sent once.', max_length=250, null=True, unique=True)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ('next_attempt_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('given_up_at', models.DateTimeField(blank=True, null=True)),
                ('error', models.CharField(blank=True, default='', help_text='Why the last attempt failed.', max_length=300)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
            ],
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.CharField(default=accounts.models.invitations.new_invitation_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254, verbose_name='e-mail address')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('member', 'Member'), ('viewer', 'Viewer')], default='member', max_length=10)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('invited_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
            ],
            options={
                'ordering': ('-created_at',),
            },
        ),
        migrations.AddField(
            model_name='dataexport',
            name='organization',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='data_export', to='accounts.organization'),
        ),
        migrations.AddField(
            model_name='apikey',
            name='organization',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to='accounts.organization'),
        ),
        migrations.CreateModel(
            name='ActivityEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor_email', models.CharField(blank=True, help_text='Stays when the person is deleted.', max_length=254)),
                ('actor_key', models.CharField(blank=True, db_default='', default='', help_text="An API key's ID.", max_length=40)),
                ('action', models.CharField(max_length=60)),
                ('target', models.CharField(blank=True, max_length=300)),
                ('details', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('organization', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to='accounts.organization')),
            ],
            options={
                'ordering': ('-id',),
            },
        ),
        migrations.CreateModel(
            name='Tier',
            fields=[
                ('name', models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ('scans_per_month', models.PositiveIntegerField()),
                ('quota_per_owner', models.BooleanField(db_default=False, default=False, help_text='All organizations on this plan with the same owner share the scans of a month.')),
                ('concurrent_scans', models.PositiveIntegerField()),
                ('requests_per_minute', models.PositiveIntegerField()),
                ('webhooks', models.PositiveIntegerField()),
                ('schedules', models.PositiveIntegerField(help_text='Number of monitors.')),
                ('pages_per_audit', models.PositiveIntegerField(db_default=10)),
                ('shortest_interval', models.CharField(choices=[('hour', 'every hour'), ('6h', 'every 6 hours'), ('day', 'every day'), ('week', 'every week'), ('month', 'every month')], db_default='day', default='day', max_length=8)),
                ('reports_kept_days', models.PositiveSmallIntegerField(db_default=30, default=30, help_text='Counted from the creation of the scan. Changes apply to new scans only.', validators=[django.core.validators.MinValueValidator(1)])),
                ('scans_kept_days', models.PositiveSmallIntegerField(blank=True, help_text='For ended scans without a report; at least as long as reports. Empty: forever.', null=True)),
                ('deliveries_kept_days', models.PositiveSmallIntegerField(db_default=30, default=30, help_text='After they were delivered or had failed.', validators=[django.core.validators.MinValueValidator(1)])),
                ('activity_kept_days', models.PositiveSmallIntegerField(blank=True, db_default=365, default=365, help_text='For entries of the activity log. Empty: forever.', null=True, validators=[django.core.validators.MinValueValidator(30)])),
                ('list_entries', models.PositiveIntegerField(db_default=10, default=10, help_text='Number of sites in all lists together.')),
                ('lists', models.PositiveIntegerField(db_default=1, default=1, help_text='Number of lists of sites.')),
                ('snapshots_kept_days', models.PositiveSmallIntegerField(blank=True, help_text='Of lists of sites, after their run. Empty: as long as the list. Changes apply to new runs only.', null=True)),
            ],
            options={
                'ordering': ('scans_per_month',),
                'constraints': [models.CheckConstraint(condition=models.Q(('scans_kept_days', None), ('scans_kept_days__gte', models.F('reports_kept_days')), _connector='OR'), name='tier_keeps_scans_of_reports', violation_error_message='Scans must be kept at least as long as their reports.')],
            },
        ),
        migrations.AddField(
            model_name='organization',
            name='tier',
            field=models.ForeignKey(default='free', on_delete=django.db.models.deletion.PROTECT, to='accounts.tier'),
        ),
        migrations.CreateModel(
            name='Unsubscription',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('topic', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='unsubscriptions', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_unique', violation_error_message='There is an account with this e-mail address already.'),
        ),
        migrations.AddConstraint(
            model_name='dataexportpart',
            constraint=models.UniqueConstraint(fields=('export', 'number'), name='data_export_part_unique'),
        ),
        migrations.AddConstraint(
            model_name='dataexportchunk',
            constraint=models.UniqueConstraint(fields=('part', 'number'), name='data_export_chunk_unique'),
        ),
        migrations.AddConstraint(
            model_name='monthlyusage',
            constraint=models.UniqueConstraint(fields=('organization', 'period'), name='monthly_usage_unique'),
        ),
        migrations.AddIndex(
            model_name='monthlyusage',
            index=models.Index(condition=models.Q(('owner', ''), _negated=True), fields=['owner', 'period'], name='monthly_usage_owner'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('organization', 'user'), name='membership_unique'),
        ),
        migrations.AddIndex(
            model_name='mail',
            index=models.Index(condition=models.Q(('given_up_at', None), ('sent_at', None)), fields=['next_attempt_at', 'id'], name='mail_waiting'),
        ),
        migrations.AddIndex(
            model_name='mail',
            index=models.Index(fields=['user', 'topic', '-created_at'], name='mail_newest_of_topic'),
        ),
        migrations.AddIndex(
            model_name='mail',
            index=models.Index(condition=models.Q(('sent_at__isnull', False)), fields=['sent_at'], name='mail_sent'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.UniqueConstraint(models.F('organization'), django.db.models.functions.text.Lower('email'), condition=models.Q(('accepted_at', None), ('revoked_at', None)), name='invitation_open_unique'),
        ),
        migrations.AddIndex(
            model_name='activityevent',
            index=models.Index(fields=['organization', '-id'], name='activity_newest'),
        ),
        migrations.AddIndex(
            model_name='activityevent',
            index=models.Index(fields=['organization', 'action', '-id'], name='activity_newest_of_action'),
        ),
        migrations.AddIndex(
            model_name='activityevent',
            index=models.Index(condition=models.Q(('actor_email', ''), _negated=True), fields=['organization', 'actor_email', '-id'], name='activity_newest_of_person'),
        ),
        migrations.AddIndex(
            model_name='activityevent',
            index=models.Index(condition=models.Q(('actor_key', ''), _negated=True), fields=['organization', 'actor_key', '-id'], name='activity_newest_of_key'),
        ),
        migrations.AddConstraint(
            model_name='unsubscription',
            constraint=models.UniqueConstraint(fields=('user', 'topic'), name='unsubscription_unique'),
        ),
        migrations.RunSQL(Path(__file__).with_name("tiers.sql").read_text(encoding="utf-8"), migrations.RunSQL.noop),
    ]
