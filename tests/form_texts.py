"""Texts of every form: its own marks in any order, what trips readers, and noise."""

from __future__ import annotations

from hypothesis import strategies as st

import cantle
import markdown_texts
import samples

_CODE = [
    *("def f():\n", "    x\n", "class A:\n", "{", "}", "fn g() {\n", "//", "/*", "*/", "'''"),
    *('"""', ";", "(", ")", "import x\n", "@d\n", "#if\n", "=>", "template<", "type A struct {\n"),
]
PARTS = {
    "markdown": [*markdown_texts.FRAGMENTS, "+++\n", "a: b\n", "...\n"],
    "html": [
        *(
            "<h1>",
            "</h1>",
            "<p>",
            "<ul>",
            "<ol>",
            "<li>",
            "</ul>",
            "<table>",
            "<tr>",
            "<td>",
            "<th>",
        ),
        *("</table>", "<pre>", "</pre>", "<dl><dt>", "<dd>", "<blockquote>", "<br>", "<script>"),
        *(
            "</script>",
            "<!--",
            "-->",
            "<title>",
            "&amp;",
            "&#0;",
            "&nbsp;",
            "&",
            "<",
            "<svg>",
            "</",
        ),
        *(
            "<template>",
            "<textarea>",
            "<plaintext>",
            "<caption>",
            "<h7>",
            "<h2/>",
            "<![CDATA[",
            "<?",
        ),
        *("<select><option>", f"<a href='{'x' * 200}'>", "<p a='", "\n", "a"),
    ],
    "rst": [
        *(
            "A\n=\n",
            "B\n---\n",
            "==\nC\n==\n",
            "- ",
            "1. ",
            "#. ",
            "::\n\n",
            "   ",
            ".. note:: x\n",
        ),
        *(".. code::\n\n", "+--+\n| a|\n+==+\n", "== ==\na  b\n== ==\n", ":f: x\n", "-o  x\n"),
        *("term\n  d\n", "| l\n", ">>> x\n", "__ x\n", ".. [1] n\n", "\n"),
    ],
    "text": [
        *("1. A\n\n", "1.1 B\n\n", "A\n===\n", "- x\n", "\u2022 y\n", "Chapter 1\n\n", "(1) z\n"),
        *("Appendix A\n", "IV. R\n\n", "a    b\nc    d\n", "----\n", "\n"),
    ],
    "csv": [",", '"', '""', "a", "b\n", ";", "\t", "|", "\r\n"],
    "tsv": ["\t", "a", '"', "\n"],
}
"""The marks of each form; source code has some for all languages."""
_ODD = ["\0", "\r", "\r\n", "\f", "\v", "\ufeff", "\x1c", "\x85", "\u2028", "\xa0"]


def of(form: str) -> st.SearchStrategy[str]:
    """Return texts of a form."""
    assert form in cantle.FORMATS
    marks = st.sampled_from(PARTS.get(form, _CODE))
    parts = st.one_of(marks, marks, st.sampled_from(_ODD), samples.fragments)
    noise = st.binary(max_size=30).map(lambda data: data.decode("utf-8", "replace"))
    return st.one_of(st.lists(parts, max_size=30).map("".join), noise, samples.any_char)
