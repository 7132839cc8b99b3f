"""Reading stories, lessons and the classroom's pages in a browser: with the keyboard alone, and with a finger."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

from playwright.sync_api import Page, expect

from tests.browser import reading
from tests.running import wait_drawn
from ui.scenes import books

PHONE, HALL = {"width": 390, "height": 844}, {"width": 1920, "height": 1080}
MOST_TABS = 60  # From the top of the page: the open sidebar, what turns the scenes or shows answers, the controls.

# What has the keyboard: the names of its widget and of the groups around it, what it is, and whether it is in sight.
FOCUS = """() => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  const names = [];
  for (let at = node; at; at = at.parentElement ?? at.getRootNode().host) {
    names.push(...[...at.classList].filter((name) => name.startsWith('st-key-')).map((name) => name.slice(7)));
  }
  const seen = node.type === 'range' ? node.parentElement.parentElement : node;
  const { left, right, top, bottom } = seen.getBoundingClientRect();
  return {
    names, kind: node.getAttribute('role') ?? node.type ?? node.localName, said: node.textContent,
    place: Number(node.value), last: Number(node.max), isChosen: node.getAttribute('aria-checked') === 'true',
    isSeen: node.checkVisibility({ visibilityProperty: true })
      && right > 0 && left < innerWidth && bottom > 0 && top < innerHeight,
  };
}"""

# Texts smaller than 20 px as they are drawn, in the page and in its pictures.
SMALL = """() => {
  const all = [];
  const walk = (root) => root.querySelectorAll('*').forEach((node) => {
    all.push(node);
    if (node.shadowRoot) walk(node.shadowRoot);
  });
  walk(document);
  const isWritten = (node) => node.matches('input:is([type=text], [type=number])') || [...node.childNodes].some(
    (child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim() !== '');
  const kinds = ['.unseen', 'sub', 'sup', 'template', '[data-testid=stIconMaterial]', '[aria-hidden=true] svg',
    '.katex-mathml', '.msupsub', '.vlist-s'];
  const isUnseen = (node) => !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    || node.getBoundingClientRect().width <= 1 || node.closest(kinds.join());
  const scale = (node) => (node.ownerSVGElement ? node.getScreenCTM().a : 1);
  const size = (node) => parseFloat(getComputedStyle(node).fontSize) * scale(node);
  return all.filter((node) => isWritten(node) && !isUnseen(node) && size(node) < 19.95)
    .map((node) => `${node.localName} ${(node.value ?? node.textContent).trim().slice(0, 30)}: ${size(node)}`);
}"""

# Words in a picture that lie over each other or reach out of it.
CROWDED = """view => [...view.querySelectorAll('svg[role=img]')].flatMap((drawing) => {
  const frame = drawing.getBoundingClientRect();
  const boxes = [...drawing.querySelectorAll('text')].map((node) => [node.textContent, node.getBoundingClientRect()]);
  const isOut = ({ left, right, top, bottom }) => left < frame.left - 2 || right > frame.right + 2
    || top < frame.top - 2 || bottom > frame.bottom + 2;
  const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
  return boxes.flatMap(([text, box], i) => [
    ...(isOut(box) ? [`${text} out of the picture`] : []),
    ...boxes.slice(i + 1).filter(([, other]) => over(box, other)).map(([other]) => `${text} over ${other}`),
  ]);
})"""


def opened(visit, path: str, *, picture: str = "link", reader: dict | None = None, **fields: object) -> Page:
    """A page of a story, of the lessons or for the classroom, as somebody new opens it."""
    return visit.follow(f"{visit.address}/{path}?{urlencode(fields)}", picture=picture, **(reader or {}))


def ids(book: str) -> list[str]:
    return [scene.id for scene in books.scenes(book)]


def at(page: Page) -> str:
    """The scene that the address names."""
    return dict(parse_qsl(urlsplit(page.url).query)).get("scene", "")


def focus(page: Page) -> dict:
    return page.evaluate(FOCUS)


def tab_to(page: Page, name: str) -> dict:
    """Tab until a widget or group of that name has the keyboard; everything on the way is in sight."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        found = focus(page)
        assert found["isSeen"] or found["kind"] == "body", found
        if name in found["names"]:
            return found
    raise AssertionError(f"{name} is not reached with {MOST_TABS} Tabs")


def move(page: Page, found: dict) -> None:
    """Move the control that has the keyboard; the address says so, and the keyboard stays on it."""
    before = page.url
    match found["kind"]:
        case "range":
            page.keyboard.press("ArrowLeft" if found["place"] == found["last"] else "ArrowRight")
        case "radio":
            if found["isChosen"]:
                page.keyboard.press("ArrowRight")
            page.keyboard.press("Space")
        case "switch":
            page.keyboard.press("Space")
        case "number":
            page.keyboard.press("ArrowUp")
        case _:
            page.keyboard.press("End")
            page.keyboard.type("s")
    page.wait_for_url(lambda url: url != before)
    wait_drawn(page, "link")
    assert focus(page)["names"] == found["names"]


def turned(page: Page, scene: str) -> None:
    """That scene is there, from its top, and nothing of it lies beyond the page's edge."""
    page.wait_for_url(lambda url: f"scene={scene}&" in f"{url}&")
    wait_drawn(page, "link")
    main = page.locator("[data-testid=stMain]").element_handle()
    page.wait_for_function("node => node.scrollTop === 0", arg=main)
    assert main.evaluate("node => node.scrollWidth - node.clientWidth") == 0


def wait_for_focus(page: Page, name: str) -> None:
    page.wait_for_function(f"name => ({FOCUS})().names.includes(name)", arg=name)


def tap(page: Page, name: str) -> None:
    page.locator(f".st-key-{name} button:visible").tap()


def crowded(page: Page) -> list[str]:
    return reading.view(page, "scene").evaluate(CROWDED)


def shown(page: Page) -> None:
    expect(reading.view(page, "scene")).to_be_visible()
