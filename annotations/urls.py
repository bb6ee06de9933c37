from django.urls import path

from annotations import views

app_name = "annotations"

urlpatterns = [
    path("", views.campaigns, name="campaigns"),
    path("<int:pk>/", views.campaign, name="campaign"),
    path("<int:pk>/close/", views.close, name="close"),
    path("<int:pk>/results/", views.results, name="results"),
    path("<int:pk>/judge/", views.judge_next, name="judge"),
    path("<int:pk>/judge/<int:position>/", views.judge, name="packet"),
    path("<int:pk>/undo/", views.undo, name="undo"),
    path("<int:pk>/adjudicate/", views.adjudicate_next, name="adjudicate_next"),
    path("<int:pk>/adjudicate/<int:position>/", views.adjudication, name="adjudicate"),
]
