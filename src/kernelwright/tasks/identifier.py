"""Names that C, CUDA and Python all accept, for arguments that foreign files name their own way."""

import keyword
import re

_RESERVED = set(
    re.findall(
        r"\w+",
        """alignas alignof and asm auto bitand bitor bool break case catch char class compl const
        constexpr continue decltype default delete do double else enum explicit export extern
        false float for friend goto if inline int long mutable namespace new noexcept not nullptr
        operator or private protected public register restrict return short signed sizeof static
        struct switch template this throw true try typedef typeid typename union unsigned using
        virtual void volatile while xor main stream workspace""",
    )
)


def identifier(text: str, taken: set[str]) -> str:
    """A C and Python identifier made of ``text`` that is not in ``taken``; adds it there."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_") or "value"
    name = f"_{name}" if name[0].isdigit() else name
    name = name[:60]
    while name in taken or name in _RESERVED or keyword.iskeyword(name):
        name += "_"
    taken.add(name)
    return name
