"""The pages of pilots, sessions, releases and model endpoints."""

from __future__ import annotations

from django.http import HttpRequest

from studio.models import User
