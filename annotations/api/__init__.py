"""The API of audits."""
