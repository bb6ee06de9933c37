"""Models, pilots, assistance and releases as they stood before the first release."""

from typing import Any

import django.core.validators
import django.db.models.deletion
import studio.models.fields
from django.conf import settings
from django.db import migrations, models
from studio.models.frozen import freeze

FROZEN = (
    "sessionintent", "snapshot", "turn", "toolcall", "modelcall", "verdict", "release", "releasetask",
    "suggestioncall", "suggestiondecision",
)
"""Tables whose rows are never changed once they are written."""

DECIDED = """
CREATE TRIGGER "evaluation_suggestion_decided" BEFORE UPDATE ON "evaluation_suggestion" FOR EACH ROW
WHEN (OLD.state IN ('taken', 'dismissed')) EXECUTE FUNCTION refuse_update();
"""

SCRIPTED = ("helpful", "passive", "asks", "silent", "user", "judge", "helper")
"""Scripted models are in every studio, so that the sample can be tried before a real model is connected."""


def create_scripted_endpoints(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("evaluation", "ModelEndpoint").objects.using(schema_editor.connection.alias)
    for name in SCRIPTED:
        endpoints.get_or_create(
            name=f"scripted-{name}",
            defaults={"base_url": "scripted:", "model": f"scripted-{name}", "scripted": True, "timeout_seconds": 60},
        )


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotations', '0001_squashed_0004_audits'),
        ('studio', '0001_squashed_0017_authoring'),
    ]

    operations = [
        migrations.CreateModel(
            name='ModelEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('base_url', models.CharField(max_length=500)),
                ('model', models.CharField(max_length=200)),
                ('key_env', models.CharField(blank=True, max_length=100, validators=[django.core.validators.RegexValidator('^[A-Z][A-Z0-9_]*API_KEY$', 'Name an environment variable that ends in API_KEY.')])),
                ('params', models.JSONField(blank=True, default=dict)),
                ('input_price', models.DecimalField(decimal_places=6, default=0, max_digits=12)),
                ('output_price', models.DecimalField(decimal_places=6, default=0, max_digits=12)),
                ('timeout_seconds', models.PositiveIntegerField(default=120)),
                ('max_concurrency', models.PositiveIntegerField(default=32)),
                ('scripted', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('key_env', ''), ('key_env__regex', '^[A-Z][A-Z0-9_]*API_KEY$'), _connector='OR'), name='endpoint_key_env_is_a_key'), models.CheckConstraint(condition=models.Q(models.Q(('base_url', 'scripted:'), _negated=True), ('scripted', True), _connector='OR'), name='endpoint_scripted_says_so')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='studio.benchmark')),
                ('version', models.CharField(max_length=40)),
                ('manifest', studio.models.fields.OrderedJSONField()),
                ('sha256', models.CharField(max_length=64)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
                ('exceptions', studio.models.fields.OrderedJSONField(default=list)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'version'), name='release_version')],
            },
        ),
        migrations.CreateModel(
            name='ScriptExample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('script', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='example', to='studio.graderscript')),
                ('text', models.TextField()),
                ('written_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('written_at', models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name='Pilot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pilots', to='studio.benchmark')),
                ('number', models.PositiveIntegerField()),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('user_model', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('runs_wanted', models.PositiveSmallIntegerField(default=1)),
                ('limits', models.JSONField(default=dict)),
                ('config', models.JSONField(default=dict)),
                ('scripted', models.BooleanField(default=False)),
                ('drafts', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('finished', 'Finished'), ('stopped', 'Stopped by infrastructure failures'), ('cancelled', 'Cancelled')], default='waiting', max_length=12)),
                ('scores', models.JSONField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'number'), name='pilot_number'), models.CheckConstraint(condition=models.Q(('runs_wanted__gte', 1)), name='pilot_runs_at_least_1')],
            },
        ),
        migrations.CreateModel(
            name='AssistantModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='assistant_model', to='studio.benchmark')),
                ('endpoint', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('most_tokens', models.PositiveBigIntegerField(default=0)),
                ('most_cost', models.DecimalField(decimal_places=2, default=0, max_digits=12)),
                ('period', models.CharField(choices=[('month', 'each month'), ('ever', 'altogether')], default='month', max_length=5)),
                ('changed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('changed_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'db_table': 'evaluation_helper',
                'constraints': [models.CheckConstraint(condition=models.Q(('most_cost__gte', 0)), name='helper_cost_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='studio.task')),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals', to='studio.revision')),
                ('kind', models.CharField(choices=[('reword', 'A rewording of the request'), ('intents', 'Hidden intents'), ('split', 'A split'), ('rule', 'An exact rule'), ('checklist', 'Checklist items'), ('translate', 'A translation'), ('leaks', 'What the request gives away')], max_length=10)),
                ('field', models.CharField(max_length=60)),
                ('item', models.UUIDField(null=True)),
                ('options', studio.models.fields.OrderedJSONField(default=dict)),
                ('fresh', models.BooleanField(default=False)),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('model', models.CharField(max_length=320)),
                ('scripted', models.BooleanField(default=False)),
                ('request_hash', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('asked', 'Requested'), ('ready', 'Ready'), ('failed', 'Failed'), ('taken', 'Accepted'), ('dismissed', 'Dismissed')], default='asked', max_length=10)),
                ('problem', models.TextField(blank=True)),
                ('detail', models.TextField(blank=True)),
                ('rows', studio.models.fields.OrderedJSONField(null=True)),
                ('findings', studio.models.fields.OrderedJSONField(default=dict)),
                ('cut', studio.models.fields.OrderedJSONField(default=list)),
                ('replay_of', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='evaluation.proposal')),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('claimed_by', models.CharField(blank=True, max_length=60)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_at', models.DateTimeField(null=True)),
                ('result', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.revision')),
            ],
            options={
                'db_table': 'evaluation_suggestion',
                'ordering': ['-pk'],
                'indexes': [models.Index(condition=models.Q(('state__in', ['asked', 'ready', 'failed'])), fields=['task'], name='suggestion_open'), models.Index(fields=['request_hash'], name='suggestion_by_request')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['asked', 'ready', 'failed', 'taken', 'dismissed'])), name='suggestion_state_known'), models.CheckConstraint(condition=models.Q(('kind__in', ('reword', 'intents', 'split', 'rule', 'checklist', 'translate', 'leaks'))), name='suggestion_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', False), ('decided_by__isnull', False), ('state__in', ['taken', 'dismissed'])), models.Q(('decided_at__isnull', True), ('decided_by__isnull', True), ('state__in', ['asked', 'ready', 'failed'])), _connector='OR'), name='suggestion_decided_by_somebody'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['ready', 'taken']), _negated=True), ('rows__isnull', False), _connector='OR'), name='suggestion_ready_has_rows'), models.CheckConstraint(condition=models.Q(('result__isnull', True), ('state__in', ['ready', 'taken']), _connector='OR'), name='suggestion_result_of_taken'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), _negated=True), models.Q(('problem', ''), _negated=True), _connector='OR'), name='suggestion_failure_says_why'), models.UniqueConstraint(condition=models.Q(('state', 'asked')), fields=('task', 'request_hash'), name='suggestion_asked_once')],
            },
        ),
        migrations.CreateModel(
            name='Rehearsal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rehearsals', to='studio.revision')),
                ('persona_revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.personarevision')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rehearsals', to=settings.AUTH_USER_MODEL)),
                ('seat', models.CharField(choices=[('agent', 'As the assistant'), ('user', 'As the user')], max_length=5)),
                ('agent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('judge', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('state', models.CharField(choices=[('yours', 'Your turn'), ('working', 'A model is working'), ('stopped', 'Stopped by an infrastructure failure'), ('finished', 'Finished')], default='yours', max_length=8)),
                ('reason', models.TextField(blank=True)),
                ('message', models.TextField(blank=True)),
                ('turns', studio.models.fields.OrderedJSONField(default=list)),
                ('under_way', studio.models.fields.OrderedJSONField(default=dict)),
                ('agent_state', studio.models.fields.OrderedJSONField(default=dict)),
                ('start_manifest', studio.models.fields.OrderedJSONField(default=dict)),
                ('manifest', studio.models.fields.OrderedJSONField(default=dict)),
                ('scripted', models.BooleanField(default=False)),
                ('claimed_by', models.CharField(blank=True, max_length=60)),
                ('lease_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('touched_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('agent__isnull', True), ('judge__isnull', False), ('seat', 'agent')), models.Q(('agent__isnull', False), ('seat', 'user')), _connector='OR'), name='rehearsal_has_its_models')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='evaluation.release')),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='studio.revision')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'revision'), name='release_task_once')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pilot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='evaluation.pilot')),
                ('persona_revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.personarevision')),
                ('number', models.PositiveSmallIntegerField()),
                ('graded_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['persona_revision__persona__position', 'number'],
                'constraints': [models.UniqueConstraint(fields=('pilot', 'persona_revision', 'number'), name='run_number')],
            },
        ),
        migrations.CreateModel(
            name='ProposalCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(max_length=20)),
                ('turn', models.PositiveSmallIntegerField()),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('request_hash', models.CharField(max_length=64)),
                ('request', studio.models.fields.OrderedJSONField()),
                ('response', studio.models.fields.OrderedJSONField(null=True)),
                ('error', models.TextField(blank=True)),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('proposal', models.ForeignKey(db_column='suggestion_id', on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='evaluation.proposal')),
            ],
            options={
                'db_table': 'evaluation_suggestioncall',
                'constraints': [models.UniqueConstraint(condition=models.Q(('response__isnull', False)), fields=('proposal', 'request_hash'), name='suggestion_call_answered_once')],
            },
        ),
        migrations.CreateModel(
            name='ProposalDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('proposal', models.ForeignKey(db_column='suggestion_id', on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='evaluation.proposal')),
                ('row', models.PositiveSmallIntegerField()),
                ('taken', models.BooleanField()),
                ('changed', models.BooleanField(default=False)),
                ('field', models.CharField(max_length=60)),
                ('uid', models.UUIDField(null=True)),
                ('text', models.TextField(blank=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.revision')),
            ],
            options={
                'db_table': 'evaluation_suggestiondecision',
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('proposal', 'row'), name='suggestion_row_decided_once'), models.CheckConstraint(condition=models.Q(('taken', True), models.Q(('changed', False), ('revision__isnull', True), ('taken', False), ('text', '')), _connector='OR'), name='suggestion_dismissed_leaves_nothing')],
            },
        ),
        migrations.CreateModel(
            name='RehearsalCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(max_length=20)),
                ('turn', models.PositiveSmallIntegerField()),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('request_hash', models.CharField(max_length=64)),
                ('request', studio.models.fields.OrderedJSONField()),
                ('response', studio.models.fields.OrderedJSONField(null=True)),
                ('error', models.TextField(blank=True)),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('rehearsal', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='evaluation.rehearsal')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('response__isnull', False)), fields=('rehearsal', 'request_hash'), name='rehearsal_call_answered_once')],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='evaluation.run')),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='studio.revision')),
                ('position', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('finished', 'Finished'), ('failed', 'Failed by the agent'), ('error', 'Infrastructure failure'), ('cancelled', 'Cancelled')], default='waiting', max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('claimed_by', models.CharField(blank=True, max_length=200)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('retry_at', models.DateTimeField(null=True)),
                ('turn_count', models.PositiveSmallIntegerField(default=0)),
                ('covered', models.PositiveSmallIntegerField(null=True)),
                ('intent_count', models.PositiveSmallIntegerField(null=True)),
                ('comp_compat', models.FloatField(null=True)),
                ('comp_strict', models.FloatField(null=True)),
                ('ungraded', models.PositiveSmallIntegerField(default=0)),
                ('tokens', models.JSONField(default=dict)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ('graded_strict_at', models.DateTimeField(null=True)),
                ('graded_compat_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['run', 'position'],
                'indexes': [models.Index(condition=models.Q(('state__in', ['waiting', 'running'])), fields=['state', 'lease_until'], name='session_open')],
                'constraints': [models.UniqueConstraint(fields=('run', 'position'), name='session_position'), models.UniqueConstraint(fields=('run', 'revision'), name='session_task_once')],
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='snapshots', to='evaluation.run')),
                ('manifest', studio.models.fields.OrderedJSONField(default=dict)),
                ('sha256', models.CharField(max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'sha256'), name='snapshot_once')],
            },
        ),
        migrations.CreateModel(
            name='SessionIntent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='intents', to='evaluation.session')),
                ('index', models.PositiveSmallIntegerField()),
                ('uid', models.UUIDField()),
                ('status', models.CharField(choices=[('completed', 'completed'), ('inferred', 'inferred'), ('provided', 'provided')], max_length=10)),
                ('turn', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['index'],
                'constraints': [models.UniqueConstraint(fields=('session', 'index'), name='one_terminal_status'), models.CheckConstraint(condition=models.Q(('status__in', ['completed', 'inferred', 'provided'])), name='terminal_status_known')],
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='evaluation.session')),
                ('number', models.PositiveSmallIntegerField()),
                ('user_message', models.TextField()),
                ('reply', models.TextField()),
                ('note', models.TextField(blank=True)),
                ('agent_state', studio.models.fields.OrderedJSONField(default=dict)),
                ('next_message', models.TextField(blank=True)),
                ('snapshot', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.snapshot')),
                ('agent_tokens', models.PositiveIntegerField(default=0)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('session', 'number'), name='turn_number')],
            },
        ),
        migrations.CreateModel(
            name='ModelCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('turn', models.PositiveSmallIntegerField()),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.modelendpoint')),
                ('request_hash', models.CharField(max_length=64)),
                ('request', studio.models.fields.OrderedJSONField()),
                ('response', studio.models.fields.OrderedJSONField(null=True)),
                ('error', models.TextField(blank=True)),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=6, default=0, max_digits=14)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='evaluation.session')),
                ('purpose', models.CharField(choices=[('agent', 'agent'), ('satisfaction', 'satisfaction'), ('follow_up', 'follow_up'), ('checklist_compat', 'checklist_compat'), ('checklist_strict', 'checklist_strict')], max_length=20)),
            ],
            options={
                'indexes': [models.Index(fields=['session', 'turn'], name='model_call_by_turn')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('response__isnull', False)), fields=('session', 'request_hash'), name='model_call_answered_once')],
            },
        ),
        migrations.CreateModel(
            name='ToolCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('turn', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_calls', to='evaluation.turn')),
                ('position', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=200)),
                ('arguments', studio.models.fields.OrderedJSONField(default=dict)),
                ('result', models.TextField(blank=True)),
                ('ok', models.BooleanField(default=True)),
                ('milliseconds', models.PositiveIntegerField(default=0)),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('turn', 'position'), name='tool_call_position')],
            },
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='evaluation.session')),
                ('kind', models.CharField(choices=[('satisfaction', 'Intent satisfied'), ('follow_up', 'Intent asked for'), ('checklist', 'Checklist item')], max_length=12)),
                ('scoring', models.CharField(blank=True, choices=[('compat', 'compat'), ('strict', 'strict')], max_length=6)),
                ('turn', models.PositiveSmallIntegerField()),
                ('index', models.PositiveSmallIntegerField()),
                ('uid', models.UUIDField(null=True)),
                ('label', models.TextField()),
                ('grader', models.CharField(choices=[('rubric', 'rubric'), ('rule', 'rule'), ('judge', 'judge')], max_length=10)),
                ('met', models.BooleanField(null=True)),
                ('quote', models.TextField(blank=True)),
                ('reason', models.TextField(blank=True)),
                ('supported', models.BooleanField(default=False)),
                ('style', models.CharField(blank=True, max_length=10)),
                ('error', models.TextField(blank=True)),
                ('model_call', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='evaluation.modelcall')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['turn', 'index'],
                'constraints': [models.UniqueConstraint(fields=('session', 'kind', 'scoring', 'turn', 'index'), name='verdict_once'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'checklist'), ('scoring__in', ['compat', 'strict'])), models.Q(models.Q(('kind', 'checklist'), _negated=True), ('scoring', '')), _connector='OR'), name='verdict_scoring')],
            },
        ),
        *[freeze(f"evaluation_{table}") for table in FROZEN],
        migrations.RunSQL(DECIDED),
        migrations.RunPython(create_scripted_endpoints, migrations.RunPython.noop),
    ]
