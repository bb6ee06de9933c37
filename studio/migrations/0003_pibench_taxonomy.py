"""The categories A to R of the paper's Table 5 as data, in our words, in every studio."""

import json

from django.conf import settings
from django.db import migrations


def add(apps, schema_editor):
    taxonomy = apps.get_model("studio", "Taxonomy").objects.create(slug="pi-bench", name="π-Bench, A to R")
    rows = json.loads((settings.BASE_DIR / "fixtures" / "categories.json").read_text(encoding="utf-8"))
    category = apps.get_model("studio", "Category")
    category.objects.bulk_create(
        [category(taxonomy=taxonomy, position=position, **row) for position, row in enumerate(rows, start=1)]
    )


def remove(apps, schema_editor):
    apps.get_model("studio", "Taxonomy").objects.filter(slug="pi-bench").delete()


class Migration(migrations.Migration):
    dependencies = [("studio", "0002_invariants")]

    operations = [migrations.RunPython(add, remove)]
