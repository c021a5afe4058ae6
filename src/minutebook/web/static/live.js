// Server-sent events: what changed, and how far an ingest is.
import { $ } from "./kit.js";

export function listen() {
  const light = $("#live");
  const events = new EventSource("/events");
  events.onopen = () => {
    light.hidden = false;
    light.classList.remove("lost");
    $("span", light).textContent = "live";
  };
  events.onerror = () => {
    light.classList.add("lost");
    $("span", light).textContent = "not connected";
  };
  for (const name of ["minutes", "sessions", "progress"]) {
    events.addEventListener(name, (event) => {
      document.dispatchEvent(new CustomEvent(`live:${name}`, { detail: JSON.parse(event.data) }));
    });
  }
  document.addEventListener("live:progress", ({ detail }) => showProgress(detail));
  addEventListener("pagehide", () => events.close());
}

function showProgress(told) {
  const strip = $("#progress");
  strip.hidden = Boolean(told.done) && !told.problem;
  const share = Math.min(1, told.share ?? 0);
  $("progress", strip).hidden = Boolean(told.done);
  $("progress", strip).value = share;
  const count = told.sessions ? ` of ${told.sessions.toLocaleString()} sessions` : "";
  $(".words", strip).textContent = told.problem
    ? `The minutes could not be taken: ${told.problem}`
    : told.phase === "indexing"
      ? "Making the search index …"
      : `Taking the minutes${count}, offline: ${Math.round(100 * share)} %`;
}
