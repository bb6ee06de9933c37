"""The text of an HTML page, without its menus: headings, paragraphs, lists and tables as Markdown has them."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

DROPPED = (
    "script, style, noscript, template, nav, footer, aside, iframe, svg, canvas, object, dialog, button, select, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=banner], [role=search], body > header"
)
MAIN = ("main", "[role=main]", "article")
LEAST_SHARE = 0.2
"""Of a page's text, what a part needs to be taken for the page itself."""
HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
APART = {*HEADINGS, "p", "pre", "blockquote", "table", "ul", "ol", "dl", "figure", "section", "article", "body", "main"}
BLOCKS = {*APART, "div", "li", "dt", "dd", "tr", "td", "th", "caption", "figcaption", "header", "form", "address"}
CLOSED_BY_OTHERS = {"p", "li", "td", "th", "tr", "dt", "dd", "option", "thead", "tbody", "tfoot", "colgroup"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
CELLS = ("td", "th")
MAX_DEPTH = 3_000
"""Elements within one another; the parser's time grows with the square."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
MAX_CLIMB = 60
"""Elements between a text and its block that are looked at."""


def text_of_html(html: str) -> tuple[str, str]:
    """Title and text."""
    html = html.replace("\0", "")
    if _is_too_deep(html):
        return "", _tidy(re.sub(r"<[^>]{0,1000}>", "\n", html))
    page = LexborHTMLParser(html)
    head = page.css_first("title")
    title = " ".join(head.text().split()) if head else ""
    if page.body is None:
        return title, ""
    for node in page.css(DROPPED):
        node.decompose()
    return title, _tidy(_written(_main_part(page, page.body)))


def _is_too_deep(html: str) -> bool:
    depth = 0
    for match in _TAG.finditer(html):
        name = match[2].lower()
        if name not in VOID and name not in CLOSED_BY_OTHERS:
            depth = max(depth - 1, 0) if match[1] else depth + 1
            if depth > MAX_DEPTH:
                return True
    return False


def _main_part(page: LexborHTMLParser, body: LexborNode) -> LexborNode:
    whole = len(body.text())
    for selector in MAIN:
        found = page.css(selector)
        if len(found) == 1 and len(found[0].text()) >= whole * LEAST_SHARE:
            return found[0]
    return body


def _written(root: LexborNode) -> str:
    parts: list[str] = []
    last: LexborNode | None = None
    for node in root.traverse(include_text=True):
        if node.tag == "br":
            parts.append("\n")
        if node.tag != "-text":
            continue
        block, preformatted = _block_of(node)
        text = node.text_content or ""
        text = text if preformatted else re.sub(r"\s+", " ", text)
        if not text.strip() and (last is None or last.mem_id != block.mem_id):
            continue
        if last is None or last.mem_id != block.mem_id:
            parts.append(_between(last, block))
            text = text if preformatted else text.lstrip()
            last = block
        parts.append(text)
    return "".join(parts)


def _block_of(node: LexborNode) -> tuple[LexborNode, bool]:
    """The element that stands by itself on the page, and whether its line breaks count."""
    block, preformatted = node, False
    for _ in range(MAX_CLIMB):
        if block.parent is None:
            break
        block = block.parent
        preformatted = preformatted or block.tag == "pre"
        if block.tag in BLOCKS:
            break
    return block, preformatted


def _between(last: LexborNode | None, block: LexborNode) -> str:
    tag = str(block.tag)
    last_tag = str(last.tag) if last else ""
    row, last_row = block.parent, last.parent if last else None
    if tag in CELLS and last_tag in CELLS and row and last_row and row.mem_id == last_row.mem_id:
        return " | "
    kinds = [(each in CELLS, each == "li") for each in (tag, last_tag)]
    apart = tag in APART or last_tag in APART or kinds[0] != kinds[1]
    mark = f"{HEADINGS[tag]} " if tag in HEADINGS else "- " if tag == "li" else ""
    return ("\n\n" if apart else "\n") + mark


def _tidy(text: str) -> str:
    text = re.sub(r"[ \t]+\n", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
