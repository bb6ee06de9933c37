"""Comments and receipts of expenses and payments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.attachments import FilePath, FileToken, Overwrite, SaveAs, download
from evaluation.tools.apps.framework import NotFoundError, Records, add_records
from evaluation.tools.apps.splitwise.common import SplitwiseCall, app, expense_of, payment_of, receipt_of

Content = Annotated[str, Field(min_length=1, max_length=20_000, description="Text of the comment")]


def _add(noun: str, visible: Callable[[SplitwiseCall, int], Any]) -> None:
    """The same for expenses and for payments."""
    key, table_name = f"{noun}_id", f"{noun}s"
    found = f"From record_{noun} or a list of {noun}s"
    which: dict[str, Any] = {key: (Annotated[int, Field(description=found)], ...)}
    token: dict[str, Any] = {"file_system_access_token": (FileToken, ...)}
    add_records(
        app,
        Records(
            f"{noun}_comments",
            f"{noun}_comment",
            {"content": (Content, ...)},
            about=key,
            found=found,
            visible=visible,
            names={"create": f"post_{noun}_comment"},
            done="posted",
        ),
    )

    def change(call: SplitwiseCall, record: Any, receipt_id: int | None) -> None:
        call.state.tables[table_name].put(replace(record, receipt_id=receipt_id))

    def attach_receipt(
        call: SplitwiseCall, *, receipt_file_path: str, file_system_access_token: str, **given: int
    ) -> dict[str, Any]:
        record = visible(call, given[key])
        change(call, record, receipt_of(call, receipt_file_path, file_system_access_token))
        return {"message": "The receipt was attached."}

    def download_receipt(
        call: SplitwiseCall,
        *,
        file_system_access_token: str,
        download_to_file_path: str | None,
        overwrite: bool,
        **given: int,
    ) -> dict[str, Any]:
        receipt = call.state.receipts.get(with_receipt(call, given[key]).receipt_id)
        files = call.beside("file_system", file_system_access_token)
        return download(files, receipt, download_to_file_path, overwrite=overwrite)

    def delete_receipt(call: SplitwiseCall, **given: int) -> dict[str, Any]:
        change(call, with_receipt(call, given[key]), None)
        return {"message": "The receipt was deleted."}

    def with_receipt(call: SplitwiseCall, number: int) -> Any:
        record = visible(call, number)
        if record.receipt_id is None:
            raise NotFoundError(f"The {noun} has no receipt.")
        return record

    path = {"receipt_file_path": (FilePath, ...)}
    saved = {"download_to_file_path": (SaveAs | None, None), "overwrite": (Overwrite, False)}
    app.add(
        f"attach_{noun}_receipt_file",
        f"Attach a file as the receipt of {'an' if noun == 'expense' else 'a'} {noun}.",
        attach_receipt,
        lambda: which | path | token,
    )
    app.add(
        f"download_{noun}_receipt_file",
        f"Save the receipt of {'an' if noun == 'expense' else 'a'} {noun}.",
        download_receipt,
        lambda: which | token | saved,
    )
    app.add(
        f"delete_{noun}_receipt_file",
        f"Take the receipt off {'an' if noun == 'expense' else 'a'} {noun}.",
        delete_receipt,
        lambda: which,
    )


_add("expense", expense_of)
_add("payment", payment_of)
