"""The studio's URLs; evaluation and annotations include their own."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from studio import api
from studio.views import (
    accounts,
    benchmarks,
    episodes,
    files,
    findings,
    home,
    imports,
    notifications,
    search,
    styleguide,
)
from studio.views.personas import profile, scripts, skills
from studio.views.review import comments, workflow
from studio.views.tasks import autosave, copy_page, create, editor, live_checks, task_list, templates, versions

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
    path("template/", templates.save, name="template_new"),
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
    path("check/", live_checks.check, name="check"),
    path("keep/", autosave.autosave_task, name="autosave"),
    path("discard/", autosave.discard, name="discard"),
]

persona_patterns: Patterns = [
    path("", episodes.board, name="persona"),
    path("profile/", profile.profile, name="profile"),
    path("profile/keep/", profile.autosave, name="profile_autosave"),
    path("skills/", skills.skill, name="skill_new"),
    path("keep-skill/", skills.autosave, name="skill_autosave"),
    path("skills/<str:name>/", skills.skill, name="skill"),
    path("skills/<str:name>/delete/", skills.delete, name="skill_delete"),
    path("history/", profile.history, name="persona_history"),
    path("versions/<int:number>/", profile.version, name="persona_version"),
    path("order/", episodes.arrange, name="board_move"),
    path("scripts/new/", scripts.create, name="script_new"),
    path("scripts/<int:pk>/", scripts.script, name="script"),
    path("scripts/<int:pk>/keep/", scripts.autosave, name="script_autosave"),
    path("scripts/<int:pk>/remove/", scripts.remove, name="script_remove"),
    path("scripts/<int:pk>/versions/<int:number>/", scripts.version, name="script_version"),
    path("scripts/<int:pk>/versions/<int:number>/restore/", scripts.restore, name="script_restore"),
    path("new/", create.new_task, name="task_new"),
    path("tasks/<int:pk>/", include(task_patterns)),
]

benchmark_patterns: Patterns = [
    path("", benchmarks.benchmark, name="benchmark"),
    path("change/", benchmarks.edit, name="benchmark_edit"),
    path("members/", benchmarks.members, name="members"),
    path("history/", benchmarks.history, name="benchmark_history"),
    path("statistics/", benchmarks.statistics, name="statistics"),
    path("gaps/", benchmarks.gaps, name="gaps"),
    path("findings/", benchmarks.findings, name="findings"),
    path("tasks/", task_list.tasks, name="tasks"),
    path("tasks/change/", task_list.change, name="tasks_change"),
    path("tasks/copy/", copy_page.copy, name="copy"),
    path("templates/", templates.templates, name="templates"),
    path("templates/<int:pk>/", templates.change, name="template_change"),
    path("import/", imports.start, name="import_start"),
    path("import/<int:pk>/", imports.show, name="import"),
    path("import/<int:pk>/decide/", imports.decide, name="import_decide"),
    path("import/<int:pk>/publication/", imports.publication, name="import_publication"),
    path("personas/new/", profile.create, name="persona_new"),
    path("p/<str:user_id>/", include(persona_patterns)),
]

studio_patterns: Patterns = [
    path("", home.home, name="home"),
    path("happened/", home.activity, name="recent_activity"),
    path("login/", accounts.LoginView.as_view(), name="login"),
    path("signed-in/", accounts.signed_in, name="signed_in"),
    path("logout/", accounts.LogoutView.as_view(), name="logout"),
    path("settings/", accounts.settings_page, name="settings"),
    path("settings/password/", accounts.PasswordChangeView.as_view(), name="password_change"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("benchmarks/", benchmarks.benchmarks, name="benchmarks"),
    path("benchmarks/new/", benchmarks.create, name="benchmark_new"),
    path("b/<slug:slug>/", include(benchmark_patterns)),
    path("settings/key/", accounts.api_key, name="api_key"),
    path("inbox/", notifications.inbox, name="inbox"),
    path("inbox/<int:pk>/", notifications.read, name="notification"),
    path("inbox/read/", notifications.read_all, name="inbox_read_all"),
    path("settings/notifications/", notifications.choices, name="notification_choices"),
    path("search/", search.search, name="search"),
    path("search/places/", search.destinations, name="destinations"),
    path("api/", include(api.urlpatterns)),
]

urlpatterns = [
    path("", include((studio_patterns, "studio"))),
    path("", include("evaluation.urls")),
    path("audits/", include("annotations.urls")),
    path("admin/", admin.site.urls),
]
