from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.template.loader import get_template

from studio.web.templating import on_one_line


def test_what_indents_a_template_for_people_is_not_sent():
    written = '<ul class="rows"\n    id="all">\n  {% for one in all %}\n    <li>{{ one }}</li>\n  {% endfor %}\n</ul>\n'

    assert (
        on_one_line(written) == '<ul class="rows" id="all"> {% for one in all %} <li>{{ one }}</li> {% endfor %} </ul>'
    )


def test_where_white_space_shows_it_stays():
    written = '<div>\n  <textarea name="a">\n{{ text }}</textarea>\n  <pre>\n  two\n    lines</pre>\n</div>'

    assert (
        on_one_line(written) == '<div> <textarea name="a">\n{{ text }}</textarea> <pre>\n  two\n    lines</pre> </div>'
    )


def test_pages_are_read_so():
    assert "\n" not in get_template("base.html").template.source


def test_no_line_of_a_template_is_longer_than_can_be_read():
    lines = {
        f"{path.name}:{number}": len(line)
        for path in Path(settings.BASE_DIR, "templates").rglob("*.html")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    }

    assert {place: length for place, length in lines.items() if length > 350} == {}
