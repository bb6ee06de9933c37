"""Data to start from: one account with one note."""

from __future__ import annotations

from typing import Any

EXAMPLE: dict[str, Any] = {
    "accounts": [{"username": "ada@example.com", "password": "notes-of-ada", "first_name": "Ada", "last_name": "Berg"}],
    "notes": [
        {
            "owner": "ada@example.com",
            "title": "Packing list",
            "content": "Passport\nRain coat",
            "tags": ["travel"],
            "created_at": "2026-04-02T18:30:00",
            "updated_at": "2026-04-02T18:30:00",
        }
    ],
}
