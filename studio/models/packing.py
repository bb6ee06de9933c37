"""Columns of text and JSON that are stored compressed, each value by itself.

PostgreSQL compresses a value only in rows longer than 2 kB. What is stored cannot be searched by the database.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from django.db import models

PLAIN, DEFLATED = b"\0", b"\1"


def pack(text: str) -> bytes:
    plain = text.encode()
    if len(plain) < 64:
        return PLAIN + plain
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = packer.compress(plain) + packer.flush()
    return DEFLATED + packed if len(packed) < len(plain) else PLAIN + plain


def unpack(packed: bytes) -> str:
    content = packed[1:]
    return (zlib.decompress(content, -zlib.MAX_WBITS) if packed[:1] == DEFLATED else content).decode()


class BytesField(models.Field[Any, Any]):
    """Something that is stored as bytes."""

    def db_type(self, connection: Any) -> str:
        return "bytea"


class DigestField(BytesField):
    """Digits of a hash, two in a byte; may be empty."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else bytes(value).hex()

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return bytes.fromhex(value) if isinstance(value, str) else value


class _PackedField(BytesField):
    def write(self, value: Any) -> str:
        return str(value)

    def read(self, text: str) -> Any:
        return text

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else self.read(unpack(bytes(value)))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if value is None or hasattr(value, "as_sql") or isinstance(value, bytes):
            return value
        return pack(self.write(value))

    def get_lookup(self, lookup_name: str) -> Any:
        """Equal values may be stored in different ways."""
        return super().get_lookup(lookup_name) if lookup_name == "isnull" else None


class PackedTextField(_PackedField):
    pass


class PackedJSONField(_PackedField):
    """With the order of keys."""

    def write(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def read(self, text: str) -> Any:
        return json.loads(text)
