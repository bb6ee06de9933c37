"""To-do lists: projects, sections, tasks, sub-tasks, labels, comments, notifications."""
