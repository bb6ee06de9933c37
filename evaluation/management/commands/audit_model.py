"""`manage.py audit_model`: a model audits what people audit."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotations.models import AuditCampaign
from evaluation.pilots.judging_work import wait_for_round
from evaluation.pilots.model_audits import ModelAuditOptions, plan_model_audit, start_model_audit
from studio.management.base import ReportCommand, add_options, default_user, read_options


class Command(ReportCommand):
    help = (
        "Let a model audit the same sessions or decisions as people, apart from them in every figure. It is "
        "asked anew, even if it is the model that scored. `audit_report` has its row of Table 6 and what it cost. "
        "Exit status 0: started, estimated, or with --wait finished; 2: usage error."
    )

    empty = {
        "campaign": None,
        "packets": 0,
        "sessions": 0,
        "calls": 0,
        "tokens": 0,
        "cost": "0",
        "started": False,
    }

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument("--campaign", type=int, required=True, metavar="N", help="as in its page's address")
        add_options(parser, ModelAuditOptions)
        parser.add_argument("--estimate", action="store_true", help="only say what it would cost")
        parser.add_argument("--wait", action="store_true", help="return when all is judged")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = self.find("audit", AuditCampaign.objects.select_related("benchmark"), "pk", options["campaign"])
        plan = plan_model_audit(campaign, read_options(ModelAuditOptions, options))
        rounds = [] if options["estimate"] else start_model_audit(plan, by=default_user())
        if options["wait"]:
            for row in rounds:
                wait_for_round(row)
        if self.as_json:
            self.print_json(self.empty | {"campaign": campaign.pk, "started": bool(rounds)} | plan.as_json())
        else:
            cost = "unknown" if plan.cost is None else plan.cost
            self.stdout.write(
                f"Estimated: {plan.packets} {campaign.packets_word}, {plan.calls} calls, {plan.tokens} tokens, "
                f"{cost} US dollars" + ("; started" if rounds else "")
            )
