import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

PROMPT = re.compile(
    r"^[ \t]*(?:you are|act as|assume the role of|imagine you are)\s+an?\s+(?:\w+[ -]){0,5}?(?:assistant|agent|expert"
    r"|specialist|AI|model|chatbot|copywriter|analyst|consultant|lawyer|engineer|marketer|professional)\b"
    r"|^[ \t]*you are an? (?:[\w-]+ ){0,3}?(?:experienced|senior|expert|professional|skilled|seasoned|highly"
    r"|world[- ]class|knowledgeable|helpful|specialised|specialized) [\w -]{3,60}[.,;:\n]"
    r"|\bas an AI(?: language)? (?:model|assistant)\b|\byour (?:task|role|goal|objective|mission) is to\b"
    r"|^[ \t]*#{1,4}[ \t]*(?:role|task|context|constraints?|instructions?|output(?: format)?|requirements?)\b"
    r"|^[ \t]*(?:role|constraints|output format|instructions)[ \t]*:[ \t]*$"
    r"|\bthink step[- ]by[- ]step\b|\bdo not hallucinate\b|\bconversational filler\b"
    r"|\bdirect(?:ly)? output (?:only|strictly)\b|\boutput strictly\b|\bSTDOUT\b",
    re.IGNORECASE | re.MULTILINE,
)


@rule("request-like-a-prompt", "hint")
def request_like_a_prompt(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """People write to a colleague, not to a model; phrases of a prompt give the game away (paper, Table 9)."""
    if task.trigger.kind == "user_message" and (match := PROMPT.search(task.initial_request[:20_000])):
        phrase = match[0].strip()
        yield Flaw(
            "initial_request",
            f"“{phrase}” sounds like a prompt, not like a person asking.",
            "Rephrase it as the persona would say it to a colleague.",
            passage=phrase,
        )
