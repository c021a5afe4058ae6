// Server-sent events: what changed, and how far an ingest is.
import { $, toast } from "./kit.js";

// A browser allows a host six connections. So one tab listens and tells the others; when it
// closes, the next one takes over.
const channel = new BroadcastChannel("minutebook-live");
let leading = false;
let last = { state: null, progress: null };

export function listen() {
  channel.onmessage = ({ data }) => {
    if (data.name === "hello" && leading) {
      channel.postMessage({ name: "state", detail: last.state });
      if (last.progress) channel.postMessage({ name: "progress", detail: last.progress });
    } else if (data.name !== "hello") tell(data);
  };
  document.addEventListener("live:progress", ({ detail }) => showProgress(detail));
  guardLinks();
  channel.postMessage({ name: "hello" });
  if (navigator.locks) navigator.locks.request("minutebook-live", () => new Promise(lead));
  else lead();
}

function lead() {
  leading = true;
  const say = (name, detail) => {
    last = { ...last, ...(name === "state" || name === "progress" ? { [name]: detail } : {}) };
    tell({ name, detail });
    channel.postMessage({ name, detail });
  };
  const events = new EventSource("/events");
  events.onopen = () => say("state", "live");
  events.onerror = () => say("state", "offline");
  for (const name of ["minutes", "sessions", "progress"]) {
    events.addEventListener(name, (event) => say(name, JSON.parse(event.data)));
  }
  addEventListener("pagehide", () => events.close());
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}

function tell({ name, detail }) {
  if (name === "state") showState(detail);
  else document.dispatchEvent(new CustomEvent(`live:${name}`, { detail }));
}

let gone = false;

/** Whether the server has gone away; then links are tried before the page is left (VIEW-24). */
export function setGone(now) {
  if (gone === now) return;
  gone = now;
  $("#gone").hidden = !now;
  if (!now) document.dispatchEvent(new CustomEvent("live:back"));
}

async function answers() {
  const answer = await fetch("/api/v1/status", { cache: "no-store" }).catch(() => null);
  setGone(!answer);
  return Boolean(answer);
}

/** A link that leads nowhere would cost the reader the page they have. */
function guardLinks() {
  document.addEventListener("click", async (event) => {
    const link = gone && event.target.closest?.("a[href]");
    if (!link || link.origin !== location.origin || (link.pathname === location.pathname && link.hash)) return;
    event.preventDefault();
    event.stopPropagation();
    if (await answers()) link.click();
    else toast("The server does not answer. This page stays as it is.");
  }, { capture: true });
  document.addEventListener("submit", async (event) => {
    if (!gone || event.target.method === "dialog") return;
    event.preventDefault();
    event.stopPropagation();
    if (await answers()) event.target.requestSubmit();
  }, { capture: true });
  $("#again").addEventListener("click", answers);
}

function showState(state) {
  if (!state) return;
  const light = $("#live");
  const back = light.classList.contains("lost") && state === "live";
  light.hidden = false;
  light.classList.toggle("lost", state !== "live");
  $("span", light).textContent = state;
  if (state !== "live") setTimeout(() => light.classList.contains("lost") && answers(), 300);
  else if (gone) setGone(false);
  else if (back) document.dispatchEvent(new CustomEvent("live:back"));
}

function showProgress(told) {
  const strip = $("#progress");
  strip.hidden = Boolean(told.done) && !told.problem;
  const share = Math.min(1, told.share ?? 0);
  $("progress", strip).hidden = Boolean(told.done);
  $("progress", strip).value = share;
  const count = told.sessions ? ` of ${told.sessions.toLocaleString()} sessions` : "";
  $(".words", strip).textContent = told.problem
    ? `Ingesting failed: ${told.problem}`
    : told.phase === "indexing"
      ? "Building the search index …"
      : `Ingesting${count}, offline: ${Math.round(100 * share)} %`;
}
