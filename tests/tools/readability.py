#!/usr/bin/env python3
"""readability.py FILE...: how easy Markdown, man pages and the list of messages are to read. A guide, not a gate.

For each file: sentences, words a sentence, the share of sentences above 25 words and in the passive voice, and phrases
that we avoid. -v prints the long sentences and the phrases. Code, tables and headings are left out.
"""

import re
import sys
from pathlib import Path

LONG = 25
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?(?:not\s+)?(?:\w{2,}ed|made|done|given|taken|known|"
                     r"shown|written|read|kept|lost|found|sent|held|drawn|chosen|left|put|set|built|run|told|seen|met)\b")
AVOIDED = re.compile(
    r"\b[Ww]ho(?:ever)? (?:comes|wants|has|knows|keeps|learns|reads|asks|calls|is)\b|\b(?:is|are|was|were) told\b|"
    r"\bunless given\b|\bstands?\b|\bbut for\b|\banew\b|\b(?:in|not) so many\b|\bof its own\b|\bwhat was (?:so|read|there)\b|"
    r"\bnobody\b|\bas it is\b|\bsuch as is\b|\bthat of\b|\bfor whoever\b|(?:^|[.:] )(?:Of|Where) [a-z]+\b")


def prose(path: Path) -> str:
    text = path.read_text()
    if re.fullmatch(r"\.[1-8]", path.suffix):
        text = re.sub(r"^\.(?:nf|EX)$.*?^\.(?:fi|EE)$", "\n\n", text, flags=re.M | re.S)
        text = re.sub(r"^\.(?:SH|SS|TH|TP|PP|IP|sp|br|in|ta).*$", "\n\n", text, flags=re.M)
        text = re.sub(r"^\.[BIR]+ ", "", text, flags=re.M)
        return re.sub(r"\\f.|\\&", "", text).replace("\\-", "-")
    if path.suffix == ".txt":
        return re.sub(r"^\S.*$", "", text, flags=re.M).replace("\n", "\n\n")
    text = re.sub(r"^```.*?^```", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"^(?:\||#|!|<).*$", "\n\n", text, flags=re.M)
    text = re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n\n", text, flags=re.M)
    return re.sub(r"\]\([^)]*\)", "]", text)


def sentences(text: str):
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])", " ".join(paragraph.split())):
            if len(sentence.split()) > 2:
                yield sentence


def main(arguments: list) -> None:
    verbose = arguments[:1] == ["-v"]
    print(f"{'sentences':>9} {'words each':>10} {'long':>5} {'passive':>7} {'avoided':>7}  file")
    for name in arguments[verbose:]:
        found = list(sentences(prose(Path(name))))
        if not found:
            continue
        words = sum(len(sentence.split()) for sentence in found)
        long = [sentence for sentence in found if len(sentence.split()) > LONG]
        passive = sum(bool(PASSIVE.search(sentence)) for sentence in found)
        avoided = [sentence for sentence in found if AVOIDED.search(sentence)]
        print(f"{len(found):9} {words / len(found):10.1f} {len(long) / len(found):5.0%} {passive / len(found):7.0%} "
              f"{len(avoided):7}  {name}")
        if verbose:
            for kind, listed in ("long", long), ("avoided", avoided):
                for sentence in listed:
                    print(f"    {kind}: {sentence}")


if __name__ == "__main__":
    main(sys.argv[1:])
