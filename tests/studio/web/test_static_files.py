"""Static files: collected under names of their content."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.core.management import call_command
from django.http import HttpResponse
from django.template import Context, Template
from django.test import override_settings
from whitenoise.middleware import WhiteNoiseMiddleware

from studio.settings import STORAGES
from studio.web.static_files import StaticFilesStorage, collect_changed, imported_modules

STATIC = Path(__file__).resolve().parents[3] / "static"


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("static")
    with override_settings(
        STATIC_ROOT=str(folder),
        STORAGES=STORAGES,
        WHITENOISE_AUTOREFRESH=False,
        WHITENOISE_USE_FINDERS=False,
    ):
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        yield WhiteNoiseMiddleware(lambda request: HttpResponse(status=404)), storages["staticfiles"]


def test_collected_file_is_kept_for_good_and_sent_compressed(collected, rf):
    serve, storage = collected
    address = storage.url("vendor/htmx/htmx.min.js")

    packed = serve(rf.get(address, headers={"accept-encoding": "gzip"}))
    plain = serve(rf.get(address))

    assert re.fullmatch(r"/static/vendor/htmx/htmx\.min\.[0-9a-f]{12}\.js", address)
    assert "immutable" in packed["Cache-Control"]
    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(packed)) == b"".join(plain)


def test_style_sheets_of_every_page_are_collected_as_one(collected, rf):
    serve, storage = collected
    text = b"".join(serve(rf.get(storage.url("css/studio.css")))).decode()
    names = re.findall(r'@import "(\w+)\.css";', (STATIC / "css/studio.css").read_text())

    assert "@import" not in text
    positions = [text.index((STATIC / f"css/{name}.css").read_text().strip()) for name in names]
    assert positions == sorted(positions)
    assert len(names) > 10


def test_collected_modules_import_collected_modules(collected, rf):
    serve, storage = collected
    for name in ("js/app.js", "js/tasks/main.js"):
        waiting, seen = [storage.url(name)], set()
        while waiting:
            address = waiting.pop()
            answer = serve(rf.get(address))
            assert answer.status_code == 200, address
            seen.add(address)
            text = b"".join(answer).decode()
            for found in re.findall(r"""^(?:import|export)[^"'(]*["'](\.[^"']+)["']""", text, re.MULTILINE):
                target = str(Path(address).parent.joinpath(found)).replace("/./", "/")
                while ".." in target:
                    target = re.sub(r"/[^/.]+/\.\./", "/", target, count=1)
                waiting += [target] if target not in seen else []
        assert seen == {storage.url(module) for module in (name, *imported_modules(name))}


def test_page_preloads_what_its_modules_import(collected):
    _, storage = collected
    html = Template("{% load studio_ui %}{% module 'js/app.js' %}").render(Context())

    preloaded = re.findall(r'<link rel="modulepreload" href="([^"]+)">', html)
    assert preloaded == [storage.url(name) for name in imported_modules("js/app.js")] != []
    assert html.endswith(f'<script src="{storage.url("js/app.js")}" type="module"></script>')


@pytest.fixture
def script(tmp_path, settings):
    """The only file there is to collect."""
    settings.STORAGES = STORAGES
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [tmp_path / "source"], tmp_path / "static"
    script = tmp_path / "source" / "a.js"
    script.parent.mkdir()
    script.write_text("1;")
    collect_changed()
    return script


def collected_scripts(settings) -> set[str]:
    return {path.read_text() for path in Path(settings.STATIC_ROOT).glob("a.*.js")}


def test_unchanged_files_are_not_collected_again(script, settings):
    [collected] = Path(settings.STATIC_ROOT).glob("a.*.js")
    collected.write_text("as it was")

    collect_changed()

    assert collected_scripts(settings) == {"as it was"}


def test_changed_file_is_collected_again(script, settings):
    script.write_text("2;")
    os.utime(script, (1, 1))

    collect_changed()

    assert collected_scripts(settings) == {"2;"}


def test_collected_files_that_were_deleted_are_collected_again(script, settings):
    shutil.rmtree(settings.STATIC_ROOT)

    collect_changed()

    assert collected_scripts(settings) == {"1;"}


def test_collecting_that_was_interrupted_is_done_again(script, settings, monkeypatch):
    collected = script.stat()
    script.write_text("2;")
    with monkeypatch.context() as broken:
        broken.setattr(StaticFilesStorage, "post_process", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            collect_changed()
    script.write_text("1;")
    os.utime(script, ns=(collected.st_atime_ns, collected.st_mtime_ns))

    collect_changed()

    assert collected_scripts(settings) == {"1;"}
