"""Text analysis without a model: words, stems, numbers, clauses, and how much of one text another one covers."""
