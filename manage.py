#!/usr/bin/env python
"""Every command of the studio. Brings the embedded database and broker up where none are named."""

import os
import secrets
import sys

NEEDS_NO_DATABASE = {"help", "--version", "version", "collectstatic", "makemessages"}
ASKS_FOR_HELP = {"--help", "-h"}


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from studio.local import services
    from studio.local.paths import LocalError
    from studio.local.schema import migrate_if_needed

    if len(sys.argv) > 1 and sys.argv[1] not in NEEDS_NO_DATABASE and not ASKS_FOR_HELP.intersection(sys.argv[1:]):
        try:
            wait = sys.argv[1] != "run"  # which has much to load meanwhile
            embedded = services.ensure_database(wait=wait)
            services.ensure_broker(wait=wait)
            if embedded:
                services.ensure_key_secret()
                migrate_if_needed(sys.argv[1])
        except LocalError as error:
            if "--json" not in sys.argv:
                print(error, file=sys.stderr)
                return 1
            services.missing = str(error)  # the command says so in the document its reader waits for
            os.environ.setdefault("STUDIO_SECRET_KEY", secrets.token_urlsafe())  # the folder of the kept one may fail
    if sys.argv[1:2] == ["run"]:  # starts the web server before it loads what itself needs
        from studio.management.commands.run import Command

        Command().run_from_argv(sys.argv)
        return 0
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
