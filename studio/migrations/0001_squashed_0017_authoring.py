"""Authoring as it stood before the first release."""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.constraints
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import django.utils.timezone
import studio.models.fields
import uuid
from django.conf import settings
from django.db import migrations, models
from studio.migrations._search import SEARCH
from studio.migrations._triggers import TRIGGERS


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
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('display_name', models.CharField(blank=True, max_length=120)),
                ('letter_keys', models.BooleanField(default=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Taxonomy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('name', models.CharField(max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name='Blob',
            fields=[
                ('sha256', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('size', models.BigIntegerField()),
                ('content', models.BinaryField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('size', django.db.models.functions.text.Length('content'))), name='blob_size_true')],
            },
        ),
        migrations.CreateModel(
            name='ScriptReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('analysis', models.PositiveIntegerField()),
                ('report', models.JSONField()),
                ('made_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('sha256', 'analysis'), name='script_report_once')],
            },
        ),
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('taxonomy', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='studio.taxonomy')),
                ('code', models.CharField(max_length=20)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('position', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('taxonomy', 'code'), name='category_code_once')],
            },
        ),
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('taxonomy', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.taxonomy')),
                ('approvals_needed', models.PositiveSmallIntegerField(default=1)),
                ('review_by_list', models.BooleanField(default=False)),
                ('plan_sessions', models.PositiveSmallIntegerField(default=20)),
                ('plan_groups', models.PositiveSmallIntegerField(default=6)),
                ('plan_group_least', models.PositiveSmallIntegerField(default=2)),
                ('plan_group_most', models.PositiveSmallIntegerField(default=3)),
                ('plan_standalone', models.PositiveSmallIntegerField(default=5)),
                ('plan_signals', models.PositiveSmallIntegerField(default=1)),
                ('release_limits', models.JSONField(blank=True, default=dict)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('approvals_needed__gte', 1)), name='approvals_at_least_1'), models.CheckConstraint(condition=models.Q(('plan_group_least__range', (2, models.F('plan_group_most'))), ('plan_sessions__range', (1, 500)), ('plan_group_most__lte', 100), ('plan_groups__lte', 200), ('plan_signals__lte', models.F('plan_sessions')), ('plan_standalone__lte', 500)), name='plan_within_bounds'), models.CheckConstraint(condition=models.Q(('plan_sessions__range', (django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('plan_groups'), '*', models.F('plan_group_least')), '+', models.F('plan_standalone')), django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('plan_groups'), '*', models.F('plan_group_most')), '+', models.F('plan_standalone'))))), name='plan_adds_up')],
            },
        ),
        migrations.CreateModel(
            name='NotificationChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notification_choices', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('mentioned', 'Someone mentions you in a comment'), ('remarked', 'A comment on a task you write'), ('answered', 'Someone replies to you or applies your suggestion'), ('settled', 'A thread you took part in is resolved or reopened'), ('assigned', 'A task is assigned to you'), ('review_asked', 'A task is ready for a review you can give'), ('changes_requested', 'Changes are requested on a task you wrote'), ('approved', 'A task you wrote is approved'), ('edited_after', 'A task you approved is edited'), ('imported', 'An import into a benchmark you edit has finished'), ('pilot_ended', 'A pilot you started has ended'), ('audit_opened', 'An audit is open for you')], max_length=20)),
                ('how', models.CharField(choices=[('email', 'Inbox and email'), ('inbox', 'Inbox'), ('not', 'Off')], max_length=10)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='notification_choice_once')],
            },
        ),
        migrations.CreateModel(
            name='Digest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='digests', to=settings.AUTH_USER_MODEL)),
                ('to', models.EmailField(max_length=254)),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField()),
                ('sent_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-sent_at'],
            },
        ),
        migrations.CreateModel(
            name='Visit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='visit', to=settings.AUTH_USER_MODEL)),
                ('before', models.DateTimeField(null=True)),
                ('latest', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='studio.benchmark')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('author', 'Author'), ('reviewer', 'Reviewer'), ('auditor', 'Auditor'), ('release_manager', 'Release manager'), ('viewer', 'Viewer')], max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'user', 'role'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'author', 'reviewer', 'auditor', 'release_manager', 'viewer'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='Persona',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personas', to='studio.benchmark')),
                ('user_id', models.CharField(max_length=200)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('role_text', models.TextField(blank=True)),
                ('occupation', models.TextField(blank=True)),
                ('routines', models.TextField(blank=True)),
                ('working_style', models.TextField(blank=True)),
                ('attributes', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('preferences', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('long_term_goals', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('profile_source', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('tools_source', studio.models.fields.OrderedJSONField(blank=True, null=True)),
                ('position', models.PositiveIntegerField(default=0)),
                ('version', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['position', 'user_id'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'user_id'), name='persona_once')],
            },
        ),
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='studio.benchmark')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(blank=True, max_length=300)),
                ('published', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('previewed', 'previewed'), ('done', 'done'), ('refused', 'refused'), ('dropped', 'dropped')], default='previewed', max_length=12)),
                ('report', models.JSONField(default=dict)),
                ('upload', models.BinaryField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='ToolBinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tool_bindings', to='studio.persona')),
                ('position', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'name'), name='tool_bound_once'), models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('persona', 'position'), name='tool_position')],
            },
        ),
        migrations.CreateModel(
            name='Skill',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='skills', to='studio.persona')),
                ('name', models.CharField(max_length=200)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'name'), name='skill_once')],
            },
        ),
        migrations.CreateModel(
            name='GraderScript',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grader_scripts', to='studio.persona')),
                ('path', models.CharField(max_length=500)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
                ('keys', models.JSONField(blank=True, null=True)),
                ('problem', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['path'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'path'), name='grader_script_once')],
            },
        ),
        migrations.CreateModel(
            name='PersonaFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='studio.persona')),
                ('path', models.CharField(max_length=500)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
            ],
            options={
                'ordering': ['path'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'path'), name='persona_file_once')],
            },
        ),
        migrations.CreateModel(
            name='Episode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='episode', to='studio.persona')),
                ('episode_id', models.CharField(max_length=200)),
                ('docker_image_id', models.CharField(blank=True, max_length=500)),
                ('source', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='BoardMove',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='board_moves', to='studio.persona')),
                ('actor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('move', 'Move'), ('undo', 'Undo'), ('redo', 'Redo')], default='move', max_length=4)),
                ('sentence', models.TextField()),
                ('found', models.CharField(max_length=32)),
                ('left', models.CharField(max_length=32)),
                ('before', studio.models.fields.OrderedJSONField()),
                ('after', studio.models.fields.OrderedJSONField()),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['persona', '-id'], name='board_move_newest')],
            },
        ),
        migrations.CreateModel(
            name='PersonaRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='studio.persona')),
                ('number', models.PositiveIntegerField()),
                ('spec', studio.models.fields.OrderedJSONField()),
                ('episode', studio.models.fields.OrderedJSONField(default=dict)),
                ('sha256', models.CharField(max_length=64)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'number'), name='persona_revision_number')],
            },
        ),
        migrations.CreateModel(
            name='SkillFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('skill', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='studio.skill')),
                ('path', models.CharField(max_length=500)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
            ],
            options={
                'ordering': ['path'],
                'constraints': [models.UniqueConstraint(fields=('skill', 'path'), name='skill_file_once')],
            },
        ),
        migrations.CreateModel(
            name='DependencyGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('episode', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='groups', to='studio.episode')),
                ('position', models.PositiveIntegerField()),
                ('name', models.CharField(blank=True, max_length=200)),
                ('carries_over', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('episode', 'position'), name='group_position')],
            },
        ),
        migrations.CreateModel(
            name='Task',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('episode', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='studio.episode')),
                ('position', models.PositiveIntegerField(blank=True, null=True)),
                ('task_id', models.CharField(max_length=200)),
                ('user_id', models.CharField(blank=True, max_length=200)),
                ('environment_id', models.CharField(blank=True, max_length=200)),
                ('title', models.TextField(blank=True)),
                ('description', models.TextField(blank=True)),
                ('task_type', models.CharField(blank=True, max_length=200)),
                ('category', models.CharField(blank=True, max_length=20)),
                ('trigger_kind', models.CharField(choices=[('user_message', 'User message'), ('webhook', 'Webhook'), ('heartbeat', 'Heartbeat'), ('feed', 'Feed'), ('file_drop', 'File drop')], default='user_message', max_length=20)),
                ('trigger_payload', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('initial_request', models.TextField(blank=True)),
                ('files_read', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('tool_evidence', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('grader_path', models.CharField(blank=True, max_length=500)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='tasks', to='studio.dependencygroup')),
                ('tools', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('skills', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('reference_workflow', models.TextField(blank=True)),
                ('metadata', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('source', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('in_review', 'In review'), ('changes_requested', 'Changes requested'), ('approved', 'Approved'), ('released', 'Released'), ('retired', 'Retired')], default='draft', max_length=20)),
                ('version', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ['position', 'task_id'],
                'indexes': [models.Index(fields=['state'], name='task_by_state')],
                'constraints': [models.UniqueConstraint(fields=('episode', 'task_id'), name='task_once'), models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('episode', 'position'), name='task_position'), models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'in_review', 'changes_requested', 'approved', 'released', 'retired'])), name='task_state_known')],
            },
        ),
        migrations.CreateModel(
            name='HiddenIntent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='intents', to='studio.task')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('position', models.PositiveIntegerField()),
                ('content', models.TextField()),
                ('scope', models.CharField(choices=[('session_local', 'This session only'), ('persistent', 'Persistent')], default='session_local', max_length=20)),
                ('initial_status', models.CharField(choices=[('not_provided', 'Not provided'), ('provided', 'Provided')], default='not_provided', max_length=20)),
                ('recoverable_from', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('source', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('task', 'position'), name='intent_position'), models.UniqueConstraint(fields=('task', 'uid'), name='intent_uid'), models.CheckConstraint(condition=models.Q(('scope__in', ['session_local', 'persistent'])), name='intent_scope_known'), models.CheckConstraint(condition=models.Q(('initial_status__in', ['not_provided', 'provided'])), name='intent_initial_status_known')],
            },
        ),
        migrations.CreateModel(
            name='Dependency',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dependencies', to='studio.task')),
                ('requires', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='required_by', to='studio.task')),
                ('position', models.PositiveIntegerField()),
                ('carries_over', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('task', 'requires'), name='dependency_once'), models.CheckConstraint(condition=models.Q(('task', models.F('requires')), _negated=True), name='dependency_not_itself')],
            },
        ),
        migrations.CreateModel(
            name='WorkingCopy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='working_copies', to='studio.task')),
                ('persona', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='working_copies', to='studio.persona')),
                ('page', models.CharField(blank=True, max_length=220)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('seen_at', models.DateTimeField()),
                ('base_version', models.PositiveIntegerField(default=0)),
                ('sheet', studio.models.fields.OrderedJSONField(null=True)),
                ('kept_at', models.DateTimeField(null=True)),
                ('settled', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('task', 'user'), name='working_copy_once'), models.UniqueConstraint(fields=('persona', 'page', 'user'), name='working_copy_of_a_page_once'), models.CheckConstraint(condition=models.Q(models.Q(('page', ''), ('persona__isnull', True), ('task__isnull', False)), models.Q(('persona__isnull', False), ('task__isnull', True), models.Q(('page', ''), _negated=True)), _connector='OR'), name='working_copy_of_one_page')],
            },
        ),
        migrations.CreateModel(
            name='Asset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to='studio.task')),
                ('path', models.CharField(max_length=500)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
                ('description', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['path'],
                'constraints': [models.UniqueConstraint(fields=('task', 'path'), name='asset_once')],
            },
        ),
        migrations.CreateModel(
            name='ExpectedArtifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='studio.task')),
                ('position', models.PositiveIntegerField()),
                ('path', models.CharField(max_length=500)),
                ('note', models.TextField(blank=True)),
                ('blob', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('task', 'position'), name='artifact_position'), models.UniqueConstraint(fields=('task', 'path'), name='artifact_once'), models.CheckConstraint(condition=models.Q(('path', ''), _negated=True), name='artifact_named')],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(choices=[('mentioned', 'Someone mentions you in a comment'), ('remarked', 'A comment on a task you write'), ('answered', 'Someone replies to you or applies your suggestion'), ('settled', 'A thread you took part in is resolved or reopened'), ('assigned', 'A task is assigned to you'), ('review_asked', 'A task is ready for a review you can give'), ('changes_requested', 'Changes are requested on a task you wrote'), ('approved', 'A task you wrote is approved'), ('edited_after', 'A task you approved is edited'), ('imported', 'An import into a benchmark you edit has finished'), ('pilot_ended', 'A pilot you started has ended'), ('audit_opened', 'An audit is open for you')], max_length=20)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.benchmark')),
                ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.task')),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('text', models.TextField()),
                ('address', models.CharField(max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('read_at', models.DateTimeField(null=True)),
                ('digest', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notifications', to='studio.digest')),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [models.Index(fields=['user', '-created_at'], name='notification_by_user'), models.Index(condition=models.Q(('read_at', None)), fields=['user', 'benchmark'], name='notification_unread')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='studio.task')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                ('part', models.CharField(choices=[('writer', 'Author'), ('reviewer', 'Reviewer')], max_length=10)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['user', 'part'], name='assignment_by_user')],
                'constraints': [models.UniqueConstraint(fields=('task', 'user'), name='assigned_once'), models.UniqueConstraint(condition=models.Q(('part', 'writer')), fields=('task',), name='one_writer'), models.CheckConstraint(condition=models.Q(('part__in', ['writer', 'reviewer'])), name='assignment_part_known')],
            },
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='studio.task')),
                ('rule', models.CharField(max_length=80)),
                ('severity', models.CharField(choices=[('error', 'error'), ('warning', 'warning'), ('hint', 'hint')], max_length=10)),
                ('field', models.CharField(blank=True, max_length=60)),
                ('item', models.PositiveIntegerField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
                ('message', models.TextField()),
                ('mend', models.TextField(blank=True)),
                ('other', models.CharField(blank=True, max_length=200)),
                ('fingerprint', models.CharField(max_length=32)),
            ],
            options={
                'indexes': [models.Index(fields=['task', 'severity'], name='finding_by_task')],
            },
        ),
        migrations.CreateModel(
            name='Waiver',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='waivers', to='studio.task')),
                ('fingerprint', models.CharField(max_length=32)),
                ('rule', models.CharField(max_length=80)),
                ('reason', models.TextField()),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('task', 'fingerprint'), name='waiver_once'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='waiver_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='SetAside',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='set_aside', to='studio.task')),
                ('fingerprint', models.CharField(max_length=32)),
                ('rule', models.CharField(max_length=80)),
                ('message', models.TextField()),
                ('reason', models.TextField()),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['created_at'],
                'constraints': [models.UniqueConstraint(fields=('task', 'fingerprint'), name='set_aside_once'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), _negated=True), models.Q(('message', ''), _negated=True)), name='set_aside_says_why')],
            },
        ),
        migrations.CreateModel(
            name='TaskTemplate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='templates', to='studio.benchmark')),
                ('name', models.CharField(max_length=120)),
                ('when', models.CharField(blank=True, max_length=300)),
                ('spec', studio.models.fields.OrderedJSONField()),
                ('trigger_kind', models.CharField(max_length=20)),
                ('n_intents', models.PositiveIntegerField()),
                ('n_items', models.PositiveIntegerField()),
                ('n_files', models.PositiveIntegerField()),
                ('made_from', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='studio.task')),
                ('made_from_version', models.PositiveIntegerField(default=0)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': [django.db.models.functions.text.Lower('name')],
                'constraints': [models.UniqueConstraint(models.F('benchmark'), django.db.models.functions.text.Lower('name'), name='template_name_once'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='template_named')],
            },
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='studio.task')),
                ('number', models.PositiveIntegerField()),
                ('spec', studio.models.fields.OrderedJSONField()),
                ('sha256', models.CharField(max_length=64)),
                ('note', models.CharField(blank=True, max_length=300)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('task', 'number'), name='revision_number')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='studio.benchmark')),
                ('persona', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='studio.persona')),
                ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='studio.task')),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('verb', models.CharField(max_length=40)),
                ('summary', models.TextField(blank=True)),
                ('data', models.JSONField(blank=True, default=dict)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-at', '-pk'],
                'indexes': [models.Index(fields=['benchmark', '-at'], name='event_by_benchmark'), models.Index(condition=models.Q(('task__isnull', False)), fields=['task', '-at'], name='event_by_task')],
            },
        ),
        migrations.CreateModel(
            name='ChecklistItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checklist', to='studio.task')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('position', models.PositiveIntegerField()),
                ('criterion', models.TextField(blank=True)),
                ('weight', models.FloatField(default=1.0)),
                ('grader', models.CharField(choices=[('rubric', 'Rubric'), ('rule', 'Rule')], default='rubric', max_length=10)),
                ('rule', studio.models.fields.OrderedJSONField(blank=True, null=True)),
                ('evidence', studio.models.fields.OrderedJSONField(blank=True, default=list)),
                ('source', studio.models.fields.OrderedJSONField(blank=True, default=dict)),
                ('follows_from', models.ManyToManyField(blank=True, related_name='items', to='studio.hiddenintent')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('task', 'position'), name='item_position'), models.UniqueConstraint(fields=('task', 'uid'), name='item_uid'), models.CheckConstraint(condition=models.Q(('weight__gt', 0)), name='item_weight_positive'), models.CheckConstraint(condition=models.Q(('grader__in', ['rubric', 'rule'])), name='item_grader_known')],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='studio.revision')),
                ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to=settings.AUTH_USER_MODEL)),
                ('decision', models.CharField(choices=[('approved', 'Approved'), ('changes_requested', 'Changes requested'), ('approved_elsewhere', 'Already approved')], max_length=20)),
                ('text', models.TextField(blank=True)),
                ('points', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('reviewer__isnull', False), ('decision', 'approved_elsewhere'), _connector='OR'), name='review_has_reviewer'), models.UniqueConstraint(condition=models.Q(('decision', 'approved')), fields=('revision', 'reviewer'), name='approve_once')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='studio.task')),
                ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='studio.revision')),
                ('field', models.CharField(blank=True, max_length=60)),
                ('item_uid', models.UUIDField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
                ('before', models.TextField(blank=True)),
                ('after', models.TextField(blank=True)),
                ('start', models.PositiveIntegerField(default=0)),
                ('text', models.TextField(blank=True)),
                ('suggestion', models.TextField(blank=True, null=True)),
                ('applied_in', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='applied', to='studio.revision')),
                ('applied_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reply_to', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='studio.comment')),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('resolved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('edited_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['created_at'],
                'indexes': [models.Index(fields=['task', 'created_at'], name='comment_by_task')],
                'constraints': [models.CheckConstraint(condition=models.Q(('reply_to', None), models.Q(('field', ''), ('item_uid', None), ('suggestion', None), ('words', '')), _connector='OR'), name='answer_has_no_place'), models.CheckConstraint(condition=models.Q(models.Q(('suggestion', None), ('words', '')), models.Q(('field', ''), _negated=True), _connector='OR'), name='words_are_in_a_field'), models.CheckConstraint(condition=models.Q(models.Q(('text', ''), _negated=True), ('suggestion__isnull', False), ('deleted_at__isnull', False), _connector='OR'), name='remark_says_something'), models.CheckConstraint(condition=models.Q(('applied_in', None), ('suggestion__isnull', False), _connector='OR'), name='applied_was_suggested')],
            },
        ),
        migrations.CreateModel(
            name='TemplateFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('template', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='studio.tasktemplate')),
                ('kind', models.CharField(choices=[('asset', 'Asset'), ('reference', 'Reference'), ('script', 'Grader script')], max_length=10)),
                ('path', models.CharField(max_length=500)),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
            ],
            options={
                'ordering': ['kind', 'path'],
                'constraints': [models.UniqueConstraint(fields=('template', 'kind', 'path'), name='template_file_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['asset', 'reference', 'script'])), name='template_file_kind_known'), models.UniqueConstraint(condition=models.Q(('kind', 'script')), fields=('template',), name='template_script_one')],
            },
        ),
        *TRIGGERS,
        SEARCH,
    ]
