"""Web pages of personas as PostgreSQL searches them: derived from the files that hold them, and never changed."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models.functions import Left

from studio.models import Blob

SEARCHED = 200_000
"""Characters of a page that searches look at: a vector of more words may not fit into a row."""


class StoredWebPage(models.Model):
    """The page that a file's content is. One without address is none."""

    blob = models.OneToOneField(Blob, on_delete=models.CASCADE, primary_key=True, related_name="+")
    address = models.TextField(blank=True)
    place = models.TextField(blank=True)
    """What all its addresses have in common: ``same_address``."""
    title = models.TextField(blank=True)
    date = models.TextField(blank=True)
    text = models.TextField(blank=True)
    tasks = ArrayField(models.TextField(), default=list, blank=True)
    vector = models.GeneratedField(
        expression=SearchVector(Left("title", 1_000), weight="A", config="english")
        + SearchVector(Left("text", SEARCHED), weight="D", config="english"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        indexes = [GinIndex(fields=["vector"], name="web_page_words")]
