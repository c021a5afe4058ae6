// Correcting and exporting in a dialog; without this script the same forms are pages.
import { $, fragment, toast } from "./kit.js";
import { keys } from "./keys.js";

const NEWS = "minutebook-said"; // what was said, across a reload
let sheet = null;
let from = null; // what had the focus

function dialog() {
  if (sheet) return sheet;
  sheet = document.createElement("dialog");
  sheet.id = "sheet";
  sheet.setAttribute("aria-labelledby", "sheet-title");
  document.body.append(sheet);
  sheet.addEventListener("close", () => from?.isConnected && from.focus());
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  return sheet;
}

async function open(url) {
  const html = await fragment(url).catch(() => null);
  if (html === null) {
    location.href = url; // it says why
    return;
  }
  const box = dialog();
  if (!box.open) from = document.activeElement;
  box.innerHTML = html;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "quiet close";
  close.textContent = "Close";
  close.addEventListener("click", () => box.close());
  box.prepend(close);
  box.dataset.url = url;
  if (!box.open) box.showModal();
  box.scrollTop = 0;
  $("input:not([type=hidden]), select, button.primary", box)?.focus();
}

async function say(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const headers = { "X-Fragment": "1", "Content-Type": "application/x-www-form-urlencoded" };
  const place = form.getAttribute("action");
  const answer = await fetch(place, { method: "POST", body, headers }).catch(() => null);
  const told = await answer?.json().catch(() => null);
  if (!answer?.ok || !told) {
    problem(told?.problem ?? "The viewer did not answer; nothing was changed.", form);
    return;
  }
  const words = told.undone ? `Taken back: ${told.undone}` : `Saved: ${told.words.join("; ")}`;
  const news = { words, undo: told.undone ? null : place };
  sheet?.close();
  if ($(".session") || $(".page-mend")) {
    try {
      sessionStorage.setItem(NEWS, JSON.stringify(news));
    } catch {
      // no storage: only the bar is lost
    }
    location.reload();
    return;
  }
  document.dispatchEvent(new CustomEvent("live:minutes", { detail: {} }));
  bar(news);
}

function problem(words, form) {
  const box = form.closest("#sheet") ?? form.closest(".sheet");
  if (!box) {
    toast(words);
    return;
  }
  $(".problem", box)?.remove();
  const line = document.createElement("p");
  line.className = "problem";
  line.role = "alert";
  line.textContent = words;
  form.prepend(line);
}

/** What was changed, and a way to take it back; it stays until it is closed. */
function bar({ words, undo }) {
  $(".undo-bar")?.remove();
  const element = document.createElement("div");
  element.className = "undo-bar";
  element.role = "status";
  const text = document.createElement("span");
  text.textContent = words;
  element.append(text);
  if (undo) {
    const form = document.createElement("form");
    form.className = "mend-form one";
    form.setAttribute("method", "post");
    form.setAttribute("action", undo);
    form.innerHTML = '<input type="hidden" name="kind" value="undo"><button>Undo</button>';
    element.append(form);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.setAttribute("aria-label", "Close");
  close.textContent = "×";
  close.addEventListener("click", () => element.remove());
  element.append(close);
  document.body.append(element);
  if (!undo) setTimeout(() => element.remove(), 4000);
}

/** `e` corrects what is at hand: the row with the focus, the engagement on screen, the session. */
function here() {
  const row = document.activeElement?.closest?.(".row");
  const current = $(".rail a[aria-current]")?.parentElement;
  return $("[data-mend]", row ?? undefined) && row
    ? $("[data-mend]", row)
    : ((current && $("[data-mend]", current)) ?? $(".actions [data-mend]"));
}

export function mend() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-mend], a[data-share]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    open(link.href);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // Not form.method: a field may be called so.
    if (!form.matches(".mend-form") || form.getAttribute("method") !== "post") return;
    event.preventDefault();
    say(form, event.submitter);
  });
  document.addEventListener("keydown", (event) => {
    // A sentence may wrap, but it is one line: Enter saves, as in every other field.
    if (event.key !== "Enter" || event.isComposing || !event.target.matches?.(".field textarea")) return;
    event.preventDefault();
    event.target.form.requestSubmit();
  });
  keys.set("e", () => here()?.click());
  try {
    const news = sessionStorage.getItem(NEWS);
    sessionStorage.removeItem(NEWS);
    if (news) bar(JSON.parse(news));
  } catch {
    // no storage
  }
}
