"""Marks in a text that lead to a person, an account or a way in: told from invented ones by how they are built."""

from studio.domain.checks.personal_data.identities import identities
from studio.domain.checks.personal_data.keys import keys
from studio.domain.checks.personal_data.phones import phones

__all__ = ["identities", "keys", "phones"]
