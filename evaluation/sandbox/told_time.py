"""What time programs in the sandbox are told: a session's, not the machine's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

LIBRARIES = ("libfaketimeMT.so.1", "libfaketime.so.1")
DATE = "date"


@cache
def find_library() -> str:
    """libfaketime, of the system; empty if it is not there."""
    places = (Path("/usr/lib"), *Path("/usr/lib").glob("*-linux-gnu"), Path("/usr/local/lib"))
    found = (place / "faketime" / name for name in LIBRARIES for place in places)
    return next((str(path) for path in found if path.is_file()), "")


def environment(now: datetime) -> Mapping[str, str]:
    """Variables of a process whose programs are to start at ``now``."""
    library = find_library()
    if not library:
        return {}
    return {
        "LD_PRELOAD": library,
        "FAKETIME": f"@{now:%Y-%m-%d %H:%M:%S}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DISABLE_SHM": "1",
    }


def programs(now: datetime) -> Mapping[str, bytes]:
    """By name: those that stand before the system's own where libfaketime is not."""
    return {} if find_library() else {DATE: _DATE.format(now=f"{now:%Y-%m-%d %H:%M:%S}").encode()}


def seconds(now: datetime) -> int:
    """Since the epoch: inside, it is UTC."""
    return int(now.replace(tzinfo=UTC).timestamp())


_DATE = """\
#!/bin/sh
# The time of the session. What -d says is seen from there, unless it names a day itself.
now='{now} UTC'
said=
for word; do
  shift
  case $follows$word in
    -d|--date) follows=d; continue ;;
    d*) said=$word; follows=; continue ;;
    -d?*) said=${{word#-d}}; continue ;;
    --date=*) said=${{word#--date=}}; continue ;;
    -f*|--file*|-r*|--reference*|-s*|--set*) exec /usr/bin/date "$word" "$@" ;;
  esac
  set -- "$@" "$word"
done
case $said in
  *[0-9][0-9][0-9][0-9]*|@*) exec /usr/bin/date -d "$said" "$@" ;;
  *[Tt]oday*|*[Yy]esterday*) ;;
  *[A-Za-z][Dd]ay*|*[Mm]on|*[Tt]ue|*[Ww]ed|*[Tt]hu|*[Ff]ri|*[Ss]at|*[Ss]un)
    echo "date: weekdays cannot be looked up here; today is $(/usr/bin/date -d "$now" +%A)" >&2
    exit 1 ;;
esac
case $said in *:*) now=${{now%% *}} ;; esac
exec /usr/bin/date -d "$now $said" "$@"
"""
