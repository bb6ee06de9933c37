from django.urls import URLPattern, URLResolver

from evaluation import audit_views

app_name = "evaluation"
urlpatterns: list[URLPattern | URLResolver] = [*audit_views.urlpatterns]
