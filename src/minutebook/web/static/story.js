// The strip: the whole session at a glance, loaded after what is read; and going to a round by
// its number.
import { $, $$, fragment, toast } from "./kit.js";
import { keys } from "./keys.js";

const PATIENCE = 600; // milliseconds between the digits of one number

export function story(scroller, go) {
  const strip = $("#strip");
  if (!strip) return;
  const place = document.createElement("i");
  place.className = "place";
  place.setAttribute("aria-hidden", "true");
  const last = () => scroller.parts.at(-1)?.[2] ?? 1;
  const load = async () => {
    const html = await fragment(strip.dataset.src).catch(() => null);
    if (html === null) return;
    const holder = document.createElement("template");
    holder.innerHTML = html;
    for (const piece of $$("[data-into]", holder.content)) $(`#${piece.dataset.into}`)?.replaceChildren(...piece.childNodes);
    strip.append(place);
    seen();
  };
  /** Where the reader is. */
  function seen() {
    const round = +(scroller.current()?.dataset.round ?? 1);
    place.style.left = `${(100 * (round - 0.5)) / last()}%`;
  }
  const roundAt = (event) => {
    const box = strip.getBoundingClientRect();
    return Math.min(last(), Math.max(1, Math.ceil(((event.clientX - box.left) / box.width) * last())));
  };
  strip.addEventListener("mousemove", (event) => (strip.title = `Round ${roundAt(event)}`));
  strip.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.detail === 0) return; // a key: the link itself
    event.preventDefault();
    event.stopPropagation();
    go(roundAt(event));
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-round-link]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(+link.dataset.roundLink);
  });
  // After the first paint: what is read comes first.
  requestAnimationFrame(() => setTimeout(load, 50));
  return seen;
}

/** Digits, then Enter: to that round. Digits alone: each does what its key does. */
export function numbers(scroller, go) {
  let typed = "";
  let timer = 0;
  const own = new Map([..."0123456789"].map((digit) => [digit, keys.get(digit)]));
  function forget() {
    clearTimeout(timer);
    typed = "";
    keys.delete("Enter");
  }
  function enter() {
    const round = +typed;
    const last = scroller.parts.at(-1)?.[2] ?? 0;
    forget();
    if (round >= 1 && round <= last) go(round);
    else toast(`There is no round ${round}: this session has ${last}.`);
  }
  function alone() {
    const digits = typed;
    forget();
    for (const digit of digits) own.get(digit)?.();
  }
  for (const digit of own.keys()) {
    keys.set(digit, () => {
      clearTimeout(timer);
      typed = (typed + digit).slice(-7);
      keys.set("Enter", enter);
      timer = setTimeout(alone, PATIENCE);
    });
  }
}
