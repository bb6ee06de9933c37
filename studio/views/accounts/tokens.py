"""Tokens for programs that use the API."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from studio.access import SignedInRequest
from studio.access.tokens import DAYS, TokenError, create_token, has_expired, tokens_of
from studio.forms.accounts import TokenForm


@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: SignedInRequest) -> HttpResponse:
    """The secret of a new token is on the answer to its form, and nowhere after."""
    form = TokenForm(request.POST or None, valid_days=DAYS)
    made = secret = None
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = create_token(request.user, **form.cleaned_data)
        except TokenError as error:
            form.add_error(None, str(error))
        else:
            form = TokenForm(valid_days=DAYS)
    rows = [(token, has_expired(token)) for token in tokens_of(request.user)]
    answer = render(
        request, "studio/accounts/tokens.html", {"form": form, "tokens": rows, "made": made, "secret": secret}
    )
    if secret:
        answer.headers["Cache-Control"] = "no-store"
    return answer


@login_required
@require_POST
def revoke(request: SignedInRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(tokens_of(request.user), pk=pk)
    token.delete()
    messages.success(request, f"“{token.name}” is revoked. Programs that use it no longer have access.")
    return redirect("studio:tokens")
