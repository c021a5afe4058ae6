// The home page: other ranges and filters without a reload, brushing, an endless list.
import { $, $$, fragment } from "./kit.js";
import { setGone } from "./live.js";

const inner = () => $("#inner");

let turn = 0; // of what was asked for, only the last is shown
let asking = 0;
let dragging = false;

/** Where the reader is, kept with each step of the history: rows of the list, and place. */
function remember() {
  const rows = $$(".list .row", inner()).length;
  history.replaceState({ ...history.state, rows, top: scrollY }, "");
}

const address = () => location.pathname + location.search;
let shown = address();

async function show(url, { push = true, keepScroll = false, rows = 0, at = null } = {}) {
  const mine = ++turn;
  const top = at ?? scrollY;
  if (push) remember();
  const focused = document.activeElement?.closest?.("#inner") ? focusKey(document.activeElement) : null;
  let html;
  asking++;
  try {
    html = await fragment(url, "1", undefined, rows ? { "X-Rows": String(rows) } : {});
  } catch (problem) {
    // Without an answer the page stays as it is; what the server says to a bad address is a page.
    if (problem instanceof TypeError) setGone(true);
    else if (mine === turn) location.href = url;
    return;
  } finally {
    asking--;
  }
  if (mine !== turn) return;
  inner().innerHTML = html;
  if (push) history.pushState(null, "", url);
  shown = address();
  if (keepScroll || at !== null) scrollTo(0, top);
  if (focused) $(focused)?.focus({ preventScroll: true });
  prepare();
}

function focusKey(element) {
  if (element.matches(".row .open")) return `.row .open[href="${CSS.escape(element.getAttribute("href"))}"]`;
  for (const name of ["data-key", "data-zoom", "data-group", "data-method"]) {
    if (element.hasAttribute(name)) return `a[${name}="${CSS.escape(element.getAttribute(name))}"]`;
  }
  return null;
}

const PIECES = [".opening", ".week", ".controls", ".map", ".unshown", ".summary", ".timeline", ".legend", ".programs", ".list"];

/** News: everything but what somebody is typing or dragging, with as many rows as there were. */
async function renew() {
  if (dragging || asking || inner().contains(document.activeElement?.closest("input, select"))) {
    renew.later = true;
    return;
  }
  renew.later = false;
  const mine = turn;
  const top = scrollY;
  const focused = document.activeElement?.closest?.("#inner") ? focusKey(document.activeElement) : null;
  const headers = { "X-Fragment": "1", "X-Rows": String($$(".row", inner()).length) };
  const answer = await fetch(location.href, { headers }).catch(() => null);
  if (!answer?.ok || mine !== turn) return;
  const fresh = document.createElement("div");
  fresh.innerHTML = await answer.text();
  if (mine !== turn || dragging) return;
  if (!$(".list", fresh) || !$(".list", inner())) inner().innerHTML = fresh.innerHTML;
  else for (const name of PIECES) {
    const [old, now] = [$(name, inner()), $(name, fresh)];
    if (old && now && old.outerHTML !== now.outerHTML) old.replaceWith(now);
  }
  scrollTo(0, top);
  if (focused && !$(focused)?.matches(":focus")) $(focused)?.focus({ preventScroll: true });
  prepare();
}
renew.later = false;

/** The list goes on when its end comes near. */
function prepare() {
  const more = $("main .more");
  if (!more) return;
  const fill = async () => {
    seen.disconnect();
    const html = await fragment(more.href, "rows").catch(() => null);
    if (html === null || !more.isConnected) return;
    const list = more.parentElement;
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const lastDay = $$(".day", list).at(-1);
    const firstDay = $(".day", holder.content);
    if (lastDay && firstDay && lastDay.textContent === firstDay.textContent) {
      lastDay.nextElementSibling.append(...firstDay.nextElementSibling.children);
      firstDay.nextElementSibling.remove();
      firstDay.remove();
    }
    more.replaceWith(holder.content);
    prepare();
  };
  const seen = new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && fill(), {
    rootMargin: "600px",
  });
  seen.observe(more);
  more.addEventListener("wanted", fill);
}

/** Back from another page: as many rows as there were, at the same place. */
async function restore() {
  const { rows = 0, top = 0 } = history.state ?? {};
  if (!top || location.hash) return;
  if (rows > $$(".list .row", inner()).length) await show(location.href, { push: false, rows, at: top });
  else scrollTo(0, top);
}

