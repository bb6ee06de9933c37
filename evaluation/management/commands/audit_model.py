"""`manage.py audit_model`: a model audits what people audit."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotations.models import AuditCampaign
from evaluation.models import ModelEndpoint
from evaluation.pilots.judging_work import wait_for_round
from evaluation.pilots.model_audits import plan_model_audit, start_model_audit
from evaluation.pilots.rejudging import MAX_SAMPLES, RejudgingError
from studio.management.base import ReportCommand, default_user

EMPTY: dict[str, Any] = {
    "campaign": None,
    "packets": 0,
    "sessions": 0,
    "calls": 0,
    "tokens": 0,
    "cost": "0",
    "started": False,
}


class Command(ReportCommand):
    help = (
        "Let a model audit the same sessions or decisions as people, apart from them in every figure. It is "
        "asked anew, even if it is the model that scored. `audit_report` has its row of Table 6 and what it cost. "
        "Exit status 0: started, estimated, or with --wait finished; 2: usage error."
    )

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument("--campaign", type=int, required=True, metavar="N", help="as in its page's address")
        parser.add_argument("--model", required=True, metavar="NAME", help="a model endpoint")
        parser.add_argument(
            "--samples", type=int, default=1, metavar="K", help=f"times each question is asked, 1 to {MAX_SAMPLES}"
        )
        parser.add_argument("--estimate", action="store_true", help="only say what it would cost")
        parser.add_argument("--wait", action="store_true", help="return when all is judged")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["json"]
        campaign = AuditCampaign.objects.select_related("benchmark").filter(pk=options["campaign"]).first()
        if campaign is None:
            self.stop("--campaign: there is no such audit.", "")
        models = ModelEndpoint.objects.usable_in(campaign.benchmark)
        model = models.filter(name=options["model"]).first()
        if model is None:
            known = ", ".join(models.values_list("name", flat=True)) or "none yet"
            message = f"--model: there is no model “{options['model']}”."
            self.stop(message, f"Available: {known}.")
        try:
            plan = plan_model_audit(campaign, model, options["samples"])
        except RejudgingError as error:
            self.stop(error.message, "Nothing was started.")
        rounds = [] if options["estimate"] else start_model_audit(plan, by=default_user())
        if options["wait"]:
            for row in rounds:
                wait_for_round(row)
        document = EMPTY | {"campaign": campaign.pk, "started": bool(rounds)} | plan.as_json()
        if as_json:
            self.print_json(document)
        else:
            cost = "unknown" if plan.cost is None else plan.cost
            self.stdout.write(
                f"Estimated: {plan.packets} {campaign.packets_word}, {plan.calls} calls, {plan.tokens} tokens, "
                f"{cost} US dollars" + ("; started" if rounds else "")
            )
