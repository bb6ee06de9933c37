"""Django settings, read from the environment; ``studio.local`` sets what the embedded servers provide."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import dj_database_url
import django_stubs_ext

django_stubs_ext.monkeypatch()  # generic forms and admins, such as ModelForm[User], exist at run time too

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("STUDIO_DATA_DIR") or BASE_DIR / "var").resolve()
DEBUG = os.environ.get("STUDIO_DEBUG", "") == "1"


def _secret_key() -> str:
    """The configured key, or one generated once and stored in the data folder."""
    if key := os.environ.get("STUDIO_SECRET_KEY"):
        return key
    path = DATA_DIR / "secret-key"
    try:
        return path.read_text()
    except FileNotFoundError:
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        key = secrets.token_urlsafe(48)
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(key)
        except FileExistsError:
            return path.read_text()
        return key


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = os.environ.get("STUDIO_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1],testserver").split(",")
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("STUDIO_TRUSTED_ORIGINS", "").split(",") if origin]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "template_partials",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "rest_framework",
    "drf_spectacular",
    "studio",
    "annotations",
    "evaluation",
]

MIDDLEWARE = [
    "studio.web.request_ids.RequestIdMiddleware",
    "studio.web.middleware.HostMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "studio.web.middleware.CompressionMiddleware",
    "studio.api.problems.ProblemMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",  # but for views that say login_not_required
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "studio.web.middleware.MethodMiddleware",
    "studio.web.sign_in.SignInDelayMiddleware",
    "studio.web.middleware.ContentSecurityPolicyMiddleware",
    "studio.web.middleware.QueryMiddleware",
]

ROOT_URLCONF = "studio.urls"
WSGI_APPLICATION = "studio.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "studio.web.context.frame",
            ],
        },
    }
]

DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL", "postgres://studio@127.0.0.1:1/studio"),  # manage.py sets it when it is not
        conn_max_age=60,
        conn_health_checks=True,  # also of the pool
    )
}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
# Of one process, shared by its threads; without it each thread has its own.
if connections := int(os.environ.get("STUDIO_DATABASE_CONNECTIONS") or 0):
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": connections,
        "timeout": 60 if "worker" in sys.argv else 10,  # people are told sooner that the database is away
        "max_idle": 120,
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

BEHIND_PROXY = os.environ.get("STUDIO_HTTPS") == "1"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "results": {  # for all processes, in a table: they are computed by one and read by others
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "evaluation_computed",
        "TIMEOUT": 30 * 24 * 3600,
        "OPTIONS": {"MAX_ENTRIES": 4_000},
    },
}

AUTH_USER_MODEL = "studio.User"
LOGIN_URL = "studio:login"
LOGIN_REDIRECT_URL = "studio:home"
LOGOUT_REDIRECT_URL = "studio:login"
AUTHENTICATION_BACKENDS = ["studio.web.sign_in.ThrottledBackend"]
PASSWORD_HASHERS = ["studio.web.sign_in.PasswordHasher", "django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Nobody signs up without an invitation: studio.views.invitations opens the way for one person.
ACCOUNT_ADAPTER = "studio.web.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "π-Bench Studio: "
ACCOUNT_SESSION_REMEMBER = True
# In each process. Passwords and codes have limits of their own, in studio.web.sign_in; a class may share an address.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "login_failed": None,
    "signup": "100/m/ip",
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "100/m/ip",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # a studio that sends no email cannot ask for more
MFA_TOTP_ISSUER = "π-Bench Studio"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not BEHIND_PROXY  # browsers offer passkeys on localhost only then
MFA_RATE_LIMITS = {"webauthn_login": "100/m/ip"}
MFA_FORMS = {
    "authenticate": "studio.web.second_step.CodeForm",
    "reauthenticate": "studio.web.second_step.ConfirmationForm",
}
CSRF_FAILURE_VIEW = "studio.views.errors.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = int(os.environ.get("STUDIO_HSTS_SECONDS", 365 * 24 * 3600))
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
# Consent to browsers' preload lists is for the owner of the domain to give, in the proxy.
SILENCED_SYSTEM_CHECKS = ["security.W021"]

# To standard error, which `make run` writes to logs/web.log and systemd to the journal. Requests answered with 4xx are
# in the access log.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "studio.web.request_ids.RequestIdFilter"}},
    "formatters": {
        "line": {
            "()": "studio.web.request_ids.DiscreetFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s request=%(request_id)s %(message)s",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request_id"]}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {"django": {"handlers": [], "level": "WARNING"}, "django.request": {"level": "ERROR"}},
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False  # the studio speaks English; looking for a language took a tenth of each page
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "studio.web.static_files.StaticFilesStorage"},
}

WHITENOISE_KEEP_ONLY_HASHED_FILES = True

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "studio.access.tokens.TokenAuthentication",  # the first: without it, 401 would be 403
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "studio.access.tokens.TokenScope",
        "rest_framework.permissions.IsAuthenticated",
    ],
    "DEFAULT_PARSER_CLASSES": [
        "studio.web.request_bodies.ShallowJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "EXCEPTION_HANDLER": "studio.api.base.refuse",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 50,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pi-Bench Studio",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "studio.api.problems.describe_problems",
    ],
    "DESCRIPTION": "Author, try, audit and release benchmarks of proactive assistant agents.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "TaskState": "studio.models.TaskState",
        "PilotState": "evaluation.models.Pilot.State",
        "SessionState": "evaluation.models.Session.State",
    },
}

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL", "")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # nothing to keep in a file
CELERY_BEAT_SCHEDULE = {
    "dispatch": {"task": "evaluation.tasks.dispatch", "schedule": 1, "options": {"expires": 10}},
    "sweep": {"task": "evaluation.tasks.sweep", "schedule": 15, "options": {"expires": 60}},
}
# Sessions and judgings that one worker process carries at once, each in a thread; some are kept for other tasks.
WORKER_SESSIONS = int(os.environ.get("STUDIO_WORKER_SESSIONS") or 200)
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = WORKER_SESSIONS + 8
# A message counts as lost after this long (seconds) and comes again; of work that goes on it finds nothing to claim.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 24 * 3600}

# Lease of a session after its worker's last heartbeat; retries after technical failures, with exponential backoff
# from SESSION_RETRY_SECONDS.
SESSION_LEASE_SECONDS = float(os.environ.get("STUDIO_SESSION_LEASE_SECONDS", 60))
SESSION_ATTEMPTS = int(os.environ.get("STUDIO_SESSION_ATTEMPTS", 5))
SESSION_RETRY_SECONDS = float(os.environ.get("STUDIO_SESSION_RETRY_SECONDS", 10))
# An endpoint that does not answer is waited for this long (seconds) before a person must resume the pilot.
SESSION_OUTAGE_SECONDS = float(os.environ.get("STUDIO_SESSION_OUTAGE_SECONDS", 24 * 3600))
# Default user model and judge of pilots: names of model endpoints.
DEFAULT_USER_MODEL = os.environ.get("STUDIO_USER_MODEL", "")
DEFAULT_JUDGE = os.environ.get("STUDIO_JUDGE", "")

# Emails (`manage.py send_digests`) are printed unless STUDIO_SMTP_HOST is set.
EMAIL_HOST = os.environ.get("STUDIO_SMTP_HOST", "")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_PORT = int(os.environ.get("STUDIO_SMTP_PORT", 587))
EMAIL_HOST_USER = os.environ.get("STUDIO_SMTP_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("STUDIO_SMTP_PASSWORD", "")
EMAIL_USE_TLS = EMAIL_PORT == 587
EMAIL_TIMEOUT = 30
DEFAULT_FROM_EMAIL = os.environ.get("STUDIO_MAIL_FROM", "studio@localhost")
# Base of links in emails: https://studio.example.org
PUBLIC_ADDRESS = os.environ.get("STUDIO_PUBLIC_ADDRESS", "").rstrip("/")

# Address of the scripted model; if empty, processes that need it serve it themselves on loopback.
SCRIPTED_MODEL_URL = os.environ.get("SCRIPTED_MODEL_URL", "")

# Networks and host names where model endpoints may lie beside the public Internet: 127.0.0.1,10.1.0.0/16,llm.lan
MODEL_NETWORKS = [entry for entry in os.environ.get("STUDIO_MODEL_NETWORKS", "").split(",") if entry.strip()]
# Hosts where owners may connect models of their own; * stands for any part. Empty: every public one.
MODEL_ADDRESSES = [entry for entry in os.environ.get("STUDIO_MODEL_ADDRESSES", "").split(",") if entry.strip()]
# Tool servers that personas may bind (docs/mcp.md). Hosts that may be reached, with :port or without; * stands for any
# part. Empty: none.
MCP_ADDRESSES = [entry for entry in os.environ.get("STUDIO_MCP_ADDRESSES", "").split(",") if entry.strip()]
# Whether commands are run, in the sandbox; and a folder of programs for them.
MCP_COMMANDS = os.environ.get("STUDIO_MCP_COMMANDS") == "sandbox"
MCP_FOLDER = os.environ.get("STUDIO_MCP_FOLDER", "")
# Variables they may get, each with the one host it goes to, or "command": WEATHER_KEY@tools.example.com
MCP_KEYS = [entry for entry in os.environ.get("STUDIO_MCP_KEYS", "").split(",") if entry.strip()]
# Keys of the environment that owners may use, each with the host it may go to: DASHSCOPE_API_KEY@dashscope.example.com
OWNER_KEYS = [entry for entry in os.environ.get("STUDIO_OWNER_KEYS", "").split(",") if entry.strip()]

# What audits know nothing of: tasks, sessions, and what models answered.
AUDIT_FEEDBACK = "evaluation.audits.feedback.comment_on_task"  # comments on tasks, from adjudications
MODEL_AUDITORS = "evaluation.audits.model_answers.read_model_auditors"

# Upload limits (bytes, counts). A zip is checked completely before anything is stored.
UPLOAD_MAX_BYTES = int(os.environ.get("STUDIO_UPLOAD_MAX_BYTES", 64 * 1024 * 1024))
UPLOAD_MAX_FILE_BYTES = int(os.environ.get("STUDIO_UPLOAD_MAX_FILE_BYTES", 16 * 1024 * 1024))
UPLOAD_MAX_UNPACKED_BYTES = int(os.environ.get("STUDIO_UPLOAD_MAX_UNPACKED_BYTES", 256 * 1024 * 1024))
UPLOAD_MAX_FILES = int(os.environ.get("STUDIO_UPLOAD_MAX_FILES", 20_000))
UPLOAD_MAX_TASK_FILES = int(os.environ.get("STUDIO_UPLOAD_MAX_TASK_FILES", 300))
UPLOAD_MAX_TASK_BYTES = int(os.environ.get("STUDIO_UPLOAD_MAX_TASK_BYTES", 64 * 1024 * 1024))
UPLOAD_MAX_RATIO = int(os.environ.get("STUDIO_UPLOAD_MAX_RATIO", 200))
UPLOAD_MAX_DEPTH = int(os.environ.get("STUDIO_UPLOAD_MAX_DEPTH", 16))
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
DATA_UPLOAD_MAX_NUMBER_FILES = 5_000
