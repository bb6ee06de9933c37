"""The built-in taxonomy."""

from __future__ import annotations

import json

from django.conf import settings
from django.db import transaction

from studio.models import Category, Taxonomy

PI_BENCH = "pi-bench"


@transaction.atomic
def ensure_taxonomy() -> Taxonomy:
    """Create missing categories of the paper's Table 5 (A–R); renamed ones are left alone."""
    taxonomy, created = Taxonomy.objects.get_or_create(slug=PI_BENCH, defaults={"name": "π-Bench, A–R"})
    if created:
        rows = json.loads((settings.BASE_DIR / "fixtures" / "categories.json").read_text(encoding="utf-8"))
        Category.objects.bulk_create(
            Category(taxonomy=taxonomy, position=position, **row) for position, row in enumerate(rows, 1)
        )
    return taxonomy
