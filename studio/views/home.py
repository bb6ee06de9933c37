from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_required
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "studio/home.html")


@login_required
def benchmarks(request: HttpRequest) -> HttpResponse:
    return render(request, "studio/benchmarks.html")
