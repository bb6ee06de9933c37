"""How initial migrations make tables."""

from __future__ import annotations

import pytest
from django.db import migrations

from studio.models.tables import Tables


def test_operation_that_makes_no_table_is_refused():
    with pytest.raises(TypeError, match="RunSQL is not made with the tables"):
        Tables([migrations.RunSQL("SELECT 1")])
