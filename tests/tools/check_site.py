#!/usr/bin/env python3
"""check_site.py SITE: checks a built web site. Each link leads to a file or a heading of the site or to another host, and
pages load nothing (scripts, styles, fonts, pictures) from other hosts."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
           ("object", "data"), ("link", "href"), ("form", "action"), ("use", "href"), ("embed", "src")}
AT_RULE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)
        self.loaded += [one or other for one, other in AT_RULE.findall("".join(re.findall(r"(?s)<style.*?</style>", text)))]

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADING:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name == "srcset":
                self.loaded += [one.split()[0] for one in value.split(",")]


def target(site, file, link):
    """The file of a link, and its anchor; None: another host."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None, ""
    path = unquote(parts.path)
    place = site / path.lstrip("/") if path.startswith("/") else file.parent / path if path else file
    return (place / "index.html" if place.is_dir() else place).resolve(), unquote(parts.fragment)


def wrong(site, pages):
    for file, page in pages.items():
        for link in page.links + page.loaded:
            place, anchor = target(site, file, link)
            name = file.relative_to(site)
            if place is None:
                if link in page.loaded and not link.startswith("data:"):
                    yield f"{name}: loads {link}"
            elif not place.is_file() or site not in place.parents:
                yield f"{name}: no file {link}"
            elif anchor and place in pages and anchor not in pages[place].anchors:
                yield f"{name}: no heading {link}"
    for style in site.rglob("*.css"):
        for found in AT_RULE.findall(style.read_text()):
            place, _ = target(site, style, found[0] or found[1])
            if place is None and not found[0].startswith("data:"):
                yield f"{style.relative_to(site)}: loads {found[0] or found[1]}"


def main(site):
    pages = {file: Page(file.read_text()) for file in sorted(site.rglob("*.html"))}
    problems = list(wrong(site, pages))
    print("\n".join(problems) or f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
