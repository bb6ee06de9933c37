import django.contrib.postgres.fields
import django.db.models.deletion
import studio.models.fields
import studio.models.tables
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('studio', '0001_initial'),
        ('studio', '__first__'),
    ]

    operations = [
        studio.models.tables.Tables(
            operations=[
                migrations.CreateModel(
                    name='Adjudication',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('reason', models.TextField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='AuditCampaign',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=200)),
                        ('state', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=10)),
                        ('source', models.TextField(blank=True)),
                        ('rounds', models.JSONField(blank=True, default=dict)),
                        ('unit', models.CharField(choices=[('decision', 'Single decisions'), ('session', 'Whole sessions')], default='decision', max_length=10)),
                        ('strata', models.CharField(choices=[('pilot', 'As many of each pilot'), ('model', 'As many of each model, as in the paper'), ('persona', 'In proportion, by persona'), ('category', 'In proportion, by category'), ('status', 'In proportion, by what became of the intents'), ('grader', 'In proportion, by what grades the checklist'), ('disagreement', 'Half of them where judges differ or waver'), ('answer', 'In proportion, by kind, answer, persona and pilot')], default='pilot', max_length=12)),
                        ('protocol', models.CharField(blank=True, max_length=7)),
                        ('controls', models.JSONField(blank=True, default=dict)),
                        ('seed', models.PositiveIntegerField(default=0)),
                        ('overlap', models.PositiveSmallIntegerField(default=1)),
                        ('asked', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                        ('due', models.DateField(blank=True, null=True)),
                        ('instructions', models.TextField(blank=True)),
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
                    },
                ),
                migrations.CreateModel(
                    name='GoldItem',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('content', studio.models.fields.OrderedJSONField()),
                        ('source', models.CharField(max_length=100)),
                        ('origin', models.TextField()),
                        ('involved', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                        ('known', models.JSONField(blank=True, default=dict)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_items', to='studio.benchmark')),
                        ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Opening',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('what', models.CharField(max_length=40)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='openings', to='annotations.auditcampaign')),
                        ('person', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['pk'],
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
                        ('origin', models.CharField(blank=True, max_length=100)),
                        ('truth', models.BooleanField(default=False)),
                        ('control', models.CharField(blank=True, choices=[('gold', 'Known answer'), ('planted', 'Planted wrong verdict')], max_length=10)),
                        ('known', models.JSONField(blank=True, default=dict)),
                        ('labels', models.JSONField(blank=True, default=dict)),
                        ('involved', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), default=list, size=None)),
                        ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='packets', to='annotations.auditcampaign')),
                        ('first', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='second', to='annotations.packet')),
                    ],
                    options={
                        'ordering': ['position'],
                    },
                ),
                migrations.CreateModel(
                    name='Judgment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField()),
                        ('state', models.CharField(choices=[('given', 'Answered'), ('skipped', 'Skipped'), ('undone', 'Undone')], default='given', max_length=10)),
                        ('evidence', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                        ('comment', models.TextField(blank=True)),
                        ('confidence', models.PositiveSmallIntegerField(choices=[(1, 'Low'), (2, 'Medium'), (3, 'High')], null=True)),
                        ('cause', models.CharField(blank=True, choices=[('criterion_ambiguous', 'The criterion can be read in two ways'), ('evidence_not_visible', 'What would show it is not in the record'), ('judge_error', 'The record is clear: a fair test for judges'), ('auditor_error', 'An auditor overlooked something'), ('out_of_scope', 'The task does not ask for this')], max_length=20)),
                        ('milliseconds', models.PositiveIntegerField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('auditor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to=settings.AUTH_USER_MODEL)),
                        ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='annotations.packet')),
                    ],
                    options={
                        'ordering': ['created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='Consensus',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('resolved', models.BooleanField()),
                        ('packet', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='consensus', to='annotations.packet')),
                    ],
                ),
                migrations.CreateModel(
                    name='Answer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('question', models.CharField(max_length=40)),
                        ('by', models.CharField(choices=[('person', 'An auditor'), ('adjudicator', 'An adjudicator'), ('model', 'A model that takes part'), ('judge', 'The judge that is audited')], max_length=11)),
                        ('model', models.CharField(blank=True, max_length=200)),
                        ('number', models.PositiveIntegerField(default=1)),
                        ('value', models.CharField(blank=True, max_length=10)),
                        ('cause', models.CharField(blank=True, choices=[('criterion_ambiguous', 'The criterion can be read in two ways'), ('evidence_not_visible', 'What would show it is not in the record'), ('judge_error', 'The record is clear: a fair test for judges'), ('auditor_error', 'An auditor overlooked something'), ('out_of_scope', 'The task does not ask for this')], max_length=20)),
                        ('adjudication', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotations.adjudication')),
                        ('judgment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotations.judgment')),
                        ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotations.packet')),
                    ],
                    options={
                        'ordering': ['pk'],
                    },
                ),
                migrations.AddField(
                    model_name='adjudication',
                    name='packet',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='adjudications', to='annotations.packet'),
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
                        ('full_session', models.BooleanField(db_default=False, default=False)),
                        ('auditor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('packet', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='annotations.packet')),
                    ],
                    options={
                        'ordering': ['packet', 'number'],
                    },
                ),
                migrations.AddConstraint(
                    model_name='auditcampaign',
                    constraint=models.CheckConstraint(condition=models.Q(('overlap__gte', 1)), name='audit_overlap_at_least_1'),
                ),
                migrations.AddConstraint(
                    model_name='golditem',
                    constraint=models.UniqueConstraint(fields=('benchmark', 'source'), name='gold_item_once'),
                ),
                migrations.AddConstraint(
                    model_name='opening',
                    constraint=models.UniqueConstraint(fields=('campaign', 'person'), name='opening_once'),
                ),
                migrations.AddConstraint(
                    model_name='packet',
                    constraint=models.UniqueConstraint(fields=('campaign', 'position'), name='packet_position'),
                ),
                migrations.AddConstraint(
                    model_name='packet',
                    constraint=models.UniqueConstraint(fields=('campaign', 'source', 'truth'), name='packet_once'),
                ),
                migrations.AddConstraint(
                    model_name='judgment',
                    constraint=models.UniqueConstraint(fields=('packet', 'auditor', 'number'), name='judgment_number'),
                ),
                migrations.AddConstraint(
                    model_name='judgment',
                    constraint=models.CheckConstraint(condition=models.Q(('state__in', ['given', 'skipped', 'undone'])), name='judgment_state_known'),
                ),
                migrations.AddConstraint(
                    model_name='answer',
                    constraint=models.UniqueConstraint(fields=('packet', 'question', 'judgment', 'adjudication', 'model', 'number'), name='answer_once', nulls_distinct=False),
                ),
                migrations.AddConstraint(
                    model_name='seat',
                    constraint=models.UniqueConstraint(fields=('packet', 'number'), name='seat_number'),
                ),
                migrations.AddConstraint(
                    model_name='seat',
                    constraint=models.UniqueConstraint(fields=('packet', 'auditor'), name='seat_once_per_auditor'),
                ),
                migrations.AddConstraint(
                    model_name='seat',
                    constraint=models.CheckConstraint(condition=models.Q(('auditor__isnull', False), models.Q(('judged', False), ('leased_until__isnull', True)), _connector='OR'), name='seat_free_or_held'),
                ),
            ],
        ),
    ]
