"""Detects real-looking personal numbers, phone numbers and access keys."""

from studio.domain.checks.personal_data.identities import identities
from studio.domain.checks.personal_data.keys import keys
from studio.domain.checks.personal_data.phones import phones

__all__ = ["identities", "keys", "phones"]
