"""Slots of endpoints over all workers, in Valkey."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from functools import cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import redis
from django.conf import settings

from evaluation.llm.slots import ASK_AGAIN, FORGOTTEN, PROCESS, Slots

logger = logging.getLogger(__name__)
AWAY_SECONDS = 5.0
"""Without Valkey each process takes the whole limit, and looks for it again after this."""
LEASE = 6.0
"""Seconds after which the slots of a process that died are free."""
BEAT = LEASE / 3
"""Seconds between two renewals of the slots of a process."""

_TAKE = """
-- KEYS: busy (by when a slot runs out), waiting (by when it asked), held; a member is its call, a space, its group
local limit, who, group, seconds, forgotten = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local me = who .. ' ' .. group
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - forgotten)

local function counted(key)
  local counts = {}
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    local name = string.sub(member, string.find(member, ' ', 1, true) + 1)
    counts[name] = (counts[name] or 0) + 1
  end
  return counts
end

local function is_next()
  if redis.call('ZCARD', KEYS[2]) == 0 then return true end
  local waiting = counted(KEYS[2])
  if waiting[group] and not redis.call('ZSCORE', KEYS[2], me) then return false end
  local busy = counted(KEYS[1])
  for other in pairs(waiting) do
    if (busy[group] or 0) > (busy[other] or 0) then return false end
  end
  return true
end

if not redis.call('ZSCORE', KEYS[1], me) then
  local held = redis.call('PTTL', KEYS[3])
  if held > 0 then return {0, held} end
  if redis.call('ZCARD', KEYS[1]) >= limit or not is_next() then
    redis.call('ZADD', KEYS[2], now, me)
    redis.call('EXPIRE', KEYS[2], 60)
    return {0, 0}
  end
end
redis.call('ZREM', KEYS[2], me)
redis.call('ZADD', KEYS[1], now + seconds, me)
redis.call('EXPIRE', KEYS[1], 86400)
return {1, 0}
"""
_RENEW = """
-- KEYS: busy; then by pairs, for how long from now, and a member, which may have left
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
for at = 1, #ARGV, 2 do redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[at]), ARGV[at + 1]) end
"""


class SharedSlots:
    """Falls back on those of the process while Valkey is away. A slot is taken for a moment, and renewed while its
    process lives."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._take = client.register_script(_TAKE)
        self._renew = client.register_script(_RENEW)
        self._away_until = 0.0
        self._mine: dict[tuple[str, str], float] = {}
        """Until when, by key and member: a call is over by then."""
        self._lock = threading.Lock()
        """Of these and of the thread."""
        self._thread: threading.Thread | None = None

    def take(self, place: str, limit: int, who: str, group: str, seconds: float) -> tuple[bool, float]:
        if time.monotonic() >= self._away_until:
            try:
                has, held = self._take(
                    keys=[_key(place, part) for part in ("busy", "waiting", "held")],
                    args=[limit, who, group, min(seconds, LEASE), FORGOTTEN],
                )
                if has:
                    self._keep(_key(place, "busy"), f"{who} {group}", seconds)
                return bool(has), held / 1000 or ASK_AGAIN
            except redis.RedisError as error:
                self._lose(error)
        return PROCESS.take(place, limit, who, group, seconds)

    def leave(self, place: str, who: str, group: str) -> None:
        PROCESS.leave(place, who, group)
        with self._lock:
            self._mine.pop((_key(place, "busy"), f"{who} {group}"), None)
        if time.monotonic() < self._away_until:
            return
        try:  # who waited and gave up is forgotten
            self._client.zrem(_key(place, "busy"), f"{who} {group}")
        except redis.RedisError as error:
            self._lose(error)

    def hold(self, place: str, seconds: float) -> None:
        try:
            self._client.set(_key(place, "held"), 1, px=max(1, round(seconds * 1000)))
        except redis.RedisError as error:
            self._lose(error)
            PROCESS.hold(place, seconds)

    def in_flight(self, place: str, group: str) -> int:
        try:
            members: list[Any] = list(self._client.zrangebyscore(_key(place, "busy"), time.time(), "+inf"))
        except redis.RedisError as error:
            self._lose(error)
            return PROCESS.in_flight(place, group)
        return sum(member.decode().partition(" ")[2] == group for member in members)

    def _keep(self, key: str, member: str, seconds: float) -> None:
        with self._lock:
            self._mine[key, member] = time.monotonic() + seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew_periodically, name="slots", daemon=True)
                self._thread.start()

    def _renew_periodically(self) -> None:
        while True:
            time.sleep(BEAT)
            now = time.monotonic()
            with self._lock:
                self._mine = {slot: until for slot, until in self._mine.items() if until > now}
                if not self._mine:
                    self._thread = None
                    return
                by_key: dict[str, list[float | str]] = {}
                for (key, member), until in self._mine.items():
                    by_key.setdefault(key, []).extend((min(until - now, LEASE), member))
            try:
                for key, pairs in by_key.items():
                    self._renew(keys=[key], args=pairs)
            except redis.RedisError as error:
                self._lose(error)

    def _lose(self, error: redis.RedisError) -> None:
        logger.warning("Limits are not shared with other workers, for the broker is away: %s", error)
        self._away_until = time.monotonic() + AWAY_SECONDS


def _key(place: str, part: str) -> str:
    return f"pi-bench:{{{hashlib.sha256(place.encode()).hexdigest()[:24]}}}:{part}"


_lock = threading.Lock()


def slots() -> Slots:
    """Those of the process where the broker does not speak Redis's protocol."""
    with _lock:
        return _of(settings.CELERY_BROKER_URL, os.getpid())


@cache
def _of(url: str, _: int) -> Slots:
    parts = urlsplit(url)
    if parts.scheme == "redis+socket":
        path = unquote(parts.netloc + parts.path)
        database = int(parse_qs(parts.query).get("virtual_host", ["0"])[0])
        return SharedSlots(redis.Redis(unix_socket_path=path, db=database, socket_timeout=5))
    if parts.scheme in ("redis", "rediss"):
        return SharedSlots(redis.Redis.from_url(url, socket_timeout=5))
    return PROCESS
