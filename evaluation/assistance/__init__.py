"""Help from a model, if one is connected: proposals beside the author's text, accepted by a person, kept as provenance.

``kinds``, ``proposals``, ``prompts`` and ``answers`` are pure: what is asked, and what of an answer is believed.
``asking`` stores a request and sends it to the workers, ``answering`` is what a worker does, ``deciding`` takes or
dismisses, ``helpers`` says which model helps and how much it may use, ``reading`` and ``provenance`` are for pages.
"""
