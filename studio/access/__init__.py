"""Ways in, and who may: roles, invitations, people, tokens of programs."""

from studio.access.roles import (
    ACTION_DESCRIPTIONS,
    ALLOWED,
    AnyUser,
    ApiRequest,
    MembershipError,
    SignedInRequest,
    actions_in,
    benchmarks_allowing,
    benchmarks_for,
    create_benchmark,
    find_benchmark,
    find_persona,
    find_task,
    may,
    personas_to_edit,
    require,
    roles_in,
    set_roles,
    why_not,
)
