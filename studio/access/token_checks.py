"""Who asks the API: a program with a token. What its scope does not allow is refused, whatever its person may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from studio.access.tokens import allows, find_token, has_expired, note_use
from studio.models import ApiToken, User

if TYPE_CHECKING:  # views read the settings that name these classes
    from rest_framework.views import APIView

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
