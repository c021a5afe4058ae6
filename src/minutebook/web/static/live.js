// Server-sent events: what changed, and how far an ingest is.
import { $ } from "./kit.js";

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
  events.onerror = () => say("state", "not connected");
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

function showState(state) {
  if (!state) return;
  const light = $("#live");
  const back = light.classList.contains("lost") && state === "live";
  light.hidden = false;
  light.classList.toggle("lost", state !== "live");
  $("span", light).textContent = state;
  if (back) document.dispatchEvent(new CustomEvent("live:back"));
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
