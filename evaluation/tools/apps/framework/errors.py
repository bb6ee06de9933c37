"""Why an app refuses a call. The messages are what the agent reads."""

from __future__ import annotations

from evaluation.protocol.participants import InfrastructureError


class AppError(Exception):
    status = 400


class InvalidError(AppError):
    status = 422


class UnauthorizedError(AppError):
    status = 401


class ForbiddenError(AppError):
    status = 403


class NotFoundError(AppError):
    status = 404


class ConflictError(AppError):
    status = 409


class AppDataError(InfrastructureError):
    """A persona's app data is invalid. The message is for its author."""
