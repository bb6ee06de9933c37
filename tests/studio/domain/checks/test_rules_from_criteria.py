"""“Make it a rule” loses no requirement: what is offered for a hundred criteria, plain and hostile."""

from __future__ import annotations

import pytest

from studio.domain.base import FileRef
from studio.domain.checks.rule_proposals import describe_rule, read_criterion
from studio.domain.task import ChecklistItem, TaskSpec

TOOLS = ("gmail__send_email", "gmail__create_draft", "outlook__create_draft", "todoist__delete_project")
TASK = TaskSpec(
    task_id="t",
    files_read=("out/plan.md", "slides.pptx"),
    assets=(FileRef(path="notes.md", sha256="0" * 64, size=1),),
    checklist=(ChecklistItem(uid="c", criterion="–"),),
)
ONE_FILE = TASK.model_copy(update={"files_read": ("out/care_plan.md",)})

OFFERED = """
plan.md exists.                                          | the file “out/plan.md” exists
The file plan.md exists                                  | the file “out/plan.md” exists
There is a file called plan.md.                          | the file “out/plan.md” exists
list.md was created.                                     | the file “list.md” exists
notes.md is present.                                     | the file “notes.md” exists
The agent writes the file “list.md”.                     | the file “list.md” exists
The minutes are saved as minutes.md.                     | the file “minutes.md” exists
plan.md contains “Cold chain”.                           | “out/plan.md” contains “Cold chain”
plan.md gives “RMB 150”.                                 | “out/plan.md” contains “RMB 150”
The file plan.md must mention "Cold chain".              | “out/plan.md” contains “Cold chain”
The plan states the phrase “Cold chain”.                 | “out/plan.md” contains “Cold chain”
“RMB 150” is mentioned in plan.md.                       | “out/plan.md” contains “RMB 150”
“Cold chain” appears in the file plan.md.                | “out/plan.md” contains “Cold chain”
The text “a, b and c” is contained in plan.md.           | “out/plan.md” contains “a, b and c”
plan.md does not contain “soon”.                         | “out/plan.md” does not contain “soon”
plan.md never mentions “soon”.                           | “out/plan.md” does not contain “soon”
“soon” does not occur in plan.md.                        | “out/plan.md” does not contain “soon”
The answer states “Cold chain”.                          | the last reply contains “Cold chain”
The assistant's reply includes “Cold chain”.             | the last reply contains “Cold chain”
The assistant says “Cold chain”.                         | the last reply contains “Cold chain”
The answer doesn’t mention “soon”.                       | the last reply does not contain “soon”
The agent calls gmail__send_email.                       | the tool “gmail__send_email” was called
The tool send_email was called.                          | the tool “gmail__send_email” was called
The assistant used the write_file tool.                  | the tool “write_file” was called
The agent calls write_file to save list.md.              | the tool “write_file” was called with path “list.md”
"""

