"""Tokens of the API: a program shows one in place of a person."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from studio.models import ApiToken, User

if TYPE_CHECKING:  # views read the settings that name these classes
    from rest_framework.views import APIView


DAYS = (7, 30, 90, 365)
"""How long a token may be valid."""
PREFIX = "pbs_"
"""By which secret scanners and people know one."""
START = 8
MAX_TOKENS = 50
NOTED_EVERY = timedelta(minutes=1)
"""Uses within it are noted once, which spares a write per request."""


class TokenError(Exception):
    """The message says what to do."""


def create_token(user: User, *, name: str, scope: str, days: int) -> tuple[ApiToken, str]:
    """The token and its secret, which is stored nowhere. Raises TokenError."""
    if user.api_tokens.count() >= MAX_TOKENS:
        raise TokenError(f"You have {MAX_TOKENS} tokens. Revoke one that you no longer need.")
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        scope=scope,
        digest=digest_of(secret),
        start=secret[:START],
        expires_at=timezone.now() + timedelta(days=days),
    )
    return token, secret


def find_token(secret: str) -> ApiToken | None:
    """Also an expired one, so that its holder can be told."""
    return ApiToken.objects.select_related("user").filter(digest=digest_of(secret)).first()


def has_expired(token: ApiToken, now: datetime | None = None) -> bool:
    return token.expires_at <= (now or timezone.now())


def note_use(token: ApiToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def allows(token: ApiToken, scope: str) -> bool:
    order = list(ApiToken.Scope)
    return order.index(ApiToken.Scope(token.scope)) >= order.index(ApiToken.Scope(scope))


def tokens_of(user: User) -> QuerySet[ApiToken]:
    return user.api_tokens.all()


def active_tokens(user: User) -> QuerySet[ApiToken]:
    return user.api_tokens.filter(Q(expires_at__gt=timezone.now()))


def digest_of(secret: str) -> str:
    """A plain hash is enough: secrets have 256 random bits, which nobody guesses, however fast the hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


KEYWORDS = ("token", "bearer")


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Token pbs_…``, or Bearer."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        keyword, _, secret = request.headers.get("Authorization", "").strip().partition(" ")
        if keyword.lower() not in KEYWORDS:
            return None
        token = find_token(secret.strip())
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("This token is unknown. It may have been revoked; create one in your settings.")
        if has_expired(token):
            raise AuthenticationFailed(
                f"The token “{token.name}” expired on {token.expires_at:%Y-%m-%d}. Create a new one in your settings."
            )
        note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Token"


class TokenScope(BasePermission):
    """Reading needs ``read``, anything else ``write``, and what a view calls its ``token_scope`` that."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method not in SAFE_METHODS:
            require_scope(request, getattr(view, "token_scope", ApiToken.Scope.WRITE))
        return True


def require_scope(request: Request, needed: str) -> None:
    """Of the token, if it is a program that asks. Raises PermissionDenied."""
    token = request.auth
    if isinstance(token, ApiToken) and not allows(token, needed):
        raise PermissionDenied(
            f"The token “{token.name}” may only “{token.get_scope_display().lower()}”; this needs "
            f"“{ApiToken.Scope(needed).label.lower()}”. Create another token in your settings."
        )
