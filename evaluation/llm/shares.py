"""The share of each worker process in an endpoint's limits, agreed on in Valkey.

Each process says how many calls each of its groups wants under way. A script there divides the limit between groups,
then each group's part between processes. A share only grows by what the others do not hold, so the limit is kept at
every moment.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import redis
from django.conf import settings

from evaluation.llm.rates import Rates

DEAD_SECONDS = 5.0
"""A process that has said nothing for longer holds nothing."""

_AGREE = """
local me, now, limit, dead = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local mine = cjson.decode(ARGV[5])
local news = cjson.decode(ARGV[6])
local procs, names = {}, {}
local rows = redis.call('HGETALL', KEYS[1])
for i = 1, #rows, 2 do
  local row = cjson.decode(rows[i + 1])
  if now - row.at > dead then redis.call('HDEL', KEYS[1], rows[i])
  elseif rows[i] ~= me then procs[rows[i]] = row end
end
local before = redis.call('HGET', KEYS[1], me)
local given = before and cjson.decode(before).given or 0
procs[me] = {at = now, demand = mine.demand, busy = mine.busy, lease = mine.held, given = given}
for name in pairs(procs) do names[#names + 1] = name end
table.sort(names)

-- the limit between groups: no group gets more than it wants, and none less than another that gets more
local wanted, groups = {}, {}
for _, name in ipairs(names) do
  for group, number in pairs(procs[name].demand) do
    if not wanted[group] then wanted[group] = 0; groups[#groups + 1] = group end
    wanted[group] = wanted[group] + number
  end
end
table.sort(groups, function(a, b) if wanted[a] == wanted[b] then return a < b end return wanted[a] < wanted[b] end)
local left, part = limit, {}
for i, group in ipairs(groups) do
  part[group] = math.min(wanted[group], left / (#groups - i + 1))
  left = left - part[group]
end

-- each group's part between processes, in whole slots; those who had none for longest come first
local target, order, whole = {}, {}, 0
for _, name in ipairs(names) do
  local sum = 0
  for group, number in pairs(procs[name].demand) do sum = sum + part[group] * number / wanted[group] end
  target[name] = math.floor(sum + 1e-9)
  whole = whole + target[name]
  if sum - target[name] > 1e-9 then order[#order + 1] = {name = name, rest = sum - target[name]} end
end
table.sort(order, function(a, b)
  if procs[a.name].given ~= procs[b.name].given then return procs[a.name].given < procs[b.name].given end
  if a.rest ~= b.rest then return a.rest > b.rest end
  return a.name < b.name
end)
for _, entry in ipairs(order) do
  if whole >= limit then break end
  target[entry.name] = target[entry.name] + 1
  whole = whole + 1
end
local others = 0
for _, name in ipairs(names) do if name ~= me then others = others + procs[name].lease end end
local lease = math.max(mine.held, math.min(target[me], limit - others))
procs[me].lease = lease
if lease > 0 then procs[me].given = now end
if next(mine.demand) then redis.call('HSET', KEYS[1], me, cjson.encode(procs[me]))
else redis.call('HDEL', KEYS[1], me) end
redis.call('EXPIRE', KEYS[1], 3600)

-- what the endpoint said about its rates
local stored = redis.call('GET', KEYS[2])
local rate = stored and cjson.decode(stored) or {hold = 0}
if news.hold > rate.hold then rate.hold = news.hold end
for _, kind in ipairs({'requests', 'tokens'}) do
  local at = kind .. '_at'
  if rate[kind] and rate[at] <= now then rate[kind] = nil end
  if rate[kind] and kind == 'requests' then rate[kind] = rate[kind] - news.sent end
  if news[kind] then
    if rate[kind] then rate[kind] = math.min(rate[kind], news[kind]) else rate[kind] = news[kind] end
    rate[at] = news[at]
  end
  if rate[kind] and rate[kind] <= 0 and rate[at] > rate.hold then rate.hold = rate[at] end
end
redis.call('SET', KEYS[2], cjson.encode(rate), 'EX', 3600)
local credit = -1
if rate.requests then
  local total = 0
  for _, name in ipairs(names) do total = total + math.max(procs[name].lease, 1) end
  credit = math.max(0, math.floor(rate.requests * math.max(lease, 1) / total))
  if credit == 0 and rate.requests > 0 and me == names[1] then credit = 1 end
end
return {lease, tostring(rate.hold), credit}
"""


@dataclass(frozen=True)
class Share:
    slots: int
    hold_until: float = 0.0
    """Unix time before which nothing is sent."""
    credit: int | None = None
    """Requests that may be sent until the next agreement; None: any number."""

    def open_at(self, now: float) -> bool:
        return now >= self.hold_until and (self.credit is None or self.credit > 0)

    def spend(self) -> Share:
        return self if self.credit is None else replace(self, credit=self.credit - 1)

    def resized(self, slots: int) -> Share:
        return self if slots == self.slots else replace(self, slots=slots)

    def hold(self, rates: Rates, now: float) -> Share:
        """For a process that agrees with nobody."""
        until = max(self.hold_until, rates.hold_until)
        for left, at in ((rates.requests, rates.requests_at), (rates.tokens, rates.tokens_at)):
            if left is not None and left <= 0:
                until = max(until, at)
        return replace(self, hold_until=until) if until > now else self


class SharedLimits:
    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._agree = client.register_script(_AGREE)
        self._name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"

    def agree(
        self, key: str, limit: int, demand: Mapping[str, int], busy: Mapping[str, int], sent: int, rates: Rates
    ) -> Share:
        """``demand``: calls that each group wants under way, those that are, ``busy``, included. ``sent``: since the
        last time. Raises redis.RedisError.
        """
        news: dict[str, Any] = {"hold": rates.hold_until, "sent": sent}
        if rates.requests is not None:
            news |= {"requests": rates.requests, "requests_at": rates.requests_at}
        if rates.tokens is not None:
            news |= {"tokens": rates.tokens, "tokens_at": rates.tokens_at}
        slots, hold, credit = self._agree(
            keys=[_name(key, "shares"), _name(key, "rates")],
            args=[
                self._name,
                time.time(),
                limit,
                DEAD_SECONDS,
                json.dumps({"demand": dict(demand), "busy": dict(busy), "held": sum(busy.values())}),
                json.dumps(news),
            ],
        )
        return Share(int(slots), float(hold), None if int(credit) < 0 else int(credit))

    def in_flight(self, key: str, group: str) -> int:
        """Calls of a group under way, over all workers, a moment ago. Raises redis.RedisError."""
        rows = [json.loads(row) for row in self._client.hvals(_name(key, "shares"))]
        fresh = [row["busy"] for row in rows if time.time() - row["at"] < DEAD_SECONDS]
        return sum(busy.get(group, 0) for busy in fresh if isinstance(busy, dict))


def _name(key: str, what: str) -> str:
    return f"pi-bench:{{{hashlib.sha256(key.encode()).hexdigest()[:24]}}}:{what}"


_lock = threading.Lock()


def shared_limits() -> SharedLimits | None:
    """None where the broker does not speak Redis's protocol: then limits hold for each process."""
    with _lock:
        return _of(settings.CELERY_BROKER_URL, os.getpid())


@cache
def _of(url: str, _: int) -> SharedLimits | None:
    parts = urlsplit(url)
    if parts.scheme == "redis+socket":
        path = unquote(parts.netloc + parts.path)
        database = int(parse_qs(parts.query).get("virtual_host", ["0"])[0])
        client = redis.Redis(unix_socket_path=path, db=database, socket_timeout=5)
    elif parts.scheme in ("redis", "rediss"):
        client = redis.Redis.from_url(url, socket_timeout=5)
    else:
        return None
    return SharedLimits(client)