/** A card with the whole topic, what came of it and what was decided: of a bar one points at. */
function cards() {
  const card = document.createElement("div");
  card.id = "card";
  card.role = "tooltip";
  card.hidden = true;
  document.body.append(card);
  const known = new Map();
  let over = null;
  const open = async (bar) => {
    const address = bar.dataset.card;
    if (!known.has(address)) known.set(address, await fragment(address).catch(() => null));
    if (over !== bar || !known.get(address) || !bar.isConnected) return;
    card.innerHTML = known.get(address);
    card.hidden = false;
    const box = $(".edge", bar).getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - card.offsetWidth - 8));
    const above = box.top - card.offsetHeight - 6;
    card.style.left = `${left + scrollX}px`;
    card.style.top = `${(above > 0 ? above : box.bottom + 6) + scrollY}px`;
    bar.setAttribute("aria-describedby", "card");
  };
  const close = () => {
    over?.removeAttribute("aria-describedby");
    over = null;
    card.hidden = true;
  };
  const begin = (event) => {
    const bar = event.target.closest?.(".bar");
    if (bar === over) return;
    close();
    if (!bar || dragging) return;
    over = bar;
    setTimeout(() => over === bar && open(bar), event.type === "focusin" ? 0 : 180);
  };
  document.addEventListener("pointerover", begin);
  document.addEventListener("focusin", begin);
  document.addEventListener("pointerdown", close);
  document.addEventListener("live:minutes", () => known.clear());
}

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The calendar is one stop of the Tab key; arrows go on from there, to the next day with work. */
function arrows() {
  document.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    const mark = move && event.target.closest?.(".columns a, .bars a");
    if (mark) alongLanes(event, mark, move);
    const day = event.target.closest?.(".calendar a");
    if (!day || !move) return;
    event.preventDefault();
    const place = (link) => $("path", link).getAttribute("d").match(/M(\d+) (\d+)/).slice(1).map(Number);
    const order = (link) => place(link)[0] * 100 + place(link)[1];
    const [x, y] = place(day);
    const [dx, dy] = move;
    const ahead = $$(".calendar a")
      .filter((link) => (dx ? place(link)[1] === y && Math.sign(place(link)[0] - x) === dx
        : Math.sign(order(link) - order(day)) === dy))
      .sort((a, b) => Math.abs(order(a) - order(day)) - Math.abs(order(b) - order(day)));
    if (!ahead.length) return;
    day.tabIndex = -1;
    ahead[0].tabIndex = 0;
    ahead[0].focus();
  });
}

