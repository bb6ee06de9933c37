"""Audits as they stood before the first release."""

import django.db.models.deletion
import studio.models.fields
from django.conf import settings
from django.db import migrations, models
from studio.models.frozen import freeze


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('studio', '0001_squashed_0017_authoring'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditCampaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='studio.benchmark')),
                ('name', models.CharField(max_length=200)),
                ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=10)),
                ('source', models.CharField(blank=True, max_length=100)),
                ('seed', models.PositiveIntegerField(default=0)),
                ('overlap', models.PositiveSmallIntegerField(default=1)),
                ('scripted', models.BooleanField(default=False)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('auditors', models.ManyToManyField(blank=True, related_name='audits', to=settings.AUTH_USER_MODEL)),
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
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='packets', to='annotations.auditcampaign')),
                ('position', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('satisfaction', 'satisfaction'), ('follow_up', 'follow_up'), ('checklist', 'checklist')], max_length=20)),
                ('stratum', models.CharField(blank=True, max_length=100)),
                ('sampling_weight', models.FloatField(default=1.0)),
                ('shown', studio.models.fields.OrderedJSONField()),
                ('sealed', studio.models.fields.OrderedJSONField()),
                ('source', models.CharField(max_length=100)),
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
                ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='annotations.packet')),
                ('auditor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to=settings.AUTH_USER_MODEL)),
                ('number', models.PositiveIntegerField()),
                ('answer', models.CharField(choices=[('yes', 'Yes'), ('no', 'No'), ('unsure', 'Unsure'), ('undone', 'Undone')], max_length=10)),
                ('evidence', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('comment', models.TextField(blank=True)),
                ('milliseconds', models.PositiveIntegerField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['created_at'],
                'constraints': [models.UniqueConstraint(fields=('packet', 'auditor', 'number'), name='judgment_number'), models.CheckConstraint(condition=models.Q(('answer__in', ['yes', 'no', 'unsure', 'undone'])), name='judgment_answer_known')],
            },
        ),
        migrations.CreateModel(
            name='Adjudication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='adjudications', to='annotations.packet')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decision', models.BooleanField()),
                ('reason', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['created_at'],
            },
        ),
        migrations.CreateModel(
            name='Consensus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('packet', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='consensus', to='annotations.packet')),
                ('decision', models.BooleanField(null=True)),
                ('judged_by', models.PositiveSmallIntegerField()),
                ('adjudicated', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
        ),
        *[freeze(f"annotations_{table}") for table in ("packet", "judgment", "adjudication")],
    ]
