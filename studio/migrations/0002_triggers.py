from pathlib import Path

from django.db import migrations


class Migration(migrations.Migration):
    """What models cannot say: the SQL files beside this one."""

    dependencies = [("studio", "0001_initial")]

    operations = [
        migrations.RunSQL("\n".join(file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob("*.sql"))))
    ]
