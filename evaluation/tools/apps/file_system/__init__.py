"""A person's own files and directories, apart from the workspace."""