REFUSED = """
plan.md begins with “Cold chain”.                        | begins with
plan.md ends with “Cold chain”.                          | ends with
plan.md contains “Cold chain” in bold.                   | in bold
plan.md contains “Cold chain” as a heading.              | as a heading
plan.md contains “Cold chain” as its last sentence.      | as its last sentence
plan.md contains only “Cold chain”.                      | only
plan.md first mentions “Cold chain”.                     | first
plan.md contains “Cold chain” in capitals.               | in capitals
plan.md names “warfarin” next to the INR of 3.1.         | next to the INR of 3.1
The INR of 3.1 stands next to “warfarin” in plan.md.     | The INR of 3.1 stands next
plan.md is in the folder out.                            | is in the folder out
plan.md is saved in the folder out.                      | in the folder out
The service fee is RMB 150.                              | The service fee is RMB 150
The service fee in plan.md is “RMB 150”.                 | The service fee
The plan gives Apixaban 2.5 mg.                          | Apixaban 2.5 mg
plan.md mentions ramipril “2.5 mg”.                      | ramipril
The gross price is 24.90.                                | The gross price is 24.90
The guest of honour is Ada Penhallow.                    | The guest of honour is Ada Penhallow
The ceiling is given as 14 euros.                        | The ceiling, as 14 euros
The heading is exactly “Cold chain”.                     | The heading is exactly
The title of plan.md is “Cold chain”.                    | The title of
plan.md contains exactly “Cold chain”.                   | exactly
plan.md contains “Cold chain” verbatim.                  | verbatim
plan.md contains “Cold chain” twice.                     | twice
plan.md contains “Cold chain” at least three times.      | at least three times
plan.md contains “Cold chain” once.                      | once
plan.md contains “Cold chain” unless it is winter.       | unless it is winter
plan.md contains “Cold chain” if it is cold.             | if it is cold
plan.md contains “Cold chain” before “Ice”.              | before
plan.md contains “Cold chain” and “Ice”.                 | and
plan.md contains “Cold chain” or “Ice”.                  | or
plan.md contains either “Cold chain” or “Ice”.           | either, or
plan.md contains “Cold chain”, “Ice”.                    | ,
plan.md contains “Cold chain”; it is friendly.           | ; it is friendly
plan.md contains “Cold chain”. It is friendly.           | . It is friendly
plan.md contains the word “art”.                         | the word
plan.md contains the sentence “We met.”                  | the sentence
plan.md contains the heading “Ice”.                      | the heading
plan.md contains “IT”.                                   | IT
plan.md contains “URGENT NOTICE”.                        | URGENT NOTICE
plan.md contains “Dear … Kaplan”.                        | Dear … Kaplan
plan.md contains “Dear [name]”.                          | Dear [name]
plan.md contains a text like “Cold chain”.               | like
plan.md contains something such as “Cold chain”.         | something such
plan.md contains no “Cold chain”.                        | no
plan.md hardly contains “Cold chain”.                    | hardly
plan.md should contain almost “Cold chain”.              | almost
Each section of plan.md contains “Cold chain”.           | Each section of
Every page contains “Cold chain”.                        | Every page
The first line of plan.md contains “Cold chain”.         | The first line of
In its last line, plan.md contains “Cold chain”.         | In its last line ,
plan.md links to “Cold chain”.                           | links
plan.md reads “Cold chain”.                              | reads
plan.md quotes “Cold chain” correctly.                   | quotes, correctly
plan.md explains why “Cold chain” is there.              | explains why
plan.md contains a table called “Cold chain”.            | a table
plan.md contains “Cold chain” in Danish.                 | in Danish
plan.md exists in Danish.                                | in Danish
plan.md exists and is new.                               | and is new
plan.md does not exist.                                  |
No file plan.md exists.                                  | No
Only plan.md exists.                                     | Only
A friendly plan of five pages is saved as plan.md.       | A friendly, of five pages
The letter is saved as plan.md.                          | The letter
notes.md was created.                                    |
The file notes.md is written by the agent.               | by
plan.md is saved before noon.                            | before noon
plan.md and list.md exist.                               | and
The reply says that plan.md contains “Cold chain”.       | that
The reply to the bank states “Cold chain”.               | to the bank
The reply states “Cold chain”.                           |
The answer states “Cold chain” politely.                 | politely
The answer states “Cold chain” in its first sentence.    | in its first sentence
The first answer states “Cold chain”.                    | The first
The assistant never says “soon”.                         |
The songs should be “classical”.                         | The songs
The document contains “Cold chain”.                      |
slides.pptx contains “Cold chain”.                       |
The subject of the e-mail is “Cold chain”.               | The subject of the e-mail
The agent calls gmail__send_email with a friendly text.  | with a friendly
The agent calls gmail__send_email twice.                 | twice
The agent never calls gmail__send_email.                 |
The agent does not call gmail__send_email.               | call
The agent calls gmail__send_email for list.md.           |
The agent calls gmail__send_email after write_file.      | after
The agent calls create_draft.                            | create_draft
The agent calls gmail__delete_email.                     | gmail__delete_email
The agent logs into gmail.                               | logs into gmail
An e-mail was sent.                                      | An e-mail was sent
“Cold chain” is mentioned.                               |
“Cold chain” contains plan.md.                           |
"""


def table(text: str) -> list[tuple[str, str]]:
    rows = (line.rsplit("|", 1) for line in text.strip().splitlines())
    return [(criterion.strip(), rest.strip()) for criterion, rest in rows]


@pytest.mark.parametrize(("criterion", "rule"), table(OFFERED))
def test_a_rule_is_offered_where_it_decides_every_word(criterion: str, rule: str) -> None:
    task = TASK if "The plan" not in criterion else TASK.model_copy(update={"files_read": ("out/plan.md",)})

    reading = read_criterion(criterion, task, TOOLS)

    assert reading.rule is not None
    assert describe_rule(reading.rule) == rule
    assert reading.left_over == ()


@pytest.mark.parametrize(("criterion", "left_over"), table(REFUSED))
def test_no_rule_is_offered_where_a_word_is_left_over(criterion: str, left_over: str) -> None:
    task = TASK if not criterion.startswith(("The plan", "A friendly plan")) else ONE_FILE

    reading = read_criterion(criterion, task, TOOLS)

    assert reading.rule is None
    assert ", ".join(reading.left_over) == left_over


def test_a_hundred_criteria_and_more_are_tried() -> None:
    assert len(table(OFFERED)) + len(table(REFUSED)) >= 100


def test_words_of_a_file_name_do_not_stand_for_the_reply() -> None:
    task = TASK.model_copy(update={"files_read": ("answer.md",)})

    assert read_criterion("The answer states “Cold chain”.", task).left_over == ("The answer",)
