"""gunicorn's configuration under `make run`: the studio is loaded while the sample is made, and answers after that."""

from __future__ import annotations

import os
from importlib import import_module

preload_app = True


def when_ready(server: object) -> None:
    """Before the processes that answer are made of this one."""
    import_module("studio.urls")
    os.read(int(os.environ["STUDIO_GATE"]), 1)
