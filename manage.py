#!/usr/bin/env python
"""Every command of the studio. Brings the embedded database and broker up where none are named."""

import os
import sys

NEEDS_NO_DATABASE = {"help", "--version", "version", "collectstatic", "makemessages"}
ASKS_FOR_HELP = {"--help", "-h"}


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from studio.local.paths import LocalError
    from studio.local.services import ensure_broker, ensure_database
    from studio.local.tables import migrate_if_needed

    if len(sys.argv) > 1 and sys.argv[1] not in NEEDS_NO_DATABASE and not ASKS_FOR_HELP.intersection(sys.argv[1:]):
        try:
            embedded = ensure_database()
            ensure_broker()
        except LocalError as error:
            print(error, file=sys.stderr)
            return 1
        if embedded:
            migrate_if_needed(sys.argv[1])
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
