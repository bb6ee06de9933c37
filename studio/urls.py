"""The studio's URLs; evaluation and annotations include their own."""

from allauth.account import views as allauth
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from studio import api
from studio.views import (
    accounts,
    benchmarks,
    episodes,
    files,
    findings,
    guide,
    home,
    imports,
    invitations,
    members,
    notifications,
    search,
    styleguide,
)
from studio.views.personas import app_tables, cast, clock, profile, scripts
from studio.views.personas import files as persona_files
from studio.views.review import comments, outdated, reading, workflow
from studio.views.tasks import (
    autosave,
    copy_page,
    create,
    delete,
    editor,
    live_checks,
    task_list,
    versions,
)

handler400 = "studio.views.errors.bad_request"
handler403 = "studio.views.errors.forbidden"
handler404 = "studio.views.errors.not_found"
handler500 = "studio.views.errors.server_error"

Patterns = list[URLPattern | URLResolver]

task_patterns: Patterns = [
    path("", editor.task, name="task"),
    path("remarks/", comments.add_comment, name="comment_add"),
    path("remarks/apply/", comments.apply, name="suggestions_apply"),
    path("remarks/<int:comment>/answer/", comments.reply, name="comment_reply"),
    path("remarks/<int:comment>/change/", comments.edit_comment, name="comment_edit"),
    path("remarks/<int:comment>/settle/", comments.resolve, name="comment_resolve"),
    path("remarks/<int:comment>/choose/", comments.resolve_conflict, name="suggestion_conflict"),
    path("people/", workflow.assign, name="assign"),
    path("template/", editor.mark_as_template, name="template"),
    path("waive/", findings.waive, name="waive"),
    path("activity/", versions.activity, name="activity"),
    path("versions/", versions.versions, name="versions"),
    path("versions/<int:number>/", versions.version, name="version"),
    path("versions/<int:number>/restore/", versions.restore, name="restore"),
    path("files/<path:path>", files.asset, name="asset"),
    path("look/", files.preview_file, name="preview"),
    path("add/", files.add, name="file_add"),
    path("signal/", live_checks.signal, name="signal"),
    path("syntax/", files.syntax, name="file_syntax"),
    path("do/<str:action>/", workflow.step, name="workflow_step"),
    path("submit/", workflow.submission, name="submission"),
    path("check/", live_checks.check, name="check"),
    path("keep/", autosave.autosave_task, name="autosave"),
    path("discard/", autosave.discard, name="discard"),
    path("discarded/<int:number>/take-back/", autosave.take_back, name="take_back"),
    path("build-on/", editor.move_scoring, name="build_on"),
    path("download/", imports.download_task, name="task_download"),
    path("read/", reading.read, name="task_read"),
    path("delete/", delete.delete, name="task_delete"),
]

persona_patterns: Patterns = [
    path("", episodes.board, name="persona"),
    path("profile/", profile.profile, name="profile"),
    path("profile/keep/", profile.autosave, name="profile_autosave"),
    path("keep/<str:kind>/", persona_files.autosave, name="file_autosave"),
    path("delete/<str:kind>/", persona_files.delete, name="file_delete"),
    path("skills/", persona_files.file, {"kind": "skill"}, name="skill_new"),
    path("skills/<str:name>/", persona_files.file, {"kind": "skill"}, name="skill"),
    path("history/", profile.history, name="persona_history"),
    path("approvals/", outdated.approvals, name="approvals"),
    path("versions/<int:number>/", profile.version, name="persona_version"),
    path("download/", imports.download_persona, name="persona_download"),
    path("order/", episodes.arrange, name="board_move"),
    path("cast/", cast.cast, name="cast"),
    path("apps/", persona_files.apps, name="apps"),
    path("apps/names.json", app_tables.names, name="app_names"),
    path("apps/clock/times/", clock.clock, name="clock"),
    path("apps/<str:name>/", persona_files.file, {"kind": "app"}, name="app"),
    path("web/", persona_files.file, {"kind": "web"}, name="web_page"),
    path("apps/<str:app>/<str:table>/", app_tables.table, name="app_table"),
    path("apps/<str:app>/<str:table>/import/", app_tables.import_table, name="app_import"),
    path("apps/<str:app>/<str:table>/<str:kind>/", app_tables.export_table, name="app_export"),
    path("servers/", persona_files.servers, name="tool_servers"),
    path("servers/change/", persona_files.file, {"kind": "server"}, name="tool_server"),
    path("scripts/new/", scripts.create, name="script_new"),
    path("scripts/<int:pk>/", persona_files.file, {"kind": "script"}, name="script"),
    path("scripts/<int:pk>/versions/<int:number>/", scripts.version, name="script_version"),
    path("scripts/<int:pk>/versions/<int:number>/restore/", scripts.restore, name="script_restore"),
    path("new/", create.new_task, name="task_new"),
    path("tasks/<int:pk>/", include(task_patterns)),
]

