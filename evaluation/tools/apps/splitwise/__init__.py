"""Shared expenses: groups, who paid, who owes whom."""
