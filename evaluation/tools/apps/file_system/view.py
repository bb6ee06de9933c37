from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "File System",
    "Create, read, copy, move and delete one's own files and directories.",
    {
        "files": TableView("file", ("file_path", "content", "updated_at")),
        "directories": TableView("directory", ("directory_path", "owner")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)
