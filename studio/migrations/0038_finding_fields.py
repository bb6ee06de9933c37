"""Fields of findings are called as flaws call them: fix and passage. Columns keep their names."""

from django.db import migrations, models


def rename_field(old, new):
    """Two operations; neither changes the database, since the field names the old column."""
    field = models.TextField(blank=True, db_column=old)
    return [migrations.AlterField("Finding", old, field), migrations.RenameField("Finding", old, new)]


class Migration(migrations.Migration):
    dependencies = [("studio", "0037_tasks_not_checked")]

    operations = [*rename_field("words", "passage"), *rename_field("mend", "fix")]
