from __future__ import annotations

import pytest

from studio.domain.web_pages import EXAMPLE, WebPage, WebPageError, is_web_page, read_web_page, same_address


def test_example_is_a_page():
    assert read_web_page(EXAMPLE.encode()) == WebPage(
        address="https://example.org/fees",
        title="Fees for 2026",
        date="2026-03-01",
        text="The fee for a permit is 40 euros.",
    )


def test_facts_but_the_address_may_be_left_out():
    page = read_web_page(b"---\r\naddress: http://a.org\r\ntasks: [t1, 2]\r\n---\r\nOne\r\n\r\nTwo\r\n")

    assert page == WebPage(address="http://a.org", title="http://a.org", text="One\n\nTwo", tasks=("t1", "2"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Just text.", "Begin with a line of three dashes, the address, and another such line."),
        (b"---\ntitle: x\n---\n", "Between the dashes, write address: and the page's address."),
        (b"---\naddress: ftp://a.org\n---\n", "The address must begin with https:// or http://."),
        (b"---\naddress: http://a.org\ndate: 2026-13-45\n---\n", "What stands between the dashes is not YAML."),
        (b'---\naddress: http://a.org\ntitle: "\\ud800"\n---\n', "This holds a character that no text has."),
        (b"---\naddress: [\n---\n", "What stands between the dashes is not YAML."),
        (b"---\naddress: http://a.org\nurl: x\n---\n", "Between the dashes, url means nothing; there are address, "),
        (b"---\naddress: http://a.org\ntasks: t1\n---\n", "Write tasks as a list"),
        (b"---\naddress: http://a.org\ntitle: [a, b]\n---\n", "Between the dashes, write title as one line of text."),
        (b"---\naddress: http://a.org\ntasks: [[t1]]\n---\n", "Write tasks as a list"),
        (b'---\naddress: http://a.org\ntasks: ["\\0"]\n---\n', "This holds a character that no text has."),
        (b"---\naddress: &a http://a.org\ntitle: *a\n---\n", "What stands between the dashes is not YAML."),
        (b"---\naddress: http://a.org\ntitle: " + b"x" * 20_000 + b"\n---\n", "What stands between the dashes is not"),
        (b"\xff", "This is not UTF-8 text."),
        (b"---\naddress: http://a.org\n---\n" + b"x" * 400_001, "This has 400,001 characters; a page has at most"),
    ],
)
def test_flawed_page_says_what_is_wrong(content: bytes, message: str):
    with pytest.raises(WebPageError) as flaw:
        read_web_page(content)

    assert message in str(flaw.value)


def test_pages_lie_in_one_folder():
    assert [path for path in ("web/a.md", "web/b.txt", "web/c.html", "web/d/e.md", "a.md") if is_web_page(path)] == [
        "web/a.md",
        "web/b.txt",
    ]


def test_addresses_of_one_page_are_the_same():
    one = {same_address(each) for each in ("https://www.A.org/Fees/", "http://a.org/Fees#top", "a.org/Fees")}

    assert one == {"a.org/Fees"}
    assert same_address("https://a.org/fees?year=1") != same_address("https://a.org/fees")
