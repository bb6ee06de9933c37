"""Judgings own verdicts and the calls of judges. What was judged so far becomes the first round of its pilot."""

import hashlib
import json
from pathlib import Path
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from studio.models.frozen import freeze

PROMPTS = Path(__file__).resolve().parents[1] / "prompts"
PURPOSES = [
    ("scoring", "As it ran"),
    ("rejudging", "Judged again"),
    ("stability", "Stability"),
    ("audit", "Audit"),
]
SCORINGS = [("compat", "compat"), ("strict", "strict")]
RULES = {
    "compat": {"turns": "any_turn", "samples": "majority"},
    "strict": {"turns": "first_credited", "samples": "majority"},
}

CARRY_OVER = """
INSERT INTO evaluation_judginground
       (pilot_id, number, purpose, judge, prompts, samples, every_turn, estimate, created_by_id, created_at)
SELECT id, 1, 'scoring', coalesce(config->'judge', '{}'::jsonb), %(prompts)s::jsonb, 1, false, '{}'::jsonb,
       created_by_id, created_at
  FROM evaluation_pilot;

INSERT INTO evaluation_scoringchoice (pilot_id, round_id, rules, by_id, at)
SELECT pilot_id, id, %(rules)s::jsonb, created_by_id, created_at FROM evaluation_judginground;

INSERT INTO evaluation_judging
       (session_id, rehearsal_id, round_id, purpose, scoring, sample, endpoint_id, judge, prompts, state, reason,
        scripted, replayed, claimed_by, lease_until, created_at, finished_at)
SELECT session.id, NULL, round.id, 'scoring', judged.scoring, 1,
       CASE judged.scoring WHEN '' THEN pilot.user_model_id ELSE pilot.judge_id END,
       coalesce(pilot.config->(CASE judged.scoring WHEN '' THEN 'user_model' ELSE 'judge' END), '{}'::jsonb),
       CASE judged.scoring WHEN '' THEN %(prompts)s::jsonb - 'checklist'
            ELSE jsonb_build_object('checklist', %(prompts)s::jsonb->'checklist') END,
       CASE WHEN ended.at IS NULL THEN 'running' ELSE 'finished' END, '',
       pilot.scripted, 0, '', NULL,
       coalesce(session.started_at, pilot.created_at), ended.at
  FROM (SELECT session_id, scoring FROM evaluation_verdict
        UNION
        SELECT session_id, CASE purpose WHEN 'checklist_compat' THEN 'compat' WHEN 'checklist_strict' THEN 'strict'
                           ELSE '' END FROM evaluation_modelcall WHERE purpose <> 'agent') AS judged
  JOIN evaluation_session AS session ON session.id = judged.session_id
  JOIN evaluation_run AS run ON run.id = session.run_id
  JOIN evaluation_pilot AS pilot ON pilot.id = run.pilot_id
  JOIN evaluation_judginground AS round ON round.pilot_id = pilot.id
 CROSS JOIN LATERAL (SELECT CASE judged.scoring WHEN '' THEN session.ended_at WHEN 'compat' THEN session.graded_compat_at
                            ELSE session.graded_strict_at END AS at) AS ended;

INSERT INTO evaluation_judging
       (session_id, rehearsal_id, round_id, purpose, scoring, sample, endpoint_id, judge, prompts, state, reason,
        scripted, replayed, claimed_by, lease_until, created_at, finished_at)
SELECT NULL, rehearsal.id, NULL, 'scoring', '', 1, rehearsal.judge_id,
       jsonb_build_object('name', endpoint.name, 'base_url', endpoint.base_url, 'model', endpoint.model,
                          'params', endpoint.params),
       %(prompts)s::jsonb - 'checklist', 'running', '', rehearsal.scripted, 0, '', NULL, rehearsal.created_at, NULL
  FROM evaluation_rehearsal AS rehearsal
  JOIN evaluation_modelendpoint AS endpoint ON endpoint.id = rehearsal.judge_id
 WHERE EXISTS (SELECT 1 FROM evaluation_rehearsalcall AS call
                WHERE call.rehearsal_id = rehearsal.id AND call.purpose <> 'agent');

ALTER TABLE evaluation_verdict DISABLE TRIGGER evaluation_verdict_frozen;
UPDATE evaluation_verdict AS verdict SET judging_id = judging.id
  FROM evaluation_judging AS judging
 WHERE judging.session_id = verdict.session_id AND judging.scoring = verdict.scoring;
ALTER TABLE evaluation_verdict ENABLE TRIGGER evaluation_verdict_frozen;

ALTER TABLE evaluation_modelcall DISABLE TRIGGER evaluation_modelcall_frozen;
UPDATE evaluation_modelcall AS call SET judging_id = judging.id
  FROM evaluation_judging AS judging
 WHERE call.purpose <> 'agent' AND judging.session_id = call.session_id
   AND judging.scoring = CASE call.purpose WHEN 'checklist_compat' THEN 'compat' WHEN 'checklist_strict' THEN 'strict'
                         ELSE '' END;
ALTER TABLE evaluation_modelcall ENABLE TRIGGER evaluation_modelcall_frozen;

UPDATE evaluation_rehearsalcall AS call SET judging_id = judging.id
  FROM evaluation_judging AS judging
 WHERE call.purpose <> 'agent' AND judging.rehearsal_id = call.rehearsal_id;
"""

