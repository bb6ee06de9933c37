#!/usr/bin/env bash
# `make test-machines`: a bare Debian (SUITE=trixie) in namespaces of its own, and in it both commands of the README, as
# root and as an ordinary user. Nothing of this machine is mounted there but devices; what a network of its own needs
# (names of servers, certificates) is copied. ARGS go to `make test`; the log is var/machines/SUITE.log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
suite=${SUITE:-trixie}
work=$PWD/var/machines
base=$work/$suite.base tree=$work/$suite log=$work/$suite.log

if [ "${1:-}" = inside ]; then
  # Runs in the namespaces; the new root becomes theirs.
  mount --make-rprivate /
  mount --bind "$tree" "$tree"
  mkdir -p "$tree"/{dev,proc,sys,tmp,outside}
  mount --rbind /dev "$tree/dev"
  mount -t proc proc "$tree/proc"
  mount -t sysfs sysfs "$tree/sys" 2>/dev/null || true
  mount -t tmpfs tmpfs "$tree/tmp"
  cd "$tree"
  pivot_root . outside
  umount --lazy /outside
  exec /bin/bash /root/both-commands
fi

[ "$(id -u)" = 0 ] || { echo "Run this as root: it makes namespaces and runs debootstrap." >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
mkdir -p "$work"
if [ ! -e "$base/ready" ]; then
  rm -rf "$base"
  # What the README asks for, and git, to get it.
  debootstrap --variant=minbase --include=ca-certificates,git,make,python3,python3-venv "$suite" "$base" >"$work/debootstrap.log" 2>&1 ||
    { tail -5 "$work/debootstrap.log" >&2; exit 1; }
  useradd --root "$base" --create-home --shell /bin/bash somebody
  touch "$base/ready"
fi
rm -rf "$tree"
cp -a "$base" "$tree"
cp -L /etc/resolv.conf /etc/hosts "$tree/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
git bundle create --quiet "$tree/srv/studio.bundle" HEAD
cat >"$tree/root/both-commands" <<'INSIDE'
set -uo pipefail
. /etc/os-release
echo "$PRETTY_NAME, $(python3 --version), $(nproc) cores"
failed=0
for who in root somebody; do
  home=$(getent passwd $who | cut -d: -f6)
  echo "== make run, as $who"
  runuser -u $who -- env -i HOME="$home" PATH="$PATH" SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    PIP_DEFAULT_TIMEOUT=180 ARGS="${ARGS:-}" bash -c '
    set -muo pipefail  # -m: or what runs beside ignores Ctrl-C
    cd "$HOME" && git -c advice.detachedHead=false -c init.defaultBranch=main clone --quiet /srv/studio.bundle studio && cd studio || exit 1
    started=$(date +%s)
    make run >run.log 2>&1 &
    page="import urllib.request; urllib.request.urlopen(\"http://127.0.0.1:8000/\").read()"
    for second in $(seq 900); do
      python3 -c "$page" 2>/dev/null && break
      kill -0 $! 2>/dev/null || break
      sleep 1
    done
    python3 -c "$page" && echo "the page after $(($(date +%s) - started)) s" || { cat run.log; exit 1; }
    kill -INT -- -$!
    wait
    sed "s/^/  | /" run.log
    echo "== make test, as $(id -un)"
    make test ARGS="$ARGS" 2>&1 | tail -40
  ' || { echo "FAILED as $who"; failed=1; }
done
exit $failed
INSIDE
unshare --mount --uts --ipc --pid --fork --kill-child env -i PATH="/usr/sbin:/usr/bin:/sbin:/bin" SUITE="$suite" ARGS="${ARGS:-}" \
  bash "$0" inside 2>&1 | tee "$log"
