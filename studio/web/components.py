"""Quick rendering of small templates, for tags that a long page calls hundreds of times."""

from __future__ import annotations

from typing import Any

from django.template import Context, Engine
from django.utils.safestring import SafeString, mark_safe


def render_component(template_name: str, context: Context | None = None, **data: Any) -> SafeString:
    """HTML of a template without surrounding white space, so that it can stand inside a sentence.

    ``data`` is pushed onto the page's ``context``, if given. An inclusion tag would copy the context at each use, which
    takes ten times as long. Pass numbers as text, since templates localise them.
    """
    context = context or Context()
    template = Engine.get_default().get_template(template_name)
    with context.push(**data):
        if context.template is None:
            return mark_safe(template.render(context).strip())
        return mark_safe(template.nodelist.render(context).strip())