INVARIANTS = """
CREATE TRIGGER evaluation_judging_identity BEFORE UPDATE ON evaluation_judging FOR EACH ROW
WHEN ((OLD.session_id, OLD.rehearsal_id, OLD.round_id, OLD.purpose, OLD.scoring, OLD.sample, OLD.endpoint_id,
       OLD.judge, OLD.prompts)
      IS DISTINCT FROM
      (NEW.session_id, NEW.rehearsal_id, NEW.round_id, NEW.purpose, NEW.scoring, NEW.sample, NEW.endpoint_id,
       NEW.judge, NEW.prompts))
EXECUTE FUNCTION refuse_update();

CREATE FUNCTION refuse_foreign_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  judging evaluation_judging;
BEGIN
  SELECT * INTO judging FROM evaluation_judging WHERE id = NEW.judging_id;
  IF (NEW.kind = 'checklist') <> (judging.scoring <> '') THEN
    RAISE EXCEPTION 'a judging in mode "%" has no verdicts of kind %', judging.scoring, NEW.kind
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER evaluation_verdict_fits_judging BEFORE INSERT ON evaluation_verdict FOR EACH ROW
EXECUTE FUNCTION refuse_foreign_verdict();

CREATE UNIQUE INDEX judging_and_session ON evaluation_judging (id, session_id);
ALTER TABLE evaluation_modelcall ADD CONSTRAINT model_call_judging_of_its_session
  FOREIGN KEY (judging_id, session_id) REFERENCES evaluation_judging (id, session_id) DEFERRABLE INITIALLY DEFERRED;

CREATE UNIQUE INDEX round_and_pilot ON evaluation_judginground (id, pilot_id);
ALTER TABLE evaluation_scoringchoice ADD CONSTRAINT scoring_choice_of_its_pilot
  FOREIGN KEY (round_id, pilot_id) REFERENCES evaluation_judginground (id, pilot_id) DEFERRABLE INITIALLY DEFERRED;
"""


def carry_over(apps: Any, schema_editor: Any) -> None:
    prompts = {
        name: {"version": "1", "sha256": hashlib.sha256((PROMPTS / name / "1.md").read_bytes()).hexdigest()}
        for name in ("satisfaction", "follow_up", "checklist")
    }
    values = {"prompts": json.dumps(prompts), "rules": json.dumps(RULES)}
    with schema_editor.connection.cursor() as cursor:
        for statement in CARRY_OVER.split(";\n"):
            if statement.strip():
                cursor.execute(statement, values)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # or the tables could not be altered below
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def to(model: str, **options: Any) -> Any:
    options.setdefault("on_delete", django.db.models.deletion.CASCADE)
    return models.ForeignKey(to=model, **options)


def person() -> Any:
    return to(settings.AUTH_USER_MODEL, null=True, related_name="+", on_delete=django.db.models.deletion.PROTECT)


