"""File contents, addressed by their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.db import models
from django.db.models.functions import Length


class BlobManager(models.Manager["Blob"]):
    def store(self, contents: Sequence[bytes]) -> list[str]:
        """Return the sha256 of each content, in order. One statement; stored contents are skipped."""
        hashed = {hashlib.sha256(content).hexdigest(): content for content in contents}
        self.bulk_create(
            [Blob(sha256=sha, size=len(content), content=content) for sha, content in hashed.items()],
            ignore_conflicts=True,
            batch_size=500,
        )
        return [hashlib.sha256(content).hexdigest() for content in contents]

    def read(self, sha256s: Sequence[str]) -> dict[str, bytes]:
        rows = self.filter(pk__in=set(sha256s)).values_list("pk", "content")
        return {sha: bytes(content) for sha, content in rows}


class Blob(models.Model):
    """A file's content, immutable and shared by all rows that name it. In the database, so that a task and its files
    are saved in one transaction, one backup has everything, and workers on any machine can rebuild a workspace."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    size = models.BigIntegerField()
    content = models.BinaryField()

    objects = BlobManager()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(size=Length("content")), name="blob_size_true")]
