import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.constraints
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
import studio.domain.episode
import studio.models.fields
import studio.models.tables
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        studio.models.tables.Tables(
            operations=[
                migrations.CreateModel(
                    name='Task',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('position', models.PositiveIntegerField(blank=True, null=True)),
                        ('split', models.CharField(choices=[('public', 'public'), ('validation', 'validation'), ('held_out', 'held-out')], default='public', max_length=10)),
                        ('state', models.CharField(choices=[('draft', 'Draft'), ('in_review', 'In review'), ('changes_requested', 'Changes requested'), ('approved', 'Approved'), ('released', 'Released'), ('retired', 'Retired')], default='draft', max_length=20)),
                        ('version', models.PositiveIntegerField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('updated_at', models.DateTimeField(auto_now=True)),
                        ('spec', studio.models.fields.OrderedJSONField()),
                        ('task_id', models.CharField(max_length=200)),
                        ('title', models.TextField(blank=True)),
                        ('category', models.CharField(blank=True, max_length=20)),
                        ('trigger_kind', models.CharField(choices=[('user_message', 'User message'), ('webhook', 'Webhook'), ('heartbeat', 'Heartbeat'), ('feed', 'Feed'), ('file_drop', 'File drop')], default='user_message', max_length=20)),
                        ('grader_path', models.CharField(blank=True, max_length=500)),
                        ('group', models.CharField(blank=True, max_length=200)),
                        ('needs', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                        ('is_template', models.BooleanField(default=False)),
                        ('n_local', models.PositiveIntegerField(default=0)),
                        ('n_persistent', models.PositiveIntegerField(default=0)),
                        ('n_rubric', models.PositiveIntegerField(default=0)),
                        ('n_rule', models.PositiveIntegerField(default=0)),
                        ('n_files', models.PositiveIntegerField(default=0)),
                        ('tools_named', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                        ('skills_named', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                        ('parts', models.JSONField(default=dict)),
                        ('content', models.CharField(blank=True, max_length=64)),
                        ('approved_content', models.CharField(blank=True, max_length=64)),
                        ('n_errors', models.PositiveIntegerField(default=0)),
                        ('n_warnings', models.PositiveIntegerField(default=0)),
                        ('n_hints', models.PositiveIntegerField(default=0)),
                    ],
                    options={
                        'ordering': ['position', 'task_id'],
                    },
                ),
                migrations.CreateModel(
                    name='Persona',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('position', models.PositiveIntegerField(default=0)),
                        ('version', models.PositiveIntegerField(default=0)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('updated_at', models.DateTimeField(auto_now=True)),
                        ('spec', studio.models.fields.OrderedJSONField()),
                        ('episode', studio.models.fields.OrderedJSONField(default=dict)),
                        ('user_id', models.CharField(max_length=200)),
                        ('name', models.CharField(blank=True, max_length=200)),
                        ('occupation', models.TextField(blank=True)),
                        ('tools', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                        ('skills', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                    ],
                    options={
                        'ordering': ['position', 'user_id'],
                    },
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
                        ('guide_step', models.CharField(blank=True, default='', max_length=10)),
                        ('guide_started_at', models.DateTimeField(blank=True, null=True)),
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
                    name='Benchmark',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('slug', models.SlugField(max_length=80, unique=True)),
                        ('name', models.CharField(max_length=200)),
                        ('description', models.TextField(blank=True)),
                        ('approvals_needed', models.PositiveSmallIntegerField(default=1)),
                        ('review_by_list', models.BooleanField(default=False)),
                        ('validated_releases', models.BooleanField(default=False)),
                        ('plan_sessions', models.PositiveSmallIntegerField(default=20)),
                        ('plan_groups', models.PositiveSmallIntegerField(default=6)),
                        ('plan_group_least', models.PositiveSmallIntegerField(default=2)),
                        ('plan_group_most', models.PositiveSmallIntegerField(default=3)),
                        ('plan_standalone', models.PositiveSmallIntegerField(default=5)),
                        ('plan_signals', models.PositiveSmallIntegerField(default=1)),
                        ('release_limits', models.JSONField(blank=True, default=dict)),
                        ('licence', models.CharField(blank=True, choices=[('CC0-1.0', 'CC0-1.0'), ('CC-BY-4.0', 'CC-BY-4.0'), ('CC-BY-SA-4.0', 'CC-BY-SA-4.0'), ('CC-BY-NC-4.0', 'CC-BY-NC-4.0'), ('CC-BY-NC-SA-4.0', 'CC-BY-NC-SA-4.0'), ('Apache-2.0', 'Apache-2.0'), ('MIT', 'MIT'), ('CDLA-Permissive-2.0', 'CDLA-Permissive-2.0'), ('own', 'own')], max_length=40)),
                        ('licence_text', models.TextField(blank=True)),
                        ('contributors', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), blank=True, default=list, size=None)),
                        ('contact', models.CharField(blank=True, max_length=300)),
                        ('file_origins', models.JSONField(blank=True, default=list)),
                        ('prose', models.JSONField(blank=True, default=dict)),
                        ('canary', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('validation_canary', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('held_out_canary', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('taxonomy', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='studio.taxonomy')),
                    ],
                    options={
                        'ordering': ['name'],
                    },
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
                    name='CheckedTask',
                    fields=[
                        ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='checked', serialize=False, to='studio.task')),
                        ('key', models.CharField(max_length=64)),
                    ],
                ),
                migrations.AddField(
                    model_name='task',
                    name='last_author',
                    field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.CreateModel(
                    name='Digest',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('to', models.EmailField(max_length=254)),
                        ('subject', models.CharField(max_length=200)),
                        ('text', models.TextField()),
                        ('sent_at', models.DateTimeField(auto_now_add=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='digests', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-sent_at'],
                    },
                ),
                migrations.AddField(
                    model_name='task',
                    name='persona',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='studio.persona'),
                ),
                migrations.AddField(
                    model_name='persona',
                    name='benchmark',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personas', to='studio.benchmark'),
                ),
                migrations.CreateModel(
                    name='GraderScript',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('path', models.CharField(max_length=500)),
                        ('keys', models.JSONField(blank=True, null=True)),
                        ('problem', models.TextField(blank=True)),
                        ('blob', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='studio.blob')),
                        ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grader_scripts', to='studio.persona')),
                    ],
                    options={
                        'ordering': ['path'],
                    },
                ),
                migrations.CreateModel(
                    name='Event',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('verb', models.CharField(max_length=40)),
                        ('summary', models.TextField(blank=True)),
                        ('data', models.JSONField(blank=True, default=dict)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='studio.benchmark')),
                        ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='studio.task')),
                        ('persona', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='studio.persona')),
                    ],
                    options={
                        'ordering': ['-at', '-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='DiscardedText',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('page', models.CharField(blank=True, max_length=220)),
                        ('base_version', models.PositiveIntegerField()),
                        ('form_data', studio.models.fields.OrderedJSONField()),
                        ('discarded_at', models.DateTimeField(auto_now_add=True)),
                        ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.task')),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('persona', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.persona')),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='BoardMove',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('move', 'Move'), ('undo', 'Undo'), ('redo', 'Redo')], default='move', max_length=4)),
                        ('summary', models.TextField(db_column='sentence')),
                        ('digest_before', models.CharField(db_column='found', max_length=32)),
                        ('digest_after', models.CharField(db_column='left', max_length=32)),
                        ('before', studio.models.fields.OrderedJSONField()),
                        ('after', studio.models.fields.OrderedJSONField()),
                        ('at', models.DateTimeField(auto_now_add=True)),
                        ('actor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='board_moves', to='studio.persona')),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Autosave',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('page', models.CharField(blank=True, max_length=220)),
                        ('seen_at', models.DateTimeField()),
                        ('base_version', models.PositiveIntegerField(default=0)),
                        ('form_data', studio.models.fields.OrderedJSONField(db_column='sheet', null=True)),
                        ('autosaved_at', models.DateTimeField(db_column='kept_at', null=True)),
                        ('saved_fingerprint', models.CharField(blank=True, db_column='settled', max_length=64)),
                        ('number', models.PositiveIntegerField(default=0)),
                        ('window', models.CharField(blank=True, max_length=32)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='autosaves', to='studio.task')),
                        ('persona', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='autosaves', to='studio.persona')),
                    ],
                    options={
                        'db_table': 'studio_workingcopy',
                    },
                ),
                migrations.CreateModel(
                    name='PersonaRevision',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField()),
                        ('spec', studio.models.fields.OrderedJSONField()),
                        ('episode', studio.models.fields.OrderedJSONField(default=dict)),
                        ('sha256', models.CharField(max_length=64)),
                        ('changed', models.JSONField(default=dict)),
                        ('brought', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                        ('note', models.CharField(blank=True, max_length=300)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='studio.persona')),
                    ],
                    options={
                        'ordering': ['-number'],
                    },
                ),
                migrations.CreateModel(
                    name='Revision',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField()),
                        ('spec', studio.models.fields.OrderedJSONField()),
                        ('sha256', models.CharField(max_length=64)),
                        ('pieces', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                        ('note', models.CharField(blank=True, max_length=300)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('origin_authors', models.ManyToManyField(related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='studio.task')),
                    ],
                    options={
                        'ordering': ['-number'],
                    },
                ),
                migrations.CreateModel(
                    name='Review',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('decision', models.CharField(choices=[('approved', 'Approved'), ('changes_requested', 'Changes requested'), ('approved_elsewhere', 'Already approved')], max_length=20)),
                        ('content', models.CharField(max_length=64)),
                        ('parts', models.JSONField(default=dict)),
                        ('text', models.TextField(blank=True)),
                        ('answers', models.JSONField(blank=True, db_column='points', default=dict)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('reviewer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to=settings.AUTH_USER_MODEL)),
                        ('revision', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='studio.revision')),
                    ],
                    options={
                        'ordering': ['created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='Import',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(blank=True, max_length=300)),
                        ('published', models.BooleanField(default=False)),
                        ('publication', models.CharField(blank=True, choices=[('', 'Not requested'), ('requested', 'Waits for another owner'), ('confirmed', 'Confirmed'), ('declined', 'Declined')], default='', max_length=12)),
                        ('publication_at', models.DateTimeField(null=True)),
                        ('state', models.CharField(choices=[('previewed', 'previewed'), ('done', 'done'), ('refused', 'refused'), ('dropped', 'dropped')], default='previewed', max_length=12)),
                        ('report', models.JSONField(default=dict)),
                        ('upload', models.BinaryField(null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imports', to='studio.benchmark')),
                        ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('publication_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('revisions', models.ManyToManyField(related_name='+', to='studio.revision')),
                    ],
                    options={
                        'ordering': ['-created_at'],
                    },
                ),
                migrations.CreateModel(
                    name='Comment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('field', models.CharField(blank=True, max_length=60)),
                        ('item_uid', models.UUIDField(blank=True, null=True)),
                        ('quote', models.TextField(blank=True, db_column='words')),
                        ('before', models.TextField(blank=True)),
                        ('after', models.TextField(blank=True)),
                        ('start', models.PositiveIntegerField(default=0)),
                        ('text', models.TextField(blank=True)),
                        ('suggestion', models.TextField(blank=True, null=True)),
                        ('resolved_at', models.DateTimeField(blank=True, null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('edited_at', models.DateTimeField(blank=True, null=True)),
                        ('deleted_at', models.DateTimeField(blank=True, null=True)),
                        ('applied_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('reply_to', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='studio.comment')),
                        ('resolved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='studio.task')),
                        ('applied_in', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='applied', to='studio.revision')),
                        ('revision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='studio.revision')),
                    ],
                    options={
                        'ordering': ['created_at'],
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
                    name='SignInRecord',
                    fields=[
                        ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                        ('failures', models.PositiveIntegerField(default=0)),
                        ('delayed_until', models.DateTimeField(null=True)),
                        ('tried_at', models.DateTimeField()),
                        ('succeeded_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'indexes': [models.Index(fields=['tried_at'], name='sign_in_tried_at')],
                    },
                ),
                migrations.CreateModel(
                    name='Category',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('code', models.CharField(max_length=20)),
                        ('name', models.CharField(max_length=200)),
                        ('description', models.TextField(blank=True)),
                        ('position', models.PositiveIntegerField()),
                        ('taxonomy', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='studio.taxonomy')),
                    ],
                    options={
                        'ordering': ['position'],
                    },
                ),
                migrations.CreateModel(
                    name='Visit',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('before', models.DateTimeField(null=True)),
                        ('latest', models.DateTimeField()),
                        ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='visit', to=settings.AUTH_USER_MODEL)),
                    ],
                ),
                migrations.CreateModel(
                    name='Waiver',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('fingerprint', models.CharField(max_length=32)),
                        ('rule', models.CharField(max_length=80)),
                        ('reason', models.TextField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='waivers', to='studio.task')),
                    ],
                ),
                migrations.CreateModel(
                    name='ApiToken',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=100)),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('start', models.CharField(max_length=12)),
                        ('scope', models.CharField(choices=[('read', 'Read'), ('write', 'Read and write'), ('full', 'Everything, also pilots and releases')], max_length=10)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('expires_at', models.DateTimeField()),
                        ('last_used_at', models.DateTimeField(null=True)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'write', 'full'])), name='token_scope_known')],
                    },
                ),
                migrations.CreateModel(
                    name='Assignment',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('part', models.CharField(choices=[('writer', 'Author'), ('reviewer', 'Reviewer')], max_length=10)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('open', models.BooleanField(default=True, editable=False)),
                        ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                        ('benchmark', models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.benchmark')),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='studio.task')),
                    ],
                    options={
                        'ordering': ['pk'],
                        'indexes': [models.Index(fields=['user', 'part'], name='assignment_by_user'), models.Index(condition=models.Q(('open', True)), fields=['benchmark', 'user', 'part'], name='assignment_open')],
                        'constraints': [models.UniqueConstraint(fields=('task', 'user'), name='assigned_once'), models.UniqueConstraint(condition=models.Q(('part', 'writer')), fields=('task',), name='one_writer'), models.CheckConstraint(condition=models.Q(('part__in', ['writer', 'reviewer'])), name='assignment_part_known')],
                    },
                ),
                migrations.CreateModel(
                    name='ErrorWaiver',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('fingerprint', models.CharField(max_length=32)),
                        ('rule', models.CharField(max_length=80)),
                        ('message', models.TextField()),
                        ('reason', models.TextField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='error_waivers', to='studio.task')),
                    ],
                    options={
                        'db_table': 'studio_setaside',
                        'ordering': ['created_at'],
                        'constraints': [models.UniqueConstraint(fields=('task', 'fingerprint'), name='set_aside_once'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), _negated=True), models.Q(('message', ''), _negated=True)), name='set_aside_says_why')],
                    },
                ),
                migrations.CreateModel(
                    name='Finding',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('rule', models.CharField(max_length=80)),
                        ('severity', models.CharField(choices=[('error', 'error'), ('warning', 'warning'), ('hint', 'hint')], max_length=10)),
                        ('field', models.CharField(blank=True, max_length=60)),
                        ('item', models.PositiveIntegerField(blank=True, null=True)),
                        ('passage', models.TextField(blank=True, db_column='words')),
                        ('message', models.TextField()),
                        ('fix', models.TextField(blank=True, db_column='mend')),
                        ('other', models.CharField(blank=True, max_length=200)),
                        ('fingerprint', models.CharField(max_length=32)),
                        ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='studio.task')),
                    ],
                    options={
                        'indexes': [models.Index(fields=['task', 'severity'], name='finding_by_task'), models.Index(condition=models.Q(('rule', 'not-checked')), fields=['task'], name='finding_not_checked')],
                    },
                ),
                migrations.CreateModel(
                    name='Invitation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('digest', models.CharField(max_length=64, unique=True)),
                        ('role', models.CharField(blank=True, choices=[('owner', 'Owner'), ('author', 'Author'), ('reviewer', 'Reviewer'), ('auditor', 'Auditor'), ('release_manager', 'Release manager'), ('viewer', 'Viewer')], max_length=20)),
                        ('email', models.EmailField(blank=True, max_length=254)),
                        ('mailed', models.BooleanField(default=False)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('expires_at', models.DateTimeField()),
                        ('used_at', models.DateTimeField(null=True)),
                        ('revoked_at', models.DateTimeField(null=True)),
                        ('benchmark', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='studio.benchmark')),
                        ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('used_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('benchmark', None), ('role', '')), models.Q(('benchmark__isnull', False), ('role__in', ['owner', 'author', 'reviewer', 'auditor', 'release_manager', 'viewer'])), _connector='OR'), name='invitation_role_with_benchmark')],
                    },
                ),
                migrations.CreateModel(
                    name='Membership',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('role', models.CharField(choices=[('owner', 'Owner'), ('author', 'Author'), ('reviewer', 'Reviewer'), ('auditor', 'Auditor'), ('release_manager', 'Release manager'), ('viewer', 'Viewer')], max_length=20)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='studio.benchmark')),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('benchmark', 'user', 'role'), name='membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'author', 'reviewer', 'auditor', 'release_manager', 'viewer'])), name='membership_role_known')],
                    },
                ),
                migrations.CreateModel(
                    name='Notification',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('mentioned', 'Someone mentions you in a comment'), ('remarked', 'A comment on a task you write'), ('answered', 'Someone replies to you or applies your suggestion'), ('settled', 'A thread you took part in is resolved or reopened'), ('assigned', 'A task is assigned to you'), ('review_asked', 'A task is ready for a review you can give'), ('changes_requested', 'Changes are requested on a task you wrote'), ('approved', 'A task you wrote is approved'), ('edited_after', 'A task you approved, or what it depends on, is edited'), ('imported', 'An import into a benchmark you edit has finished'), ('pilot_ended', 'A pilot you started has ended'), ('model_asked', 'Someone asks you to connect a model'), ('audit_opened', 'An audit is open for you'), ('adjudication', 'Auditors disagree on a decision you can adjudicate'), ('release_blocked', 'A release waits for something you can settle')], max_length=20)),
                        ('text', models.TextField()),
                        ('address', models.CharField(max_length=500)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('read_at', models.DateTimeField(null=True)),
                        ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.benchmark')),
                        ('digest', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notifications', to='studio.digest')),
                        ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studio.task')),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-created_at', '-pk'],
                        'indexes': [models.Index(fields=['user', '-created_at'], name='notification_by_user'), models.Index(condition=models.Q(('read_at', None)), fields=['user', 'benchmark'], name='notification_unread')],
                    },
                ),
                migrations.CreateModel(
                    name='NotificationChoice',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('mentioned', 'Someone mentions you in a comment'), ('remarked', 'A comment on a task you write'), ('answered', 'Someone replies to you or applies your suggestion'), ('settled', 'A thread you took part in is resolved or reopened'), ('assigned', 'A task is assigned to you'), ('review_asked', 'A task is ready for a review you can give'), ('changes_requested', 'Changes are requested on a task you wrote'), ('approved', 'A task you wrote is approved'), ('edited_after', 'A task you approved, or what it depends on, is edited'), ('imported', 'An import into a benchmark you edit has finished'), ('pilot_ended', 'A pilot you started has ended'), ('model_asked', 'Someone asks you to connect a model'), ('audit_opened', 'An audit is open for you'), ('adjudication', 'Auditors disagree on a decision you can adjudicate'), ('release_blocked', 'A release waits for something you can settle')], max_length=20)),
                        ('how', models.CharField(choices=[('email', 'Inbox and email'), ('inbox', 'Inbox'), ('not', 'Off')], max_length=10)),
                        ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notification_choices', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='notification_choice_once')],
                    },
                ),
                migrations.AddIndex(
                    model_name='task',
                    index=models.Index(fields=['state'], name='task_by_state'),
                ),
                migrations.AddIndex(
                    model_name='task',
                    index=models.Index(condition=models.Q(('grader_path', ''), _negated=True), fields=['persona'], name='task_with_grader'),
                ),
                migrations.AddConstraint(
                    model_name='task',
                    constraint=models.UniqueConstraint(fields=('persona', 'task_id'), name='task_once'),
                ),
                migrations.AddConstraint(
                    model_name='task',
                    constraint=models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('persona', 'position'), name='task_position'),
                ),
                migrations.AddConstraint(
                    model_name='task',
                    constraint=models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'in_review', 'changes_requested', 'approved', 'released', 'retired'])), name='task_state_known'),
                ),
                migrations.AddConstraint(
                    model_name='task',
                    constraint=models.CheckConstraint(condition=models.Q(('split__in', [studio.domain.episode.Split['PUBLIC'], studio.domain.episode.Split['VALIDATION'], studio.domain.episode.Split['HELD_OUT']])), name='task_split_known'),
                ),
                migrations.AddConstraint(
                    model_name='task',
                    constraint=models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('title'), 300), name='task_title_length'),
                ),
                migrations.AddConstraint(
                    model_name='persona',
                    constraint=models.UniqueConstraint(fields=('benchmark', 'user_id'), name='persona_once'),
                ),
                migrations.AddConstraint(
                    model_name='graderscript',
                    constraint=models.UniqueConstraint(fields=('persona', 'path'), name='grader_script_once'),
                ),
                migrations.AddIndex(
                    model_name='event',
                    index=models.Index(fields=['benchmark', '-at'], name='event_by_benchmark'),
                ),
                migrations.AddIndex(
                    model_name='event',
                    index=models.Index(condition=models.Q(('task__isnull', False)), fields=['task', '-at'], name='event_by_task'),
                ),
                migrations.AddIndex(
                    model_name='event',
                    index=models.Index(condition=models.Q(('persona__isnull', False), ('verb__in', ['imported', 'approved_elsewhere']), _negated=True), fields=['benchmark', '-at'], name='event_of_feed'),
                ),
                migrations.AddIndex(
                    model_name='discardedtext',
                    index=models.Index(fields=['user', 'discarded_at'], name='discarded_text_of_user'),
                ),
                migrations.AddIndex(
                    model_name='boardmove',
                    index=models.Index(fields=['persona', '-id'], name='board_move_newest'),
                ),
                migrations.AddConstraint(
                    model_name='autosave',
                    constraint=models.UniqueConstraint(fields=('task', 'user'), name='working_copy_once'),
                ),
                migrations.AddConstraint(
                    model_name='autosave',
                    constraint=models.UniqueConstraint(fields=('persona', 'page', 'user'), name='working_copy_of_a_page_once'),
                ),
                migrations.AddConstraint(
                    model_name='autosave',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('page', ''), ('persona__isnull', True), ('task__isnull', False)), models.Q(('persona__isnull', False), ('task__isnull', True), models.Q(('page', ''), _negated=True)), _connector='OR'), name='working_copy_of_one_page'),
                ),
                migrations.AddIndex(
                    model_name='personarevision',
                    index=django.contrib.postgres.indexes.GinIndex(fields=['brought'], name='persona_revision_brought'),
                ),
                migrations.AddConstraint(
                    model_name='personarevision',
                    constraint=models.UniqueConstraint(fields=('persona', 'number'), name='persona_revision_number'),
                ),
                migrations.AddIndex(
                    model_name='revision',
                    index=django.contrib.postgres.indexes.GinIndex(fields=['pieces'], name='revision_by_pieces'),
                ),
                migrations.AddConstraint(
                    model_name='revision',
                    constraint=models.UniqueConstraint(fields=('task', 'number'), name='revision_number'),
                ),
                migrations.AddConstraint(
                    model_name='review',
                    constraint=models.CheckConstraint(condition=models.Q(('reviewer__isnull', False), ('decision', 'approved_elsewhere'), _connector='OR'), name='review_has_reviewer'),
                ),
                migrations.AddConstraint(
                    model_name='import',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('publication', 'confirmed'), _negated=True), models.Q(('publication_by__isnull', False), models.Q(('publication_by', models.F('by')), _negated=True)), _connector='OR'), name='publication_by_two'),
                ),
                migrations.AddIndex(
                    model_name='comment',
                    index=models.Index(fields=['task', 'created_at'], name='comment_by_task'),
                ),
                migrations.AddConstraint(
                    model_name='comment',
                    constraint=models.CheckConstraint(condition=models.Q(('reply_to', None), models.Q(('field', ''), ('item_uid', None), ('quote', ''), ('suggestion', None)), _connector='OR'), name='answer_has_no_place'),
                ),
                migrations.AddConstraint(
                    model_name='comment',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('quote', ''), ('suggestion', None)), models.Q(('field', ''), _negated=True), _connector='OR'), name='words_are_in_a_field'),
                ),
                migrations.AddConstraint(
                    model_name='comment',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('text', ''), _negated=True), ('suggestion__isnull', False), ('deleted_at__isnull', False), _connector='OR'), name='remark_says_something'),
                ),
                migrations.AddConstraint(
                    model_name='comment',
                    constraint=models.CheckConstraint(condition=models.Q(('applied_in', None), ('suggestion__isnull', False), _connector='OR'), name='applied_was_suggested'),
                ),
                migrations.AddConstraint(
                    model_name='category',
                    constraint=models.UniqueConstraint(fields=('taxonomy', 'code'), name='category_code_once'),
                ),
                migrations.AddConstraint(
                    model_name='benchmark',
                    constraint=models.CheckConstraint(condition=models.Q(('approvals_needed__gte', 1)), name='approvals_at_least_1'),
                ),
                migrations.AddConstraint(
                    model_name='benchmark',
                    constraint=models.CheckConstraint(condition=models.Q(('licence__in', ['', 'CC0-1.0', 'CC-BY-4.0', 'CC-BY-SA-4.0', 'CC-BY-NC-4.0', 'CC-BY-NC-SA-4.0', 'Apache-2.0', 'MIT', 'CDLA-Permissive-2.0', 'own'])), name='licence_known'),
                ),
                migrations.AddConstraint(
                    model_name='benchmark',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('licence', 'own'), models.Q(('licence_text', ''), _negated=True)), models.Q(models.Q(('licence', 'own'), _negated=True), ('licence_text', '')), _connector='OR'), name='own_licence_has_its_text'),
                ),
                migrations.AddConstraint(
                    model_name='benchmark',
                    constraint=models.CheckConstraint(condition=models.Q(('plan_group_least__range', (2, models.F('plan_group_most'))), ('plan_sessions__range', (1, 500)), ('plan_group_most__lte', 100), ('plan_groups__lte', 200), ('plan_signals__lte', models.F('plan_sessions')), ('plan_standalone__lte', 500)), name='plan_within_bounds'),
                ),
                migrations.AddConstraint(
                    model_name='benchmark',
                    constraint=models.CheckConstraint(condition=models.Q(('plan_sessions__range', (django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('plan_groups'), '*', models.F('plan_group_least')), '+', models.F('plan_standalone')), django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('plan_groups'), '*', models.F('plan_group_most')), '+', models.F('plan_standalone'))))), name='plan_adds_up'),
                ),
                migrations.AddConstraint(
                    model_name='waiver',
                    constraint=models.UniqueConstraint(fields=('task', 'fingerprint'), name='waiver_once'),
                ),
                migrations.AddConstraint(
                    model_name='waiver',
                    constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='waiver_has_reason'),
                ),
            ],
        ),
    ]
