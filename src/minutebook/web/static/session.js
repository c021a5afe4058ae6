// The session page: toggles, deep links, unfolding, secrets, finding, copying, following.
import { $, $$, fragment, json, toast } from "./kit.js";
import { keys } from "./keys.js";
import { locate, paint, phraseIn, uncover, wordsIn } from "./passage.js";
import { Scroller } from "./scroller.js";
import { numbers, story } from "./story.js";

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
    if (hash !== location.hash) for (const name of ["round", "block", "passage"]) url.searchParams.delete(name);
    if (show !== null) {
      if (show === USUAL) url.searchParams.delete("show");
      else url.searchParams.set("show", show || "none");
    }
    history.replaceState(null, "", url.href.replaceAll("%2C", ","));
  }
  const jump = (round) => {
    settled = true;
    history.pushState(null, "", linkTo(round));
    return scroller.go(round);
  };
  const seen = story(scroller, jump);
  scroller.onview = () => {
    mark();
    seen?.();
  };
  history.scrollRestoration = "manual"; // a place in pixels says nothing before parts are loaded
  for (const name of ["wheel", "touchmove", "keydown", "mousedown"]) {
    const moved = (event) => {
      settled = true;
      const stays = ["Shift", "Control", "Alt", "Meta"].includes(event.key) || event.target.closest?.("[data-copy]");
      if (!stays) scroller.release();
    };
    addEventListener(name, moved, { passive: true, capture: true });
  }

  /** The address of a round: the server reads what precedes the #, a page what follows it. */
  function linkTo(round) {
    const url = new URL(base, location.href);
    const show = new URLSearchParams(location.search).get("show");
    if (show !== null) url.searchParams.set("show", show);
    url.searchParams.set("round", round);
    url.hash = `#round-${round}`;
    return url.href.replaceAll("%2C", ",");
  }

  /** Where the address leads: `#round-12`, `#round-12.7` (the seventh block), `?round=12`. */
  function destination() {
    const search = new URLSearchParams(location.search);
    const named = location.hash.match(/^#round-(\d{1,9})(?:\.(\d{1,9}))?$/);
    const round = named?.[1] ?? (location.hash ? null : search.get("round"));
    if (!round || !/^\d{1,9}$/.test(round)) return null;
    const same = search.get("round") === round || !search.has("round");
    const block = named?.[2] ? +named[2] - 1 : same && search.get("block") ? +search.get("block") : null;
    return { round: +round, block, passage: same ? search.get("passage") : null, words: search.get("q") ?? "" };
  }

  async function land() {
    const wanted = destination();
    if (!wanted) return;
    const last = scroller.parts.at(-1)?.[2] ?? 0;
    if (wanted.round > last || wanted.round < 1) {
      toast(`There is no round ${wanted.round}: this session has ${last}.`);
      return;
    }
    let target = await scroller.go(wanted.round, wanted.block);
    if (!target) return; // the reader went elsewhere meanwhile
    if (wanted.block !== null && !target.matches("[data-at]")) target = await unhide(wanted);
    if (!target) return;
    $$(".round.here").forEach((element) => element.classList.remove("here"));
    target.closest(".round")?.classList.add("here");
    if (wanted.passage || wanted.words) await showPassage(target, wanted);
    else if (wanted.block !== null && target.matches("details[data-src]")) {
      await unfoldAll(target);
      await scroller.go(wanted.round, wanted.block);
    }
    document.documentElement.dataset.landed = wanted.round;
  }
  addEventListener("hashchange", land);

  /** A block whose kind is not shown: everything is, then. */
  async function unhide({ round, block }) {
    for (const name of TOGGLES) shown.add(name);
    told();
    await scroller.again(shown);
    return scroller.go(round, block);
  }

  /** Unfold what a search found, highlight it, and keep it in view. */
  async function showPassage(target, wanted) {
    const words = wanted.words.match(/[\p{L}\p{N}]+/gu) ?? [];
    const passage = wanted.passage ?? "";
    const round = () => $(`#round-${wanted.round}`) ?? $(`[data-round="${wanted.round}"]`);
    const again = () => (wanted.block !== null && $(`[data-at="${wanted.round}.${wanted.block}"]`)) || round();
    const look = (root, whole = false) => (root && passage ? locate(root, passage, whole, words) : null);
    // Outside the round, a few words that happen to be the same are not it.
    const sure = (root) => {
      const range = look(root);
      return range && (!words.length || wordsIn(root, words, range).length) ? range : null;
    };
    await unfoldAll(target);
    let range = look(again(), true);
    if (!range && wanted.block === null) {
      // Nobody noted in which block of the round it stands: perhaps where one is cut short.
      for (const more of $$(`[data-round="${wanted.round}"] .block > a.all`).slice(0, 6)) await showAll(more);
    }
    range ??= look(again());
    if (!range && passage) range = await inSubagent(again(), passage, words);
    if (!range && wanted.block === null) range = sure(round()?.closest(".part")) ?? sure($(".session-head")) ?? sure($(".rail"));
    // Found by its meaning, or by a label that no page shows: what the link leads to is marked.
    const found = range ? wordsIn(again().closest(".part") ?? document.body, words, range) : wordsIn(again(), words);
    range ??= found[0] ?? firstWords(again());
    if (!range) return;
    paint("passage", [range]);
    paint("found", found);
    uncover(range);
    // A page that is loaded in parts may load this one again.
    const place = () => {
      if (!range.startContainer.isConnected || range.collapsed) {
        range = look(again()) ?? firstWords(again()) ?? range;
        paint("passage", [range]);
      }
      return range.getBoundingClientRect();
    };
    scroller.hold({ place, round: wanted.round, centre: true });
  }
  function firstWords(root) {
    if (!root) return null;
    const walker = document.createTreeWalker($(".begins bdi, .prose, pre, .did", root) ?? root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.data.trim()) continue;
      const range = new Range();
      range.selectNodeContents(node);
      if (range.getBoundingClientRect().height) return range;
    }
    return null;
  }
  /** Everything of a block that is folded or cut short. */
  async function unfoldAll(block) {
    if (block.matches("details[data-src]")) {
      block.open = true;
      scroller.open.add(block.dataset.at);
      await unfold(block);
    }
    const cut = block.matches("[data-at]") ? $$(":scope > a.all", block) : $$(".user > a.all", block);
    for (const more of cut) await showAll(more);
  }
  /** A passage of what a subagent said or did: unfolded under the call that started it. */
  async function inSubagent(block, passage, words) {
    const folded = block && $("details.subagent", block);
    if (!folded) return null;
    const from = `agent=${encodeURIComponent(folded.dataset.agent)}`;
    const told = await json(`${api}/find?q=${encodeURIComponent(passage.slice(0, 60))}&${from}`).catch(() => null);
    const place = told?.places[0];
    if (!place) return null;
    folded.open = true;
    await subagentPart(folded, place[0]);
    const inner = $(`[data-at="${CSS.escape(`${folded.dataset.agent}/${place[1]}.${place[2]}`)}"]`, folded);
    if (!inner) return null;
    await unfoldAll(inner);
    return locate(inner, passage, false, words);
  }

  // -- toggles

  function press(name) {
    if (shown.has(name)) shown.delete(name);
    else shown.add(name);
    told();
    return scroller.again(shown);
  }
  /** What is shown, on the buttons and in the address. */
  function told() {
    for (const link of $$(".toggle")) {
      const on = shown.has(link.dataset.toggle);
      link.setAttribute("aria-pressed", on);
      $("small", link).textContent = on ? "" : count(link.dataset.toggle).toLocaleString();
    }
    address({ show: TOGGLES.filter((one) => shown.has(one)).join(",") });
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

  numbers(scroller, jump);

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
      .catch(() => (link.textContent = "It no longer exists."));
    return block.loading;
  }
  $("#scroll").addEventListener(
    "toggle",
    (event) => {
      const block = event.target;
      if (block.matches?.("details.subagent") && block.open && !$(".part", block)) subagentPart(block, 0);
      if (!block.matches?.("details[data-src]")) return;
      if (block.open) {
        scroller.open.add(block.dataset.at);
        unfold(block);
      } else scroller.open.delete(block.dataset.at);
    },
    true,
  );
  /** A part of a subagent's transcript, in place; the next one is a click away. */
  async function subagentPart(folded, part) {
    const { base: from, parts } = folded.dataset;
    const show = TOGGLES.filter((name) => shown.has(name)).join(",") || "none";
    const html = await fragment(`${from}/parts/${part}?within=1&show=${show}`).catch(() => null);
    if (html === null) return;
    $(".unfold, .next", folded)?.remove();
    const section = document.createElement("section");
    section.className = "part";
    section.innerHTML = html;
    folded.append(section);
    if (part + 1 >= +parts) return;
    const next = document.createElement("button");
    Object.assign(next, { type: "button", className: "next", textContent: "Show more of this subagent" });
    next.addEventListener("click", () => subagentPart(folded, part + 1));
    folded.append(next);
  }
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
    if (number) navigator.clipboard?.writeText(linkTo(number.closest("[data-round]").dataset.round)).then(() => toast("Link copied"), () => {});
  });
  async function reveal(button) {
    const round = button.closest("[data-round]").dataset.round;
    const whose = button.closest("[data-agent]")?.dataset.agent;
    const from = whose ? `?agent=${encodeURIComponent(whose)}` : "";
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

  const form = $("#find");
  const input = $("#find-words");
  let places = [];
  let place = -1;
  async function find() {
    const words = input.value.trim();
    for (const name of ["found", "passage"]) paint(name, []);
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
    await unfoldAll(target);
    const ranges = phraseIn(target, input.value);
    paint("found", ranges);
    paint("passage", []);
    if (!ranges.length) return;
    uncover(ranges[0]);
    scroller.hold({ place: () => ranges[0].getBoundingClientRect(), round, centre: true });
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
      toast("This session no longer exists.");
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
      toast("The browser did not allow copying.");
    }
  }
  for (const button of $$("[data-copy]")) {
    if (agent && button.dataset.copy === "markdown") continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const round = scroller.heading?.round ?? scroller.current()?.dataset.round ?? "1";
      if (button.dataset.copy === "link") {
        copy(linkTo(round), `Link to round ${round} copied`);
      } else if (button.dataset.copy === "resume") copy(button.dataset.text, "Command copied: paste it in a terminal");
      else {
        const range = railed ? railed.dataset.ranges.trim().replaceAll(" ", ",") : round;
        const answer = await fetch(`${page.dataset.session}/markdown?rounds=${range}`);
        copy(await answer.text(), `Rounds ${range} copied as Markdown`);
      }
    });
  }

  await land();
}
