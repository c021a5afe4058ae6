// Everything that can be clicked can be reached by key.
import { $, $$, isTyping } from "./kit.js";
import { openPalette } from "./search.js";

export const keys = new Map(); // what the page at hand adds: key → action

const rows = () => $$(($("#palette").open ? "#palette " : "main ") + ".row .open");

function step(by) {
  const all = rows();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement);
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by))];
  next.focus();
  next.closest(".row").scrollIntoView({ block: "nearest" });
  if (next === all.at(-1)) $("main .more")?.dispatchEvent(new Event("wanted"));
}

let lastKey = "";
const PLACES = {
  m: "/", s: "/search", d: "/decisions", u: "/usage", f: "/files", t: "/threads", l: "/lineage", e: "/engagements", r: "/report",
};

/** Escape closes the nearest thing that is open; what was typed stays. */
function closes(event) {
  const open = $("dialog[open]");
  const card = $("#card:not([hidden])");
  if (card) card.hidden = true;
  else if (open) open.close();
  else if (isTyping(event.target)) event.target.blur();
  else return false;
  event.preventDefault(); // a search field would empty itself
  return true;
}

export function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && closes(event)) return;
    if (isTyping(event.target)) return;
    if ($("dialog[open]") && !["j", "k"].includes(event.key)) return; // the page behind stays as it is
    const action = { "/": openPalette, "?": () => $("#help").showModal() }[event.key];
    const gone = lastKey === "g" && PLACES[event.key];
    lastKey = event.key;
    const link = $(`[data-key="${CSS.escape(event.key)}"]`);
    if (gone) location.href = gone;
    else if (action) action();
    else if (keys.has(event.key)) keys.get(event.key)(event);
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "0" && $('[data-zoom="all"]')) $('[data-zoom="all"]').click();
    else if (link) link.click();
    else return;
    event.preventDefault();
  });
  const help = $("#help-button");
  help.hidden = false;
  help.addEventListener("click", () => $("#help").showModal());
}
