"""The log of requests that gunicorn writes."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger

from studio.web.request_ids import without_secrets


class DiscreetLogger(Logger):
    """Leaves out the secrets that stand in addresses, and in those people came from."""

    def atoms(self, *request: Any) -> dict[str, Any]:
        found = super().atoms(*request)
        return {name: without_secrets(value) if isinstance(value, str) else value for name, value in found.items()}
