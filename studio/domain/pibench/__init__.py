"""Reads and writes π-Bench v2: folders of YAML and files on one side, ``EpisodeSpec`` on the other.

The round trip is lossless. Every document is stored as ``source``, and the writer preserves each raw value
as long as reading it gives the current one. Facts that the format has no field for are written under one
additional top-level key, unless they have their default value::

    # task.yaml
    studio:
      category: B
      group: quarterly report              # name of the dependency group
      trigger: {kind: feed, payload: {…}}  # user_message | webhook | heartbeat | feed | file_drop
      intents:                             # position: 1-based, in intent.hidden_intent
        - {position: 2, uid: …, scope: persistent,
           recoverable_from: [{kind: session, ref: <task_id>, note: …}]}
      checklist:                           # position: 1-based, in objectives.checklist
        - {position: 1, uid: …, grader: rule, rule: {kind: file_exists, path: report.md},
           evidence: [report.md], follows_from: [2]}          # positions of intents
      carries_over: {<task_id of depends_on>: what it establishes}
      assets: {<path>: what it is}         # descriptions
      tools: […]                           # those of the persona's this task needs
      skills: […]
      reference_workflow: …
      expected_artifacts:                  # what the session should leave
        - report.md
        - {path: minutes.md, note: what it must be, reference: true}
                                           # the reference is references/<task_id>/minutes.md
                                           # in the persona's folder and never staged

    # profile.yaml
    studio: {name: …, occupation: …, routines: …, working_style: …, attributes: {…}}

    # episode.yaml
    studio: {groups: {<name of a dependency group>: what its tasks carry over},
             splits: {<task_id>: validation}}     # or held_out; others are public

``position`` can be omitted if every item is listed in order.
"""

from studio.domain.pibench.reader import read_personas
from studio.domain.pibench.reading import Reading
from studio.domain.pibench.writer import write_persona

__all__ = ["Reading", "read_personas", "write_persona"]
