from django.urls import path

from annotations.views import adjudication, campaigns, judging

app_name = "annotations"

urlpatterns = [
    path("", campaigns.campaigns, name="campaigns"),
    path("mine/", campaigns.mine, name="mine"),
    path("people/<slug:slug>/", campaigns.people, name="people"),
    path("<int:pk>/", campaigns.campaign, name="campaign"),
    path("<int:pk>/plan/", campaigns.plan, name="plan"),
    path("<int:pk>/export.csv", campaigns.export, {"style": "csv"}, name="export_csv"),
    path("<int:pk>/export.parquet", campaigns.export, {"style": "parquet"}, name="export_parquet"),
    path("<int:pk>/export.json", campaigns.export, {"style": "json"}, name="export_json"),
    path("<int:pk>/close/", campaigns.close, name="close"),
    path("<int:pk>/report/", campaigns.report, name="report"),
    path("<int:pk>/reopen/", campaigns.reopen, name="reopen"),
    path("<int:pk>/results/", judging.results, name="results"),
    path("<int:pk>/judge/", judging.judge_next, name="judge"),
    path("<int:pk>/judge/<int:position>/", judging.judge, name="packet"),
    path("<int:pk>/judge/<int:position>/autosave/", judging.autosave_answers, name="autosave"),
    path("<int:pk>/undo/", judging.undo, name="undo"),
    path("<int:pk>/adjudicate/", adjudication.adjudicate_next, name="adjudicate_next"),
    path("<int:pk>/adjudicate/<int:position>/", adjudication.adjudication, name="adjudicate"),
]
