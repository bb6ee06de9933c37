"""The studio's addresses. Evaluation and annotations bring their own."""

from django.contrib import admin
from django.urls import include, path

from studio.views import accounts, home, styleguide

handler403 = "studio.views.errors.forbidden"
handler404 = "studio.views.errors.not_found"
handler500 = "studio.views.errors.broken"
handler400 = "studio.views.errors.bad_request"

studio_patterns = [
    path("", home.home, name="home"),
    path("login/", accounts.LoginView.as_view(), name="login"),
    path("logout/", accounts.LogoutView.as_view(), name="logout"),
    path("settings/", accounts.settings_page, name="settings"),
    path("settings/password/", accounts.PasswordChangeView.as_view(), name="password_change"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("benchmarks/", home.benchmarks, name="benchmarks"),
]

urlpatterns = [
    path("", include((studio_patterns, "studio"))),
    path("", include("evaluation.urls")),
    path("audits/", include("annotations.urls")),
    path("admin/", admin.site.urls),
]
