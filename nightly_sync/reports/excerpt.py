"""The readable beginning of something long: a patch, a log, a list of lost lines."""

LINES = 80
WIDTH = 400  # characters; one line of minified data must not fill the page


def excerpt(text: str, rest: str, lines: int = LINES, width: int = WIDTH) -> str:
    """At most `lines` lines of at most `width` characters, and what was left out.

    `rest` says where the whole text is, e.g. "see remerge.diff".
    """
    every = text.removesuffix("\n").split("\n")
    kept = [_narrow(line, width) for line in every[:lines]]
    more = len(every) - lines
    return "\n".join([*kept, f"... {more} more lines: {rest}"] if more > 0 else kept)


def _narrow(line: str, width: int) -> str:
    more = len(line) - width
    return f"{line[:width]}... {more} more characters" if more > 0 else line
