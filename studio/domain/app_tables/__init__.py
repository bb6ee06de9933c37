"""Tables of app data as people edit them: as cells, as CSV and JSON files."""