benchmark_patterns: Patterns = [
    path("", benchmarks.benchmark, name="benchmark"),
    path("change/", benchmarks.edit, name="benchmark_edit"),
    path("members/", members.members, name="members"),
    path("members/invite/", members.invite_member, name="member_invite"),
    path("members/invitations/<int:pk>/revoke/", members.revoke_invitation, name="member_invitation_revoke"),
    path("history/", benchmarks.history, name="benchmark_history"),
    path("statistics/", benchmarks.statistics, name="statistics"),
    path("gaps/", benchmarks.gaps, name="gaps"),
    path("findings/", benchmarks.findings, name="findings"),
    path("tasks/", task_list.tasks, name="tasks"),
    path("tasks/deleted/", delete.deleted, name="tasks_deleted"),
    path("tasks/change/", task_list.change, name="tasks_change"),
    path("tasks/copy/", copy_page.copy, name="copy"),
    path("import/", imports.start, name="import_start"),
    path("import/<int:pk>/", imports.details, name="import"),
    path("import/<int:pk>/decide/", imports.decide, name="import_decide"),
    path("import/<int:pk>/publication/", imports.publication, name="import_publication"),
    path("personas/new/", profile.create, name="persona_new"),
    path("p/<str:user_id>/", include(persona_patterns)),
]

studio_patterns: Patterns = [
    path("", home.home, name="home"),
    path("happened/", home.activity, name="recent_activity"),
    path("introduction/", guide.introduction, name="introduction"),
    path("first-task/", guide.strip, name="guide_strip"),
    path("first-task/<str:action>/", guide.act, name="guide_act"),
    path("login/", accounts.LoginView.as_view(), name="login"),
    path("signed-in/", accounts.signed_in, name="signed_in"),
    path("logout/", accounts.LogoutView.as_view(), name="logout"),
    path("invitation/<str:secret>/", invitations.InvitationView.as_view(), name="invitation"),
    path("settings/", accounts.settings_page, name="settings"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("benchmarks/", benchmarks.benchmarks, name="benchmarks"),
    path("benchmarks/new/", benchmarks.create, name="benchmark_new"),
    path("b/<slug:slug>/", include(benchmark_patterns)),
    path("settings/tokens/", accounts.tokens, name="tokens"),
    path("settings/tokens/<int:pk>/revoke/", accounts.revoke, name="token_revoke"),
    path("inbox/", notifications.inbox, name="inbox"),
    path("inbox/<int:pk>/", notifications.read, name="notification"),
    path("inbox/read/", notifications.read_all, name="inbox_read_all"),
    path("settings/notifications/", notifications.choices, name="notification_choices"),
    path("search/", search.search, name="search"),
    path("search/places/", search.destinations, name="destinations"),
    path("api/", include(api.urlpatterns)),
]

# django-allauth finds its pages by these names. It has more that the studio does not offer, such as open sign-up.
account_patterns: Patterns = [
    path("login/", accounts.LoginView.as_view(), name="account_login"),
    path("logout/", accounts.LogoutView.as_view(), name="account_logout"),
    path("sign-up/", allauth.signup, name="account_signup"),
    path("account/disabled/", allauth.account_inactive, name="account_inactive"),
    path("account/confirm/", allauth.reauthenticate, name="account_reauthenticate"),
    path("settings/email/", accounts.EmailView.as_view(), name="account_email"),
    path("account/email/sent/", allauth.email_verification_sent, name="account_email_verification_sent"),
    re_path(r"^account/email/(?P<key>[-:\w]+)/$", allauth.confirm_email, name="account_confirm_email"),
    path("settings/password/", allauth.password_change, name="account_change_password"),
    path("password/", allauth.password_reset, name="account_reset_password"),
    path("password/sent/", allauth.password_reset_done, name="account_reset_password_done"),
    path("password/done/", allauth.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    re_path(
        r"^password/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        allauth.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("settings/sessions/", accounts.sessions, name="usersessions_list"),
    path("login/passkey/", accounts.PasskeyLoginView.as_view(), name="mfa_login_webauthn"),
    path("settings/second-step/", include("allauth.mfa.urls")),
]

urlpatterns = [
    path("", include((studio_patterns, "studio"))),
    path("", include(account_patterns)),
    path("", include("evaluation.urls")),
    path("audits/", include("annotations.urls")),
    path("admin/login/", accounts.AdminLoginView.as_view()),
    path("admin/", admin.site.urls),
]
