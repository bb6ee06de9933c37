"""Files of a task in the browser: upload, preview, edit, name clashes and failures."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from studio.drafts.load import load_task
from studio.models import Blob, Task
from tests.e2e.visitor import save_task
from tests.studio.files.previews.samples import a_pdf, a_png

DROP = """([path, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], path));
    document.querySelector("#files [data-drop]").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""  # noqa: E501

PASTE = """() => {
    const data = new DataTransfer();
    data.items.add(new File(["x"], "image.png", {type: "image/png"}));
    document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


@pytest.fixture
def task(radio) -> Task:
    return radio["03_running_order"]


def file(name: str, content: str | bytes) -> dict[str, object]:
    data = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def row(page: Page, path: str) -> Locator:
    return page.locator("#files [data-file]").filter(has=page.locator(f'input[value="{path}"]'))


def files(task: Task) -> dict[str, bytes]:
    assets = load_task(Task.objects.get(pk=task.pk)).assets
    contents = Blob.objects.read([file.sha256 for file in assets])
    return {file.path: contents[file.sha256] for file in assets}


def is_autosaved(response: Response) -> bool:
    return response.url.endswith("/keep/") and response.ok


def test_uploaded_files_survive_a_reload_without_a_save(task, visit):
    page = visit("author").go(task.get_absolute_url())
    before = page.locator("#files [data-file]").count()

    page.locator("#uploads").set_input_files([file(f"note_{n}.md", f"# Note {n}") for n in range(8)])
    expect(page.locator("#files [data-file]")).to_have_count(before + 8)
    with page.expect_response(
        lambda response: "dropped.csv" in (response.request.post_data or "") and is_autosaved(response)
    ):
        page.evaluate(DROP, ["dropped.csv", "a;b\n1;2\n"])
    expect(row(page, "dropped.csv")).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()

    expect(page.locator("#files [data-file]")).to_have_count(before + 9)
    save_task(page)
    assert files(task)["note_3.md"] == b"# Note 3"


@pytest.mark.everyday
def test_uploaded_folder_keeps_its_paths_and_an_image_is_pasted(task, visit, tmp_path):
    (tmp_path / "letters" / "in").mkdir(parents=True)
    for path in ("a.md", "in/b.md", ".DS_Store"):
        (tmp_path / "letters" / path).write_text("Rye")
    page = visit("author").go(task.get_absolute_url())
    before = page.locator("#files [data-file]").count()

    page.locator("[data-folder]").set_input_files(tmp_path / "letters")
    expect(row(page, "letters/in/b.md")).to_be_visible()
    page.evaluate(PASTE)
    expect(row(page, "pasted.png")).to_be_visible()
    page.evaluate(PASTE)
    expect(row(page, "pasted-2.png")).to_be_visible()
    save_task(page)

    assert files(task).keys() >= {"letters/a.md", "letters/in/b.md", "pasted.png", "pasted-2.png"}
    assert len(files(task)) == before + 4


def test_upload_with_an_existing_name_asks_whether_to_replace(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.locator("#uploads").set_input_files([file("a.md", "one"), file("b.md", "one")])
    description = row(page, "b.md").get_by_role("textbox", name="What b.md is")
    description.fill("The order list")

    page.locator("#uploads").set_input_files([file("a.md", "two"), file("b.md", "two"), file("c.md", "two")])
    expect(row(page, "c.md")).to_be_visible()
    uploads = page.locator("#files .upload")
    uploads.filter(has_text="a.md").get_by_role("button", name="Keep both").click()
    uploads.filter(has_text="b.md").get_by_role("button", name="Replace it").click()
    expect(row(page, "a-2.md")).to_be_visible()
    expect(uploads).to_have_count(0)
    expect(description).to_have_value("The order list")
    save_task(page)

    stored = files(task)
    assert (stored["a.md"], stored["a-2.md"], stored["b.md"], stored["c.md"]) == (b"one", b"two", b"two", b"two")


def test_two_files_of_one_name_that_are_sent_at_once_are_asked_about(task, visit):
    page = visit("author").go(task.get_absolute_url())
    held: list[Route] = []
    page.route("**/add/", lambda route: held.append(route))
    for text in ("one", "two"):
        with page.expect_request("**/add/"):
            page.locator("#uploads").set_input_files([file("a.md", text)])

    for route in held:
        route.continue_()

    expect(row(page, "a.md")).to_be_visible()
    expect(page.locator("#files .upload")).to_contain_text("A file with this name already exists.")


def test_file_is_removed_restored_and_renamed(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.locator("#uploads").set_input_files([file("a.md", "one"), file("b.md", "two")])
    expect(row(page, "b.md")).to_be_visible()

    row(page, "a.md").get_by_role("button", name="Remove").click()
    expect(row(page, "a.md")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(row(page, "a.md")).to_be_visible()
    name = row(page, "a.md").get_by_role("textbox", name="File name")
    name.fill("b.md")
    expect(page.get_by_text("There is “b.md” already")).to_be_visible()
    name.fill("notes/a.md")
    expect(page.get_by_text("There is “b.md” already")).to_have_count(0)
    save_task(page)

    assert {"notes/a.md", "b.md"} <= files(task).keys()
    assert "a.md" not in files(task)


def test_text_file_is_edited_in_place_with_syntax_errors_shown(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.locator("#uploads").set_input_files([file("order.json", '{"rye": 3}')])
    order = row(page, "order.json")

    order.get_by_role("link", name="Preview").click()
    expect(order.locator("pre.code")).to_contain_text("rye")
    order.get_by_role("button", name="Edit text").click()
    text = order.get_by_role("textbox", name="Text of order.json")
    text.fill('{"rye": 3,\n"salt": }')
    problem = order.get_by_role("button", name="Line 2")
    expect(problem).to_be_visible()
    problem.click()
    expect(text).to_be_focused()
    with page.expect_response(
        lambda response: "salt%22%3A+1" in (response.request.post_data or "") and is_autosaved(response)
    ):
        text.fill('{"rye": 3,\n"salt": 1}')
    expect(problem).to_have_count(0)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(text).to_have_value('{"rye": 3,\n"salt": 1}')
    order.get_by_role("button", name="Done").click()
    expect(order.locator("pre.code")).to_contain_text("salt")
    save_task(page)

    assert files(task)["order.json"] == b'{"rye": 3,\n"salt": 1}'


def test_new_file_is_written_by_keyboard_and_tab_does_not_trap_the_focus(task, visit):
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("button", name="New text file").press("Enter")
    name = page.get_by_role("textbox", name="File name").and_(page.locator(":focus"))
    expect(name).to_have_value("notes.md")
    page.keyboard.type("shelf.yaml")
    text = page.locator("#files [data-file-text] textarea")
    text.focus()
    page.keyboard.type("shelf:")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("rye: 1")
    expect(text).to_have_value("shelf:\n  rye: 1")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(text).not_to_be_focused()
    save_task(page)

    assert files(task)["shelf.yaml"] == b"shelf:\n  rye: 1"


def test_previews_of_hostile_files_run_nothing(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><script>window.top.ran = 1</script><rect width='40' height='40'/></svg>"  # noqa: E501
    page.locator("#uploads").set_input_files(
        [
            file("evil.svg", svg),
            file("evil.md", "<img src=x onerror='window.ran=1'><script>window.ran=1</script> **bold**"),
            file("evil.csv", "a\n<script>window.ran=1</script>\n"),
            file("evil.json", '{"<img src=x onerror=window.ran=1>": "</div><script>window.ran=1</script>"}'),
            file("<img src=x onerror=window.ran=1>.txt", "x"),
            file("dot.png", a_png()),
            file("rye.pdf", a_pdf("Rye")),
        ]
    )
    expect(row(page, "rye.pdf")).to_be_visible()
    expect(page.locator("#files .upload")).to_have_count(0)

    for link in page.locator("#files [data-file-preview]").all():
        link.press("Enter")  # no click: a preview that arrives above may move the link from under the mouse
        expect(link).to_have_attribute("aria-expanded", "true")
    expect(row(page, "evil.md").locator("strong")).to_have_text("bold")
    expect(row(page, "evil.csv").locator("td").last).to_contain_text("<script>")
    for name in ("evil.svg", "dot.png"):
        picture = row(page, name).locator("img")
        picture.scroll_into_view_if_needed()
        page.wait_for_function("image => image.naturalWidth > 0", arg=picture.element_handle())
    row(page, "rye.pdf").scroll_into_view_if_needed()
    expect(row(page, "rye.pdf").locator("iframe")).to_be_visible()
    page.wait_for_function("frames.length > 0")
    svg_page = visitor.context.new_page()
    console = []
    svg_page.on("console", lambda message: console.append(message.text))
    svg_page.goto(row(page, "evil.svg").locator("img").get_attribute("src"))

    assert page.evaluate("window.ran") is None
    assert svg_page.evaluate("window.ran") is None
    assert ["Blocked script execution" in text for text in console] == [True]


def test_offline_upload_is_sent_when_the_connection_returns(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())

    visitor.context.set_offline(True)
    page.locator("#uploads").set_input_files([file("late.md", "late")])
    expect(page.locator("#files .upload")).to_contain_text("No connection")
    visitor.context.set_offline(False)

    expect(row(page, "late.md")).to_be_visible()
    expect(page.locator("#files .upload")).to_have_count(0)


def test_upload_after_the_session_expired_can_be_retried_after_signing_in(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    session = visitor.context.cookies()
    visitor.context.clear_cookies()

    page.locator("#uploads").set_input_files([file("late.md", "late")])
    expect(page.locator("#files .upload")).to_contain_text("signed out")
    visitor.context.add_cookies(session)
    page.get_by_role("button", name="Try again").click()

    expect(row(page, "late.md")).to_be_visible()
