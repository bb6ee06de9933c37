"""Answers given so far hold seats, also those beyond the number of people wanted; the other seats are free. The majority
decides what was undecided because not all agreed.
"""

from django.db import migrations

SEATS = """
WITH newest AS (
  SELECT DISTINCT ON (packet_id, auditor_id) packet_id, auditor_id, answer, created_at
    FROM annotations_judgment ORDER BY packet_id, auditor_id, number DESC
), held AS (
  SELECT packet_id, auditor_id, row_number() OVER (PARTITION BY packet_id ORDER BY created_at, auditor_id) AS number
    FROM newest WHERE answer <> 'undone'
), wanted AS (
  SELECT packet.id AS packet_id, generate_series(1, campaign.overlap) AS number
    FROM annotations_packet packet JOIN annotations_auditcampaign campaign ON campaign.id = packet.campaign_id
)
INSERT INTO annotations_seat (packet_id, number, auditor_id, leased_until, judged)
SELECT packet_id, number, auditor_id, CASE WHEN auditor_id IS NOT NULL THEN now() END, auditor_id IS NOT NULL
  FROM wanted FULL JOIN held USING (packet_id, number)
"""

MAJORITIES = """
WITH newest AS (
  SELECT DISTINCT ON (packet_id, auditor_id) packet_id, answer
    FROM annotations_judgment ORDER BY packet_id, auditor_id, number DESC
), majority AS (
  SELECT packet_id,
         CASE WHEN 2 * count(*) FILTER (WHERE answer = 'yes') > count(*) THEN true
              WHEN 2 * count(*) FILTER (WHERE answer = 'no') > count(*) THEN false END AS decision
    FROM newest WHERE answer <> 'undone' GROUP BY packet_id
)
UPDATE annotations_consensus SET decision = majority.decision
  FROM majority
 WHERE majority.packet_id = annotations_consensus.packet_id
   AND annotations_consensus.decision IS NULL AND NOT annotations_consensus.adjudicated
"""


class Migration(migrations.Migration):
    dependencies = [("annotations", "0006_seats")]

    operations = [
        migrations.RunSQL(SEATS, migrations.RunSQL.noop),
        migrations.RunSQL(MAJORITIES, migrations.RunSQL.noop),
    ]
