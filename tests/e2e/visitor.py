"""A user's browser window, with the errors that happen in it."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from playwright.sync_api import Browser, BrowserContext, Page, expect

from studio.models import User

PATIENCE = 30_000
"""Milliseconds after which a page that does not change as expected fails the test."""
FORGET = "() => addEventListener('pagehide', () => localStorage.clear())"
STORED = "local_storage,indexeddb,cache_storage,service_workers"


class Windows:
    """Browser contexts, kept after a test as if they were new, but for the cached scripts and styles."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser = browser
        self.address = address
        self._unused: list[BrowserContext] = []

    def take(self, **options: Any) -> BrowserContext:
        """A new one if it has options."""
        if self._unused and not options:
            return self._unused.pop()
        options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"} | options
        context = self.browser.new_context(base_url=self.address, **options)
        context.set_default_timeout(PATIENCE)
        return context

    def put_back(self, context: BrowserContext, **options: Any) -> None:
        """Offline, since an editor autosaves when it is closed: not in the next test."""
        context.set_offline(True)
        if options:
            context.close()
            return
        used = context.pages
        page = context.new_page()  # before the others close, so that the process that draws them stays for it
        for other in used:
            if other.url.startswith(self.address):
                other.evaluate(FORGET)  # what an editor stores as it closes may reach the disk after it was cleared
            other.close()
        context.unroute_all()
        context.clear_permissions()
        context.clear_cookies()
        devtools = context.new_cdp_session(page)
        devtools.send("Storage.clearDataForOrigin", {"origin": self.address, "storageTypes": STORED})
        devtools.detach()
        context.set_offline(False)
        self._unused.append(context)


class Visitor:
    """A window, signed in or not. ``failures`` are script errors and violations of the content security policy."""

    def __init__(self, windows: Windows, user: User | None, **options: Any) -> None:
        self.failures: list[str] = []
        self._windows, self._options = windows, options
        self.context = windows.take(**options)
        if user is not None:
            self.context.add_cookies(
                [{"name": settings.SESSION_COOKIE_NAME, "value": _session_of(user), "url": windows.address}]
            )
        self.page = self._watched(self.context.pages[0] if self.context.pages else self.context.new_page())

    def tab(self) -> Page:
        return self._watched(self.context.new_page())

    def _watched(self, page: Page) -> Page:
        page.on("pageerror", lambda error: self.failures.append(f"{page.url}: {error}"))
        page.on("console", lambda message: message.type == "error" and self._note(page, message.text))
        return page

    def _note(self, page: Page, text: str) -> None:
        # The test checks the status of responses. The htmx events mean that none came, as when offline.
        if not text.startswith(("Failed to load resource", "htmx:afterRequest", "htmx:sendError")):
            self.failures.append(f"{page.url}: {text}")

    def go(self, path: str) -> Page:
        self.page.goto(path)
        return self.page

    def leave(self) -> None:
        self._windows.put_back(self.context, **self._options)


def _session_of(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def save_task(page: Page) -> None:
    """Save the open task and wait for the message."""
    page.keyboard.press("Control+s")
    message = re.compile("Saved as version|Already saved as version")  # the latter after leaving the page
    expect(page.get_by_role("status").filter(has_text=message)).to_be_visible()
