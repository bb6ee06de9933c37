"""File contents, by content."""

from __future__ import annotations

import hashlib

from django.db import models
from django.db.models.functions import Length


class BlobManager(models.Manager["Blob"]):
    def keep(self, contents: list[bytes]) -> list[str]:
        """Store what is not stored yet, in one statement; return the sha256 of each, in order."""
        hashed = {hashlib.sha256(content).hexdigest(): content for content in contents}
        self.bulk_create(
            [Blob(sha256=sha, size=len(content), content=content) for sha, content in hashed.items()],
            ignore_conflicts=True,
            batch_size=500,
        )
        return [hashlib.sha256(content).hexdigest() for content in contents]

    def read(self, sha256s: list[str]) -> dict[str, bytes]:
        """Contents by sha256, in one query; what is unknown is absent."""
        rows = self.filter(pk__in=set(sha256s)).values_list("pk", "content")
        return {sha: bytes(content) for sha, content in rows}


class Blob(models.Model):
    """A file's content. In the database, so that one transaction holds a task with its files, one backup
    holds everything, and a worker on any machine can rebuild a workspace. Never changed, never deleted
    by hand: many rows may name it."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    size = models.BigIntegerField()
    content = models.BinaryField()

    objects = BlobManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(size=Length("content")), name="blob_size_true")]
