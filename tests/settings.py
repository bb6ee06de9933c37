"""The studio's settings for tests: a database server of its own, which may forget, and no shared broker.

pytest-django reads settings before any conftest.py, so what they need is brought up here. The first process of a run
takes a free place for its test database; the workers of pytest-xdist inherit it through the environment.
"""

import fcntl
import os
import sys

from studio.local.paths import data_folder
from studio.local.services import ensure_database
from tests.emptying import allow_skipping_foreign_keys

if "STUDIO_TEST_PLACE" not in os.environ:
    sys.dont_write_bytecode = False  # each process of the run would compile the same thousand modules again
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["STUDIO_DATA_DIR"] = str(data_folder() / "test")
    data_folder().mkdir(parents=True, exist_ok=True)
    for place in range(100):
        descriptor = os.open(data_folder() / f"place-{place}", os.O_RDONLY | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # held until the run ends
        except BlockingIOError:
            os.close(descriptor)
        else:
            os.environ["STUDIO_TEST_PLACE"] = str(place)
            break
    else:
        raise RuntimeError(f"A hundred test runs hold places in {data_folder()}.")
if ensure_database(throwaway=True):
    allow_skipping_foreign_keys()
os.environ["CELERY_BROKER_URL"] = "memory://"  # a task of a test must never reach the worker of a running studio
os.environ.setdefault("STUDIO_KEY_SECRET", "of tests: 0123456789abcdef012345")

from studio.settings import *  # noqa: F403

DATABASES["default"]["TEST"] = {"NAME": f"test_studio_{os.environ['STUDIO_TEST_PLACE']}"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
MODEL_NETWORKS = ["127.0.0.0/8", "::1"]  # stub models
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False  # kept in the memory of a process, which tests share
