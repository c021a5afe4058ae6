// Search as you type, in the palette and on the search page.
import { $, $$, fragment } from "./kit.js";

let asking = null;

export async function results(typed, into, { url = `/search?q=${encodeURIComponent(typed)}`, kind = "1" } = {}) {
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const html = await fragment(url, kind, mine.signal);
    if (mine.signal.aborted) return false;
    into.innerHTML = html;
    into.dataset.for = typed;
    return true;
  } catch (error) {
    if (error.name !== "AbortError") into.textContent = "The viewer does not answer. Is it still running?";
    return false;
  }
}

export function openPalette() {
  const dialog = $("#palette");
  if (dialog.open) return;
  dialog.showModal();
  $("#pq").select();
  if (!$("#palette-results").innerHTML) results("", $("#palette-results"));
}

export function palette() {
  const input = $("#pq");
  const found = $("#palette-results");
  input.addEventListener("input", () => results(input.value, found));
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    $(".row .open", found)?.click();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      $(".row .open", found)?.focus();
    }
  });
  found.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = $$(".row .open", found);
    const at = all.indexOf(document.activeElement) + by;
    (at < 0 ? input : all[Math.min(at, all.length - 1)])?.focus();
  });
  $("#palette").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) event.currentTarget.close();
  });
  // On the search page the field at the top is live too, and so is the address.
  const field = $("#q");
  const page = $("#results");
  if (!page) {
    // On a click or the first letter, not on focus: whoever tabs along has to get past it.
    const open = () => {
      openPalette();
      $("#pq").value = field.value;
      field.value = "";
      if ($("#pq").value) results($("#pq").value, $("#palette-results"));
    };
    field.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      field.focus();
      open();
    });
    field.addEventListener("input", open);
    return;
  }
  let pause = 0;
  field.addEventListener("input", async () => {
    const url = new URL(location.href); // what was chosen beside the words stays
    if (field.value) url.searchParams.set("q", field.value);
    else url.searchParams.delete("q");
    url.searchParams.delete("page");
    history.replaceState(null, "", url.pathname + url.search);
    $("main h1").textContent = field.value ? `Search for “${field.value}”` : "Search";
    clearTimeout(pause);
    if (await results(field.value, page, { url: url.href, kind: "page" })) {
      pause = setTimeout(() => count(page), PAUSE);
    }
  });
}

const PAUSE = 250; // ms without a letter; counting whose words and where takes several searches

async function count(page) {
  const { href } = location;
  const html = await fragment(href, "counted").catch(() => null);
  const holder = document.createElement("template");
  holder.innerHTML = html ?? "";
  const fresh = $(".facets", holder.content);
  if (fresh && href === location.href) $(".facets", page)?.replaceWith(fresh);
}
