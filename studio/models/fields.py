"""A column type that PostgreSQL has and Django lacks."""

from __future__ import annotations

import json
from typing import Any

from django.db import models


class OrderedJSONField(models.JSONField):
    """JSON stored as written, with the order of its keys.

    PostgreSQL's ``json`` type: ``jsonb`` sorts keys, and exports must have the order of the imported file. The type
    has no equality or containment; query other columns.
    """

    def db_type(self, connection: Any) -> str:
        return "json"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return value  # psycopg parses json already; Django disables that for jsonb only

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if value is None or hasattr(value, "as_sql"):
            return value
        if not value and type(value) in (dict, list):
            return str(value)
        return json.dumps(value, ensure_ascii=False, cls=self.encoder)

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        return "%s::json"
