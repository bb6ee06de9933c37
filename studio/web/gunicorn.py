"""gunicorn's configuration under `make run`: the studio is loaded while the sample is made, and answers after that."""

from __future__ import annotations

import os

from django.urls import resolve

preload_app = True


def when_ready(server: object) -> None:
    """Before the processes that answer are made of this one."""
    resolve("/")  # imports every page
    os.read(int(os.environ["STUDIO_GATE"]), 1)
