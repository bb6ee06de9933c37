"""The evaluation pages, a module per subject."""

from __future__ import annotations

from django.http import HttpRequest

from studio.models import User
