"""The page in a real browser: it loads nothing, can be searched and used with keys, and no value breaks out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nodeless.differences.comparison import compare
from nodeless.explanation.settings import Setting
from nodeless.report.content import ClusterContent, Comparison
from nodeless.report.page import page
from nodeless.report.picture import Box, Picture
from nodeless.upgrade.sections import Section
from tests.report.conftest import Made
from tests.report.hostile import ATTACK, poisoned
from tools import browser as chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.find() is None, reason=f"needs a Chromium: {chromium.MISSING}"),
]

ContentOf = Callable[..., ClusterContent]

ROWS = "[...document.querySelectorAll('.statements tbody tr')]"
VISIBLE_ROWS = f"{ROWS}.filter((row) => row.checkVisibility()).map((row) => row.textContent)"
# The contrast of each text with what is behind it, where it is too low for small text.
LOW_CONTRAST = """
(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    if (element.localName === 'text') {
      return numbers(getComputedStyle(element.parentElement.querySelector('rect')).fill);
    }
    for (let each = element; each; each = each.parentElement) {
      const found = numbers(getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] === 1) { return found; }
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || ['title', 'desc', 'script'].includes(element.localName)) { continue; }
    const style = getComputedStyle(element);
    const text = numbers(element.localName === 'text' ? style.fill : style.color);
    const [light, dark] = [luminance(text), luminance(behind(element))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) { low.push([element.outerHTML.slice(0, 80), contrast]); }
  }
  return low;
})()
"""
# Texts of the picture that are not inside of their box.
OUTSIDE = """
[...document.querySelectorAll('.picture .box')].flatMap((box) => {
  const frame = box.querySelector('rect').getBoundingClientRect();
  return [...box.querySelectorAll('text')].filter((text) => {
    const place = text.getBoundingClientRect();
    return place.left < frame.left || place.right > frame.right || place.top < frame.top || place.bottom > frame.bottom;
  }).map((text) => text.textContent);
})
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Browser]:
    """Start one browser for all tests."""
    with chromium.browser() as running:
        yield running


@pytest.fixture
def report(tmp_path: Path, made: Made, content: ContentOf) -> str:
    """Write a page about two clusters, with a difference, and return its address."""
    changed = Comparison(before="a", after="b", differences=compare(made["demo"][1], made["every"][1]))
    file = tmp_path / "report.html"
    file.write_text(page([content("demo", comparison=changed), content("every")], source="clusters.yaml"), "utf-8")
    return file.as_uri()


def type_text(page_: chromium.Page, text: str) -> None:
    page_.evaluate("document.querySelector('#filter-of-demo').select()")
    page_.command("Input.insertText", text=text)


