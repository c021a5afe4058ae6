// The session page: toggles, deep links, unfolding, secrets, finding, copying, following.
import { $, $$, fragment, json, toast } from "./kit.js";
import { keys } from "./keys.js";
import { Scroller } from "./scroller.js";

const TOGGLES = ["user", "assistant", "thinking", "calls", "results"];
const USUAL = "user,assistant,calls";

export async function session() {
  const page = $(".session");
  const { base, api, id, agent } = page.dataset;
  const shown = new Set(page.dataset.shown.split(",").filter(Boolean));
  const scroller = new Scroller(base, JSON.parse($("#outline").textContent), shown, TOGGLES);
  let totals = null;

  // -- where we are is in the address, and the rail shows it

  let settled = false; // no address of ours before the reader has moved
  let timer = 0;
  const links = $$(".rail a[data-first]");
  for (const link of links) {
    link.ranges = link.dataset.ranges.trim().split(" ").map((range) => range.split("-").map(Number));
  }
  let railed = null;
  function mark() {
    const round = scroller.current();
    if (!round) return;
    const number = +round.dataset.round;
    const link = links.find((a) => a.ranges.some(([first, last]) => number >= first && number <= last));
    if (link !== railed) {
      railed?.removeAttribute("aria-current");
      link?.setAttribute("aria-current", "true");
      railed = link ?? null;
      if (link) {
        // By hand: scrollIntoView would move the page too.
        const rail = link.closest(".rail");
        const [outer, inner] = [rail, link].map((element) => element.getBoundingClientRect());
        if (inner.top < outer.top || inner.bottom > outer.bottom) rail.scrollTop += inner.top - outer.top - 40;
      }
    }
    clearTimeout(timer);
    if (settled) timer = setTimeout(() => address({ hash: `#round-${number}` }), 250);
  }
  function address({ hash = location.hash, show = null } = {}) {
    const url = new URL(location.href);
    url.hash = hash;
    url.searchParams.delete("part");
    if (hash !== location.hash) for (const name of ["round", "block"]) url.searchParams.delete(name);
    if (show !== null) {
      if (show === USUAL) url.searchParams.delete("show");
      else url.searchParams.set("show", show || "none");
    }
    history.replaceState(null, "", url.href.replaceAll("%2C", ","));
  }
  scroller.onview = mark;
  for (const name of ["wheel", "touchmove", "keydown", "mousedown"]) {
    addEventListener(name, () => (settled = true), { passive: true });
  }

  async function toHash() {
    const round = location.hash.match(/^#round-(\d+)$/);
    if (!round) return;
    const search = new URLSearchParams(location.search);
    const block = search.get("round") === round[1] ? search.get("block") : null; // of a search hit
    const target = await scroller.go(+round[1], block === null ? null : +block);
    if (target?.matches("details[data-src]")) {
      target.open = true;
      await unfold(target);
      target.scrollIntoView({ block: "center" });
    }
    $$(".round.here").forEach((element) => element.classList.remove("here"));
    target?.closest(".round")?.classList.add("here");
    const words = search.get("q");
    const within = block === null ? target?.closest(".round") : target;
    if (words && within) highlight(within, words.match(/[\p{L}\p{N}]+/gu) ?? []);
  }
  addEventListener("hashchange", toHash);

  // -- toggles

  function press(name) {
    if (shown.has(name)) shown.delete(name);
    else shown.add(name);
    for (const link of $$(".toggle")) {
      const on = shown.has(link.dataset.toggle);
      link.setAttribute("aria-pressed", on);
      $("small", link).textContent = on ? "" : count(link.dataset.toggle).toLocaleString();
    }
    address({ show: TOGGLES.filter((one) => shown.has(one)).join(",") });
    return scroller.again(shown);
  }
  function count(name) {
    if (totals) return totals[name];
    const at = TOGGLES.indexOf(name);
    return scroller.parts.reduce((sum, part) => sum + part[3][at], 0);
  }
  for (const link of $$(".toggle")) {
    const act = (event) => {
      event.preventDefault();
      press(link.dataset.toggle);
    };
    link.addEventListener("click", act);
    link.addEventListener("keydown", (event) => event.key === " " && act(event));
  }
  TOGGLES.forEach((name, at) => keys.set(String(at + 1), () => press(name)));

  // -- unfolding, and what is too long to be shown at once

  async function unfold(block) {
    const link = $(":scope > .unfold", block);
    if (!link || block.loading) return block.loading;
    block.loading = fragment(block.dataset.src)
      .then((html) => {
        const holder = document.createElement("template");
        holder.innerHTML = html;
        link.replaceWith(holder.content);
      })
      .catch(() => (link.textContent = "It is not there any more."));
    return block.loading;
  }
  $("#scroll").addEventListener(
    "toggle",
    (event) => {
      const block = event.target;
      if (!block.matches?.("details[data-src]")) return;
      if (block.open) {
        scroller.open.add(block.dataset.at);
        unfold(block);
      } else scroller.open.delete(block.dataset.at);
    },
    true,
  );
  async function showAll(link) {
    const block = link.closest(".block");
    const html = await fragment(link.href).catch(() => null);
    if (html === null) return;
    $(".prose, pre", block)?.remove();
    const holder = document.createElement("template");
    holder.innerHTML = html;
    link.replaceWith(holder.content);
  }
  $("#scroll").addEventListener("click", (event) => {
    const link = event.target.closest("a.all");
    if (link) {
      event.preventDefault();
      showAll(link);
    }
    const secret = event.target.closest("button.secret:not(.shown)");
    if (secret) reveal(secret);
    const number = event.target.closest("a.number");
    if (number) navigator.clipboard?.writeText(number.href).then(() => toast("Link copied"), () => {});
  });
  async function reveal(button) {
    const round = button.closest("[data-round]").dataset.round;
    const from = agent ? `?agent=${encodeURIComponent(agent)}` : "";
    const told = await json(`${api}/rounds/${round}/secrets/${button.dataset.secret}${from}`).catch(() => null);
    // What is well known of a key stands before the button, as "ghp_…": the secret begins with it.
    const before = button.previousSibling;
    if (told && before?.nodeType === Node.TEXT_NODE && before.data.endsWith("…")) {
      const said = before.data.slice(0, -1);
      for (let length = Math.min(said.length, 24); length > 0; length--) {
        if (!told.secret.startsWith(said.slice(-length))) continue;
        before.data = said.slice(0, -length);
        break;
      }
    }
    button.textContent = told ? told.secret : "gone";
    button.classList.add("shown");
  }

  // -- finding

  function highlight(root, words) {
    if (!CSS.highlights) return null;
    const ranges = [];
    const wanted = words.map((word) => word.toLowerCase()).filter(Boolean);
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      for (const word of wanted) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          ranges.push(range);
        }
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
    return ranges[0] ?? null;
  }
  const form = $("#find");
  const input = $("#find-words");
  let places = [];
  let place = -1;
  async function find() {
    const words = input.value.trim();
    CSS.highlights?.delete("found");
    places = [];
    place = -1;
    $("#find-count").textContent = "";
    if (words.length < 2) return;
    const told = await json(`${api}/find?q=${encodeURIComponent(words)}`).catch(() => null);
    if (!told || input.value.trim() !== words) return;
    places = told.places;
    $("#find-count").textContent = places.length ? `${places.length}${told.more ? "+" : ""}` : "none";
    const here = +(scroller.current()?.dataset.round ?? 1);
    place = places.findIndex(([, round]) => round >= here) - 1;
    if (places.length) step(1);
  }
  async function step(by) {
    if (!places.length) return;
    settled = true;
    place = (place + by + places.length) % places.length;
    const [, round, block, toggle] = places[place];
    $("#find-count").textContent = `${place + 1} / ${places.length}`;
    if (toggle && !shown.has(toggle)) await press(toggle);
    const target = await scroller.go(round, block);
    if (!target) return;
    const words = [input.value.trim()];
    if (target.matches("details")) {
      target.open = true;
      await unfold(target);
    }
    let range = highlight(target, words);
    const more = $("a.all", target);
    if (!range && more) {
      await showAll(more);
      range = highlight(target, words);
    }
    range?.startContainer.parentElement.scrollIntoView({ block: "center" });
  }
  if (!agent) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      step(1);
    });
    let typing = 0;
    input.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(find, 120);
    });
    for (const button of $$("[data-step]", form)) button.addEventListener("click", () => step(+button.dataset.step));
    keys.set("f", () => input.focus());
    keys.set("n", () => step(1));
    keys.set("N", () => step(-1));
    // The browser's own search sees only what is loaded; a second Ctrl-F still gets there.
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "f" && document.activeElement !== input) {
        event.preventDefault();
        input.select();
      }
    });
  }

  // -- moving about

  function turn(by) {
    const last = scroller.parts.at(-1)?.[2] ?? 1;
    const here = scroller.heading?.round ?? +(scroller.current()?.dataset.round ?? 1);
    scroller.go(Math.min(last, Math.max(1, here + by)));
  }
  keys.set("j", () => turn(1));
  keys.set("k", () => turn(-1));
  const engagement = (by) => {
    const at = links.indexOf(railed) + by;
    if (links[at]) scroller.go(+links[at].dataset.first);
  };
  keys.set("]", () => engagement(1));
  keys.set("[", () => engagement(-1));
  keys.set("Home", () => scroller.go(1));
  for (const link of links) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      settled = true;
      history.pushState(null, "", link.href);
      scroller.go(+link.dataset.first);
    });
  }

  // -- following a session that is still going on

  const follow = $("#follow");
  let following = false;
  function setFollowing(on) {
    following = on;
    follow.classList.toggle("on", on);
    follow.textContent = on ? "Following" : "Newest ↓";
    follow.hidden = !on && !follow.dataset.news;
  }
  follow.addEventListener("click", async () => {
    delete follow.dataset.news;
    await scroller.end();
    setFollowing(true);
  });
  keys.set("End", () => follow.click());
  // Whoever moves up, by whatever means, wants to read there.
  let before = scrollY;
  addEventListener(
    "scroll",
    () => {
      if (following && scrollY < before - 2 && !scroller.isOurs) setFollowing(false);
      before = scrollY;
    },
    { passive: true },
  );
  addEventListener("wheel", (event) => following && event.deltaY < 0 && setFollowing(false), { passive: true });
  document.addEventListener("live:sessions", async ({ detail }) => {
    if (!detail.ids.includes(id) || agent) return;
    const told = await json(`${api}/outline`).catch(() => null);
    if (!told) {
      toast("This session is not there any more.");
      return;
    }
    totals = told.totals;
    if (!(await scroller.grow(told.parts))) return;
    const count = told.parts.at(-1)?.[2] ?? 0;
    if ($("#rounds")) $("#rounds").textContent = `${count.toLocaleString()} ${count === 1 ? "round" : "rounds"}`;
    for (const link of $$('.toggle[aria-pressed="false"]')) {
      $("small", link).textContent = totals[link.dataset.toggle].toLocaleString();
    }
    if (following) await scroller.end();
    else {
      follow.dataset.news = "1";
      follow.hidden = false;
    }
  });

  // -- copying

  async function copy(text, words) {
    try {
      await navigator.clipboard.writeText(text);
      toast(words);
    } catch {
      toast("The browser did not let us copy.");
    }
  }
  for (const button of $$("[data-copy]")) {
    if (agent && button.dataset.copy === "markdown") continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const round = scroller.current()?.dataset.round ?? "1";
      if (button.dataset.copy === "link") {
        const url = new URL(location.href);
        url.hash = `#round-${round}`;
        copy(url.href, `Link to round ${round} copied`);
      } else if (button.dataset.copy === "resume") copy(button.dataset.text, "Command copied: paste it in a terminal");
      else {
        const range = railed ? railed.dataset.ranges.trim().replaceAll(" ", ",") : round;
        const answer = await fetch(`${page.dataset.session}/markdown?rounds=${range}`);
        copy(await answer.text(), `Rounds ${range} copied as Markdown`);
      }
    });
  }

  await toHash();
}
