"""Marks in a text that lead to a person, an account or a way in: told from invented ones by how they are built."""

from studio.spec.checks.persons.identities import identities
from studio.spec.checks.persons.keys import keys
from studio.spec.checks.persons.phones import phones

__all__ = ["identities", "keys", "phones"]
