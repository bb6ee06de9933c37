"""How an initial migration makes its tables."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddConstraint, AddField, AddIndex, CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class Tables(Operation):
    """Makes the tables of models at once, as all ``operations`` together leave them.

    Django renders the models of all apps anew after each single operation, which is most of the time that making the
    tables takes.
    """

    serialization_expand_args = ["operations"]
    reversible = False

    def __init__(self, operations: Sequence[Operation]) -> None:
        """Raises TypeError for an operation that models do not say."""
        for each in operations:
            if not isinstance(each, CreateModel | AddField | AddIndex | AddConstraint):
                raise TypeError(f"{type(each).__name__} is not made with the tables: put it into a later migration.")
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        vars(state).pop("apps", None)  # a cached property
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for operation in self.operations:
            if isinstance(operation, CreateModel):
                operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "Make the tables"
