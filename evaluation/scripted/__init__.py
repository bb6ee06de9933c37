"""A scripted model: deterministic, behind the OpenAI API, for the sample and for tests.

It decides only from what it is sent. It is no evidence of anything, and is called scripted wherever its
results show.
"""
