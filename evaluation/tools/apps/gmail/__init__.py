"""Mail: threads, drafts, labels."""
