// Search as you type, in the palette and on the search page.
import { $, $$, fragment } from "./kit.js";

let asking = null;

export async function results(typed, into) {
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const html = await fragment(`/search?q=${encodeURIComponent(typed)}`, "1", mine.signal);
    if (mine.signal.aborted) return;
    into.innerHTML = html;
    into.dataset.for = typed;
  } catch (error) {
    if (error.name !== "AbortError") into.textContent = "The viewer does not answer. Is it still running?";
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
  field.addEventListener("input", () => {
    history.replaceState(null, "", field.value ? `/search?q=${encodeURIComponent(field.value)}` : "/search");
    $("main h1").textContent = field.value ? `Found for “${field.value}”` : "Search";
    results(field.value, page);
  });
}