def key() -> Any:
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("evaluation", "0016_current_names"),
    ]

    operations = [
        migrations.AddField("Pilot", "scores_key", models.CharField(blank=True, max_length=64, default=""), False),
        migrations.CreateModel(
            "JudgingRound",
            [
                ("id", key()),
                ("number", models.PositiveIntegerField()),
                ("purpose", models.CharField(choices=PURPOSES, max_length=9)),
                ("judge", models.JSONField(default=dict)),
                ("prompts", models.JSONField(default=dict)),
                ("samples", models.PositiveSmallIntegerField(default=1)),
                ("every_turn", models.BooleanField(default=False)),
                ("estimate", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("created_by", person()),
                ("pilot", to("evaluation.pilot", related_name="rounds")),
            ],
            {
                "ordering": ["number"],
                "constraints": [
                    models.UniqueConstraint(fields=["pilot", "number"], name="round_number"),
                    models.CheckConstraint(condition=Q(samples__gte=1), name="round_samples_at_least_1"),
                    models.CheckConstraint(
                        condition=Q(number=1, purpose="scoring") | (Q(number__gt=1) & ~Q(purpose="scoring")),
                        name="round_first_is_scoring",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            "Judging",
            [
                ("id", key()),
                ("purpose", models.CharField(choices=PURPOSES, default="scoring", max_length=9)),
                ("scoring", models.CharField(blank=True, choices=SCORINGS, max_length=6)),
                ("sample", models.PositiveSmallIntegerField(default=1)),
                ("judge", models.JSONField()),
                ("prompts", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("error", "Infrastructure failure"),
                        ],
                        default="running",
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("scripted", models.BooleanField(default=False)),
                ("replayed", models.PositiveIntegerField(default=0)),
                ("claimed_by", models.CharField(blank=True, max_length=60)),
                ("lease_until", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "endpoint",
                    to(
                        "evaluation.modelendpoint",
                        related_name="+",
                        on_delete=django.db.models.deletion.PROTECT,
                    ),
                ),
                ("rehearsal", to("evaluation.rehearsal", null=True, related_name="judgings")),
                ("round", to("evaluation.judginground", null=True, related_name="judgings")),
                ("session", to("evaluation.session", null=True, related_name="judgings")),
            ],
            {
                "ordering": ["round", "session", "scoring", "sample"],
                "constraints": [
                    models.UniqueConstraint(fields=["session", "round", "scoring", "sample"], name="judging_once"),
                    models.UniqueConstraint(
                        fields=["rehearsal"], condition=Q(rehearsal__isnull=False), name="rehearsal_judging_once"
                    ),
                    models.CheckConstraint(
                        condition=Q(session__isnull=False, round__isnull=False, rehearsal__isnull=True)
                        | Q(session__isnull=True, round__isnull=True, rehearsal__isnull=False, scoring=""),
                        name="judging_of_a_session_or_a_rehearsal",
                    ),
                    models.CheckConstraint(condition=Q(sample__gte=1), name="judging_sample_from_1"),
                ],
                "indexes": [
                    models.Index(
                        fields=["state", "lease_until"],
                        name="judging_open",
                        condition=Q(state__in=["waiting", "running"]),
                    )
                ],
            },
        ),
        migrations.CreateModel(
            "ScoringChoice",
            [
                ("id", key()),
                ("rules", models.JSONField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("by", person()),
                ("pilot", to("evaluation.pilot", related_name="scoring_choices")),
                ("round", to("evaluation.judginground", related_name="+")),
            ],
            {"ordering": ["-pk"], "indexes": [models.Index(fields=["pilot", "-id"], name="scoring_choice_latest")]},
        ),
        migrations.CreateModel(
            "VerdictCorrection",
            [
                ("id", key()),
                ("met", models.BooleanField()),
                ("reason", models.TextField(blank=True)),
                ("source", models.CharField(blank=True, max_length=100)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("by", person()),
                ("verdict", to("evaluation.verdict", related_name="corrections")),
            ],
            {"ordering": ["-pk"], "indexes": [models.Index(fields=["verdict", "-id"], name="correction_latest")]},
        ),
        migrations.AddField("ModelCall", "judging", to("evaluation.judging", null=True, related_name="calls")),
        migrations.AddField("RehearsalCall", "judging", to("evaluation.judging", null=True, related_name="+")),
        migrations.AddField("Verdict", "judging", to("evaluation.judging", null=True, related_name="verdicts")),
        migrations.RunPython(carry_over),
        migrations.RemoveConstraint("Verdict", "verdict_once"),
        migrations.RemoveConstraint("Verdict", "verdict_scoring"),
        migrations.RemoveField("Verdict", "session"),
        migrations.RemoveField("Verdict", "scoring"),
        migrations.AlterField("Verdict", "judging", to("evaluation.judging", related_name="verdicts")),
        migrations.AddConstraint(
            "Verdict", models.UniqueConstraint(fields=["judging", "kind", "turn", "index"], name="verdict_once")
        ),
        migrations.AddConstraint(
            "ModelCall",
            models.CheckConstraint(
                condition=Q(purpose="agent", judging__isnull=True) | (~Q(purpose="agent") & Q(judging__isnull=False)),
                name="model_call_has_its_judging",
            ),
        ),
        migrations.AddIndex(
            "ModelCall",
            models.Index(fields=["request_hash"], name="model_call_by_request", condition=Q(response__isnull=False)),
        ),
        migrations.RunSQL(INVARIANTS),
        freeze("evaluation_judginground"),
        freeze("evaluation_scoringchoice"),
        freeze("evaluation_verdictcorrection"),
    ]
