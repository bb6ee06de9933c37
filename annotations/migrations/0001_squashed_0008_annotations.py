"""Audits after 0008."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
import studio.models.fields
from django.conf import settings
from django.db import migrations, models
from studio.migrations._together import CreateModels

INVARIANTS = Path(__file__).with_name("invariants.sql").read_text(encoding="utf-8")


class Migration(migrations.Migration):

    replaces = [
        ('annotations', '0001_squashed_0004_audits'),
        ('annotations', '0005_packet_content'),
        ('annotations', '0006_seats'),
        ('annotations', '0007_seats_of_earlier_audits'),
        ('annotations', '0008_sessions'),
    ]

    initial = True

    dependencies = [
        ('studio', '0001_squashed_0032_studio'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='AuditCampaign',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=10)),
                    ('source', models.TextField(blank=True)),
                    ('unit', models.CharField(choices=[('decision', 'Single decisions'), ('session', 'Whole sessions')], default='decision', max_length=10)),
                    ('seed', models.PositiveIntegerField(default=0)),
                    ('overlap', models.PositiveSmallIntegerField(default=1)),
                    ('own_tasks', models.BooleanField(default=False)),
                    ('scripted', models.BooleanField(default=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('closed_at', models.DateTimeField(blank=True, null=True)),
                    ('auditors', models.ManyToManyField(blank=True, related_name='audits', to=settings.AUTH_USER_MODEL)),
                    ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='studio.benchmark')),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('overlap__gte', 1)), name='audit_overlap_at_least_1')],
                },
            ),
            migrations.CreateModel(
                name='Packet',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('kind', models.CharField(choices=[('satisfaction', 'satisfaction'), ('follow_up', 'follow_up'), ('checklist', 'checklist'), ('session', 'session')], max_length=20)),
                    ('stratum', models.CharField(blank=True, max_length=100)),
                    ('sampling_weight', models.FloatField(default=1.0)),
                    ('cluster', models.CharField(blank=True, max_length=100)),
                    ('content', studio.models.fields.OrderedJSONField(db_column='shown')),
                    ('sealed', studio.models.fields.OrderedJSONField()),
                    ('source', models.CharField(max_length=100)),
                    ('involved', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='packets', to='annotations.auditcampaign')),
                ],
                options={
                    'ordering': ['position'],
                    'constraints': [models.UniqueConstraint(fields=('campaign', 'position'), name='packet_position'), models.UniqueConstraint(fields=('campaign', 'source'), name='packet_once')],
                },
            ),
            migrations.CreateModel(
                name='Judgment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('answer', models.CharField(choices=[('yes', 'Yes'), ('no', 'No'), ('unsure', 'Unsure'), ('answered', 'Answered'), ('skipped', 'Skipped'), ('undone', 'Undone')], max_length=10)),
                    ('answers', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                    ('evidence', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                    ('comment', models.TextField(blank=True)),
                    ('milliseconds', models.PositiveIntegerField(null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('auditor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to=settings.AUTH_USER_MODEL)),
                    ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='annotations.packet')),
                ],
                options={
                    'ordering': ['created_at'],
                    'constraints': [models.UniqueConstraint(fields=('packet', 'auditor', 'number'), name='judgment_number'), models.CheckConstraint(condition=models.Q(('answer__in', ['yes', 'no', 'unsure', 'answered', 'skipped', 'undone'])), name='judgment_answer_known')],
                },
            ),
            migrations.CreateModel(
                name='Consensus',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('decision', models.BooleanField(null=True)),
                    ('answers', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                    ('judged_by', models.PositiveSmallIntegerField()),
                    ('adjudicated', models.BooleanField(default=False)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('packet', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='consensus', to='annotations.packet')),
                ],
            ),
            migrations.CreateModel(
                name='Adjudication',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('decision', models.BooleanField(null=True)),
                    ('answers', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                    ('reason', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='adjudications', to='annotations.packet')),
                ],
                options={
                    'ordering': ['created_at'],
                },
            ),
            migrations.CreateModel(
                name='Population',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rows', studio.models.fields.OrderedJSONField(default=list)),
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='population', to='annotations.auditcampaign')),
                ],
            ),
            migrations.CreateModel(
                name='Seat',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveSmallIntegerField()),
                    ('leased_until', models.DateTimeField(null=True)),
                    ('judged', models.BooleanField(default=False)),
                    ('draft', models.JSONField(null=True)),
                    ('auditor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='annotations.packet')),
                ],
                options={
                    'ordering': ['packet', 'number'],
                    'constraints': [models.UniqueConstraint(fields=('packet', 'number'), name='seat_number'), models.UniqueConstraint(fields=('packet', 'auditor'), name='seat_once_per_auditor'), models.CheckConstraint(condition=models.Q(('auditor__isnull', False), models.Q(('judged', False), ('leased_until__isnull', True)), _connector='OR'), name='seat_free_or_held')],
                },
            ),
        ]),
        migrations.RunSQL(INVARIANTS),
    ]
