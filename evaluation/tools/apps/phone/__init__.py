"""A telephone: contacts, text messages, alarms, the clock."""