def press(page_: chromium.Page, key: str, code: int) -> None:
    for kind in ("keyDown", "keyUp"):
        page_.command("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def test_the_page_loads_without_complaints_and_asks_for_nothing(browser: chromium.Browser, report: str) -> None:
    opened = browser.open(report, width=1280)

    assert opened.complaints == []
    assert [each for each in opened.requests if not each.startswith("data:")] == [report]


def test_a_server_is_asked_for_the_page_alone(browser: chromium.Browser, report: str, tmp_path: Path) -> None:
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        """Serves the folder, and notes what is asked for."""

        def log_message(self, *_: object) -> None:
            """Note the path instead of printing it."""
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        opened = browser.open(f"http://127.0.0.1:{server.server_port}/{report.rpartition('/')[2]}", width=1280)
        opened.evaluate("new Promise((done) => setTimeout(done, 500))")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert asked == ["/report.html"]
    assert opened.complaints == []


def test_a_page_that_does_load_something_is_noticed(browser: chromium.Browser, tmp_path: Path) -> None:
    file = tmp_path / "bad.html"
    file.write_text("<script>console.log('x')</script><img src=x.png><script>null.x</script>", "utf-8")

    opened = browser.open(file.as_uri(), width=1280)

    assert any(request.endswith("/x.png") for request in opened.requests)
    assert len(opened.complaints) >= 2


def test_the_policy_of_the_page_stops_other_scripts_styles_and_images(
    browser: chromium.Browser, report: str, tmp_path: Path
) -> None:
    html = (tmp_path / "report.html").read_text("utf-8")
    more = "<p id=x style='color: red' onclick='window.broken=1'>x</p><script>window.broken=1</script><img src=x.png>"
    (tmp_path / "report.html").write_text(html.replace("</body>", f"{more}</body>"), "utf-8")

    opened = browser.open(report, width=1280)
    opened.evaluate("document.querySelector('#x').click()")

    assert opened.evaluate("window.broken === undefined")
    assert opened.evaluate("getComputedStyle(document.querySelector('#x')).color") != "rgb(255, 0, 0)"
    assert any("Content Security Policy" in each for each in opened.complaints)


def shown_in_demo(page_: chromium.Page) -> list[str]:
    found: list[str] = page_.evaluate(
        "[...document.querySelectorAll('#cluster-of-demo .statements tbody tr')]"
        ".filter((row) => row.checkVisibility()).map((row) => row.querySelector('.sid').textContent)"
    )
    return found


def test_the_filter_shows_the_statements_that_have_all_words(browser: chromium.Browser, report: str) -> None:
    opened = browser.open(report, width=1280)
    others = len(opened.evaluate(VISIBLE_ROWS)) - len(shown_in_demo(opened))
    count = len(shown_in_demo(opened))

    type_text(opened, "passrole")
    assert shown_in_demo(opened) == ["AllowPassingInstanceRole"]
    assert (
        opened.evaluate("document.querySelector('#cluster-of-demo output').textContent") == f"1 of {count} statements"
    )
    assert (
        opened.evaluate(
            "[...document.querySelectorAll('#cluster-of-demo .policy')].filter((p) => p.checkVisibility()).length"
        )
        == 1
    )
    # The other cluster has a filter of its own.
    assert len(opened.evaluate(VISIBLE_ROWS)) == others + 1

    type_text(opened, "DescribeImages  requestedregion")
    assert shown_in_demo(opened) == ["AllowRegionalReadActions"]
    type_text(opened, "launch instances")
    assert "AllowScopedEC2InstanceAccessActions" in shown_in_demo(opened)
    type_text(opened, "no such words")
    assert shown_in_demo(opened) == []
    type_text(opened, " ")
    assert len(shown_in_demo(opened)) == count
    assert opened.evaluate("document.querySelector('#cluster-of-demo output').textContent") == f"{count} statements"


def test_without_scripts_everything_is_shown(browser: chromium.Browser, report: str, content: ContentOf) -> None:
    opened = browser.open(report, width=1280, script=False)
    opened.command("Emulation.setScriptExecutionDisabled", value=False)

    cluster = content("demo")
    assert len(shown_in_demo(opened)) == sum(len(document.statements) for document in cluster.documents)
    assert opened.evaluate("document.querySelector('.search').checkVisibility()") is False
    assert opened.evaluate("document.querySelector('.picture').getBoundingClientRect().height") > 300


def test_every_part_is_reached_with_the_tab_key(browser: chromium.Browser, report: str) -> None:
    opened = browser.open(report, width=1280)
    reached = []
    for _ in range(60):
        press(opened, "Tab", 9)
        reached.append(
            opened.evaluate(
                "(({hash, id, localName, className}) => hash || id || `${localName}.${className}`)"
                "(document.activeElement)"
            )
        )

    assert reached[0] == "#content"
    assert {"#cluster-of-demo", "#cluster-of-every", "#permissions-of-demo", "figure.scroll", "summary."} <= set(
        reached
    )
    assert "filter-of-demo" in reached


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_is_seen_and_its_text_is_in_its_boxes(browser: chromium.Browser, report: str, dark: bool) -> None:  # noqa: FBT001 - a parameter of the test
    opened = browser.open(report, width=1280, dark=dark)

    width, height = opened.evaluate(
        "(({width, height}) => [width, height])(document.querySelector('.picture').getBoundingClientRect())"
    )
    assert width > 800
    assert height > 500
    sizes = opened.evaluate(
        "[...document.querySelectorAll('.picture text')].map((t) => parseFloat(getComputedStyle(t).fontSize))"
    )
    assert min(sizes) >= 10.5
    assert opened.evaluate(OUTSIDE) == []
    assert (
        opened.evaluate(
            "getSelection().selectAllChildren(document.querySelector('.picture')) ?? `${getSelection()}`"
        ).count("IAM role")
        == 3
    )


def test_whatever_its_letters_a_text_fits_into_its_box(
    browser: chromium.Browser, tmp_path: Path, content: ContentOf
) -> None:
    texts = [
        *("WM@%mw" * 20, "0123456789ABCDEF" * 4, "AmazonEKSFargatePod" * 3, "a_b=c$d&e" * 9, "名前" * 30),
        *map(chr, range(33, 127)),
    ]
    boxes = tuple(
        Box(key=f"b{number}", kind=text * 3, title=text * 9, lines=(text * 40,), addresses=(f"b{number}",))
        for number, text in enumerate(texts)
    )
    cluster = replace(content(), picture=Picture(boxes=boxes, arrows=()))
    (tmp_path / "wide.html").write_text(page([cluster], source="clusters.yaml"), "utf-8")

    assert browser.open((tmp_path / "wide.html").as_uri(), width=1280).evaluate(OUTSIDE) == []


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_contrast(browser: chromium.Browser, report: str, dark: bool) -> None:  # noqa: FBT001 - a parameter of the test
    opened = browser.open(report, width=1280, dark=dark)
    opened.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")

    assert opened.evaluate(LOW_CONTRAST) == []


def test_dark_has_other_colours_than_light(browser: chromium.Browser, report: str) -> None:
    colours = [
        opened.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
            " getComputedStyle(document.querySelector('.picture text')).fill,"
            " getComputedStyle(document.querySelector('.picture .box:not(.outside) rect')).fill]"
        )
        for opened in (browser.open(report, width=1280), browser.open(report, width=1280, dark=True))
    ]

    assert all(light != dark for light, dark in zip(*colours, strict=True))


