from __future__ import annotations

from studio.files.web_text import text_of_html

PAGE = """<!doctype html><title>Fees &amp; more</title><body><header>Top</header><nav><ul><li>Menu</ul></nav>
<main><h1>Fees</h1><p>A permit <b>costs</b>
 40&nbsp;euros.<br>Cash only.</p><ul><li>Mon</li><li>Tue</li></ul>
<table><tr><th>Kind</th><th>Fee</th></tr><tr><td>Small</td><td>4</td></tr></table>
<pre>a  b
c</pre><script>track()</script><div hidden>Hidden</div></main><footer>Imprint</footer>"""


def test_main_part_is_written_as_markdown():
    assert text_of_html(PAGE) == (
        "Fees & more",
        "# Fees\n\nA permit costs 40 euros.\nCash only.\n\n- Mon\n- Tue\n\nKind | Fee\nSmall | 4\n\na  b\nc",
    )


def test_page_without_a_main_part_is_read_as_a_whole():
    assert text_of_html("<div>One</div><main>x</main><div>Two is much longer than that</div>") == (
        "",
        "One\n\nx\n\nTwo is much longer than that",
    )


def test_broken_and_hostile_pages_are_read_all_the_same():
    assert text_of_html("") == ("", "")
    assert text_of_html("<p>a<p>b\0<td>c")[1] == "a\n\nbc"
    assert text_of_html("<div>" * 30_000 + "deep")[1] == "deep"
