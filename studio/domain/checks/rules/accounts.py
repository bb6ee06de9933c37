from collections.abc import Iterator, Mapping

from studio.domain.app_data import declared_apps
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sign_ins import SignIn, accounts_in, sign_ins, why_refused
from studio.domain.graders import read_script
from studio.domain.task import TaskSpec

VERBS = {
    "initial_request": "The request signs in",
    "grader_script": "The script expects a sign-in",
    "trigger": "The signal tells of a sign-in",
}


@rule("sign-in-missing", "warning", across_tasks=True)
def sign_in_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An account that the task names can be signed in to: the app would answer 401, and nothing in the app could be
    done. Silent where an app's data cannot be read here."""
    named = context.once(_sign_ins).get(task.task_id, ())
    if not named:
        return
    accounts = context.once(_accounts)
    seen = set()
    for sign_in in named:
        known = accounts.get(sign_in.app)
        if known is None or (sign_in.app, sign_in.username) in seen or not (flaw := why_refused(sign_in, known)):
            continue
        seen.add((sign_in.app, sign_in.username))
        title = declared_apps()[sign_in.app].title
        verb = VERBS.get(sign_in.field, "This tells of a sign-in")
        yield Flaw(
            f"{verb} to {title}, but the app’s data {flaw}.",
            "Add the account to the app’s data, or correct what is said here.",
            field=sign_in.field,
            item=sign_in.item,
            passage=sign_in.passage,
            about=f"{sign_in.app} {sign_in.username}",
        )


def _sign_ins(context: CheckContext) -> Mapping[str, tuple[SignIn, ...]]:
    scripts = [script for script in context.episode.persona.scripts if script.sha256 in context.texts]
    return sign_ins(context.episode, {script.sha256: read_script(context.texts[script.sha256]) for script in scripts})


def _accounts(context: CheckContext) -> Mapping[str, Mapping[str, str] | None]:
    """By simulated app; None where they cannot be read."""
    files = context.episode.persona.app_data
    return {
        app: accounts_in(context.texts.get(files[app].sha256, "")) if app in files else {} for app in declared_apps()
    }
