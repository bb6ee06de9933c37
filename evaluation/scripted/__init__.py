"""The scripted model: a free, deterministic stand-in for a model, behind the OpenAI API.

Its answers depend only on the request. Its results are labeled as scripted everywhere, and are never evidence.
"""
