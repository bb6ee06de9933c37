"""A zoo of model services: each is played over HTTP as its documentation says and its users report.

Nothing here is a recording. A service's file names where its behaviour was read, and when.
"""