@pytest.mark.parametrize("width", [360, 390, 760, 761, 1280])
def test_the_page_does_not_scroll_sideways(browser: chromium.Browser, report: str, width: int) -> None:
    opened = browser.open(report, width=width)
    opened.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")

    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    # The picture and wide tables scroll in their boxes, and only the picture needs to.
    assert (
        opened.evaluate(
            "[...document.querySelectorAll('div.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length"
        )
        == 0
    )


def test_a_printed_page_has_the_whole_picture_and_no_filter(browser: chromium.Browser, report: str) -> None:
    opened = browser.open(report, width=794)
    opened.command("Emulation.setEmulatedMedia", media="print")

    assert opened.evaluate("document.querySelector('.search').checkVisibility()") is False
    assert opened.evaluate("document.querySelector('.picture').getBoundingClientRect().right") <= 794


def test_no_value_breaks_out_of_its_place(
    browser: chromium.Browser, made: Made, content: ContentOf, tmp_path: Path
) -> None:
    bad = poisoned(made["every"][1])
    comparison = Comparison(
        before=ATTACK,
        after=ATTACK,
        differences=compare(made["every"][1], bad),
        upgrade=(Section(title=ATTACK, header=(ATTACK,), rows=((ATTACK,),), lines=(ATTACK,)),),
    )
    cluster = replace(
        content("every", stack=bad, comparison=comparison),
        settings=(
            Setting(path=(ATTACK,), value=ATTACK, source=ATTACK, in_force=ATTACK),
            Setting(path=(ATTACK,), value={ATTACK: [ATTACK]}, source=ATTACK),
        ),
        facts={ATTACK: ATTACK, "Region": ATTACK, "Karpenter": ATTACK},
        stack=ATTACK,
    )
    (tmp_path / "bad.html").write_text(page([cluster, content("demo")], source=ATTACK), "utf-8")

    opened = browser.open((tmp_path / "bad.html").as_uri(), width=360)

    assert opened.complaints == []
    assert opened.evaluate("window.broken === undefined")
    assert opened.evaluate("document.querySelectorAll('script').length") == 1
    assert opened.evaluate("document.querySelectorAll('img, iframe, object, embed, [onerror], [onload]').length") == 0
    assert opened.evaluate("document.body.textContent.includes('<script>window.broken=1</script>')")
    assert opened.evaluate("document.documentElement.scrollWidth") <= 360
    type_text(opened, "passrole")
    assert opened.evaluate("document.querySelector('#cluster-of-demo output').textContent").startswith("1 of ")
    assert opened.evaluate(OUTSIDE) == []
