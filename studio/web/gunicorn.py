"""gunicorn's configuration under `make run`: the studio is loaded while the sample is made, and answers after that."""

from __future__ import annotations

import os

import django
from django.urls import resolve


def on_starting(server: object) -> None:
    """Before the processes that answer are made of this one. Their application is made in each of them, and reads which
    styles and scripts there are: they are collected meanwhile."""
    django.setup()
    resolve("/")  # imports every page
    os.read(int(os.environ["STUDIO_GATE"]), 1)
