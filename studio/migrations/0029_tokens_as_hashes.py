"""API keys stored in plain text become hashed tokens, and benchmarks that nobody can see get an owner."""

import hashlib
from datetime import timedelta

from django.db import migrations
from django.utils import timezone

IMPORTED_DAYS = 90


def hash_tokens(apps, schema_editor):
    connection = schema_editor.connection
    if "authtoken_token" not in connection.introspection.table_names():
        return
    token = apps.get_model("studio", "ApiToken")
    with connection.cursor() as cursor:
        cursor.execute("SELECT key, user_id, created FROM authtoken_token")
        rows = cursor.fetchall()
        cursor.execute("DROP TABLE authtoken_token")
    for key, user, created in rows:
        row = token.objects.create(
            user_id=user,
            name="imported",
            digest=hashlib.sha256(key.encode()).hexdigest(),
            start=key[:8],
            scope="full",
            expires_at=timezone.now() + timedelta(days=IMPORTED_DAYS),
        )
        token.objects.filter(pk=row.pk).update(created_at=created)


def give_owners(apps, schema_editor):
    user = apps.get_model("studio", "User").objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if user is None:
        return
    membership = apps.get_model("studio", "Membership")
    for benchmark in apps.get_model("studio", "Benchmark").objects.filter(memberships=None):
        membership.objects.create(benchmark=benchmark, user=user, role="owner")


class Migration(migrations.Migration):
    dependencies = [
        ("studio", "0028_invitations_and_tokens"),
    ]

    operations = [
        migrations.RunPython(hash_tokens, migrations.RunPython.noop),
        migrations.RunPython(give_owners, migrations.RunPython.noop),
    ]