/** Likewise the timeline: along a lane, and to what is nearest in the next one. */
function alongLanes(event, mark, [dx, dy]) {
  event.preventDefault();
  const lanes = $$(".timeline .columns, .timeline .bars");
  const own = mark.closest(".columns, .bars");
  const box = (link) => link.getBoundingClientRect();
  const marks = $$("a", dx ? own : lanes[lanes.indexOf(own) + dy] ?? own);
  if (dx) marks.sort((a, b) => box(a).left - box(b).left || box(a).top - box(b).top);
  else marks.sort((a, b) => Math.abs(box(a).left - box(mark).left) - Math.abs(box(b).left - box(mark).left));
  const next = marks[dx ? marks.indexOf(mark) + dx : 0];
  if (!next) return;
  if (own.matches(".columns")) mark.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

const written = (seconds) => {
  const date = new Date(seconds * 1000);
  const two = (n) => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return date.getHours() || date.getMinutes() ? `${day}T${two(date.getHours())}:${two(date.getMinutes())}` : day;
};

function ranged(start, end) {
  const url = new URL(location.href);
  url.searchParams.delete("start");
  url.searchParams.set("from", written(start));
  url.searchParams.set("to", written(Math.max(end, start + 3600)));
  return url.pathname + url.search.replaceAll("%3A", ":").replaceAll("%2C", ",");
}

/** Drag over the map or the timeline to choose a range; the wheel zooms with Ctrl. */
function brushing() {
  let from = null;
  const area = (target) => target.closest?.(".map, .timeline");
  const axis = (element) => {
    const box = (element.matches(".map") ? element : $(".axis svg", element)).getBoundingClientRect();
    const { start, end } = element.dataset;
    return { box, at: (x) => +start + ((end - start) * Math.min(1, Math.max(0, (x - box.left) / box.width))) };
  };
  document.addEventListener("pointerdown", (event) => {
    const element = area(event.target);
    if (!element || event.button || element.dataset.group === "period") return;
    if (element.matches(".timeline") && event.clientX < axis(element).box.left) return;
    from = { element, x: event.clientX, box: null };
    dragging = true;
  });
  document.addEventListener("pointermove", (event) => {
    if (!from || Math.abs(event.clientX - from.x) < 6) return;
    if (!from.box) {
      from.box = document.createElement("div");
      from.box.className = "brush-box";
      const host = from.element.matches(".map") ? $(".timeline") : from.element;
      host?.append(from.box);
    }
    const { box } = axis(from.element);
    const host = from.box.parentElement.getBoundingClientRect();
    const [a, b] = [from.x, event.clientX].sort((p, q) => p - q).map((x) => Math.min(box.right, Math.max(box.left, x)));
    from.box.style.left = `${a - host.left}px`;
    from.box.style.width = `${b - a}px`;
    event.preventDefault();
  });
  document.addEventListener("pointerup", (event) => {
    dragging = false;
    if (!from) return;
    const { element, x, box } = from;
    from = null;
    if (!box) return;
    box.remove();
    const { at } = axis(element);
    const [start, end] = [at(x), at(event.clientX)].sort((p, q) => p - q);
    addEventListener("click", (click) => (click.preventDefault(), click.stopPropagation()), { capture: true, once: true });
    setTimeout(() => show(ranged(start, end)), 0);
  });
  document.addEventListener("dragstart", (event) => area(event.target) && event.preventDefault());
  document.addEventListener(
    "wheel",
    (event) => {
      if (!(event.ctrlKey || event.metaKey)) return;
      // A wheel turns on while the first zoom loads, and while the page moves under the pointer.
      const turning = zooming || event.timeStamp - zoomed < 1000;
      const element = event.target.closest?.(".timeline") ?? (turning ? $(".timeline") : null);
      if (!element) return;
      event.preventDefault();
      zoomed = event.timeStamp;
      if (zooming) return;
      const { at } = axis(element);
      const { start, end } = element.dataset;
      const middle = at(event.clientX);
      const factor = event.deltaY > 0 ? 1.6 : 1 / 1.6;
      zooming = true;
      show(ranged(middle - (middle - start) * factor, middle + (end - middle) * factor)).finally(() => (zooming = false));
    },
    { passive: false },
  );
}
let zooming = false;
let zoomed = -Infinity;

export function board() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(
      ".controls a, .legend a, .columns a, .timeline .nothing a, .list .nothing a, .figures .clear, .summary .clear, .calendar a, " +
        ".lane-name a, .unshown a, .programs a, .timeline .note a, .week h2 a, .gist a, a.program",
    );
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(new URL(link.getAttribute("href"), location.href.split("?")[0]).href, { keepScroll: true });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === " " && event.target.matches?.('a[role="button"]')) {
      event.preventDefault();
      event.target.click();
    }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches(".take")) {
      event.preventDefault();
      fetch(form.action, { method: "POST" });
      return;
    }
    if (!form.matches(".filters")) return;
    event.preventDefault();
    const said = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    show(`${form.getAttribute("action")}?${said}`, { keepScroll: true });
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.(".filters select, .filters [type=checkbox]")) event.target.form.requestSubmit();
  });
  history.scrollRestoration = "manual";
  addEventListener("popstate", ({ state }) => {
    if (address() === shown) return; // a link within the page: what has the focus stays
    show(location.href, { push: false, rows: state?.rows ?? 0, at: state?.top ?? 0 });
  });
  addEventListener("pagehide", remember);
  restore();
  document.addEventListener("live:minutes", renew);
  document.addEventListener("live:back", renew);
  document.addEventListener("live:progress", ({ detail }) => $(".empty") && detail.done && renew());
  for (const name of ["focusout", "pointerup"]) {
    document.addEventListener(name, () => renew.later && setTimeout(renew, 200));
  }
  brushing();
  cards();
  arrows();
  prepare();
}
