// Only what is near the viewport is in the document. The session is cut into parts; those in
// view (and a screen around) are loaded, spacers stand for the rest.
import { $, $$, fragment } from "./kit.js";

const HEIGHTS = [105, 120, 130, 27, 150]; // of a block by toggle, until it has been measured
const HEADER = 46; // pixels of a round's own line

export class Scroller {
  constructor(base, parts, shown, toggles) {
    Object.assign(this, { base, parts, shown, toggles });
    this.root = $("#scroll");
    this.top = $("#space-top");
    this.bottom = $("#space-bottom");
    this.known = new Map(); // measured heights
    this.sections = new Map(); // index → element
    this.open = new Set(); // addresses of unfolded blocks
    this.pin = null; // where a link led, until the reader moves
    this.goal = null; // the part we are on our way to
    this.anchor = null; // what is being read: an element, and its place in the document
    this.sizes = new ResizeObserver((entries) => this.measured(entries));
    for (const section of $$(":scope > .part", this.root)) this.adopt(+section.dataset.part, section, true);
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    addEventListener("resize", () => this.settle());
    // Everything else that moves rounds: what stands above them, and what a round itself loads.
    this.sizes.observe(document.body);
    this.sizes.observe(this.root);
    document.fonts?.ready.then(() => this.settle());
    this.update();
  }

  height(index) {
    if (this.known.has(index)) return this.known.get(index);
    const [first, , last, counts] = this.parts[index];
    const blocks = counts.reduce((sum, n, at) => sum + (this.shown.has(this.toggles[at]) ? n * HEIGHTS[at] : 0), 0);
    return blocks + HEADER * (last - first + 1);
  }

  topOf(index) {
    let sum = 0;
    for (let at = 0; at < index; at++) sum += this.height(at);
    return sum;
  }

  /** Scroll, and remember that it was not the reader who did. */
  shift(by) {
    this.ours = performance.now();
    scrollBy(0, by);
  }

  to(y) {
    this.ours = performance.now();
    scrollTo(0, y);
  }

  /** Whether a scroll that is being told of may have been our own. */
  get isOurs() {
    return this.jumping || performance.now() - (this.ours ?? -1e9) < 250;
  }

  // -- staying where the reader is

  /** A link led here: it stays in view, whatever loads, until the reader moves. */
  hold(pin) {
    this.pin = pin;
    this.settle();
  }

  release() {
    this.pin = null;
    this.remember();
  }

  /** Remember what is being read. */
  remember() {
    const all = $$(".round-head, .block", this.root);
    const line = this.line;
    const element = all.find((one) => one.getBoundingClientRect().bottom > line);
    this.anchor = element ? { element, place: element.getBoundingClientRect().top + scrollY } : null;
  }

  /** Where what is read begins: below the bar that stays on top, where it does. */
  get line() {
    const bar = $(".toggles");
    return bar && getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  }

  /** Heights have changed: put back in place what was read, or what a link led to. */
  settle() {
    if (this.pin) {
      const { top, bottom } = this.pin.place();
      const height = bottom - top;
      const room = innerHeight - this.line;
      const wanted = this.pin.centre && height < room ? this.line + (room - height) / 3 : this.line + 8;
      if (Math.abs(top - wanted) >= 1) this.shift(top - wanted);
      this.tall = document.documentElement.scrollHeight;
    } else if (this.anchor?.element.isConnected) {
      const now = this.anchor.element.getBoundingClientRect().top + scrollY;
      const by = now - this.anchor.place;
      this.anchor.place = now;
      if (Math.abs(by) >= 1) this.shift(by);
    }
    this.soon();
  }

  scrolled() {
    // A scrollbar that is dragged tells of nothing but the scrolling itself.
    const same = document.documentElement.scrollHeight === this.tall;
    if (this.pin && !this.isOurs && same) this.pin = null;
    if (!this.pin && !this.jumping) this.remember();
    this.soon();
  }

  get origin() {
    return this.root.getBoundingClientRect().top + scrollY;
  }

  soon() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.update();
    });
  }

  /** Put the parts around the viewport into the document, and take the others out. */
  update() {
    if (!this.parts.length) return;
    // What was unfolded since is told of only after this frame: by old heights a part in view
    // would seem to be elsewhere, and be taken out.
    for (const [at, section] of this.sections) if (!section.style.height) this.known.set(at, section.offsetHeight);
    const margin = Math.max(400, innerHeight * 0.6);
    // On the way to a part it is that part which counts, wherever the page has got to.
    const here = this.goal === null ? scrollY - this.origin : this.topOf(this.goal);
    const from = here - margin;
    const to = here + innerHeight + margin;
    let first = null;
    let last = 0;
    let above = 0;
    let sum = 0;
    for (let at = 0; at < this.parts.length; at++) {
      const height = this.height(at);
      if (first === null && (sum + height > from || at === this.parts.length - 1)) {
        first = at;
        above = sum;
      }
      if (sum < to) last = at;
      sum += height;
    }
    last = Math.max(first, last);
    let below = sum - above;
    for (let at = first; at <= last; at++) below -= this.height(at);
    for (const [at, section] of [...this.sections]) if (at < first || at > last) this.drop(at, section);
    this.top.style.height = `${above}px`;
    this.bottom.style.height = `${below}px`;
    let after = this.top;
    for (let at = first; at <= last; at++) {
      let section = this.sections.get(at);
      if (!section) {
        section = document.createElement("section");
        section.className = "part";
        section.dataset.part = at;
        section.style.height = `${this.height(at)}px`;
        after.after(section);
        this.adopt(at, section, false);
        this.fill(at);
      }
      after = section;
    }
    this.onview?.();
  }

  adopt(at, section, full) {
    this.sections.set(at, section);
    section.filled = full ? Promise.resolve() : null;
    if (full) this.known.set(at, section.offsetHeight);
    this.sizes.observe(section);
  }

  drop(at, section) {
    this.sizes.unobserve(section);
    section.stop?.abort();
    section.remove();
    this.sections.delete(at);
  }

  fill(at) {
    const section = this.sections.get(at);
    const stop = (section.stop = new AbortController());
    const show = this.toggles.filter((name) => this.shown.has(name)).join(",") || "none";
    section.filled = fragment(`${this.base}/parts/${at}?show=${show}`, "1", stop.signal)
      .then((html) => this.put(at, section, html))
      .catch((error) => {
        if (error.name === "AbortError" || this.sections.get(at) !== section) return;
        if (error.message === "404") {
          section.textContent = "This part no longer exists. Reload the page.";
          return;
        }
        this.drop(at, section); // a hiccup: it is asked for again
        setTimeout(() => this.soon(), 1000);
      });
    return section.filled;
  }

  put(at, section, html) {
    if (this.sections.get(at) !== section) return;
    const read = section.contains(this.anchor?.element) ? addressOf(this.anchor.element) : null;
    section.innerHTML = html;
    section.style.height = "";
    for (const block of $$("details[data-at]", section)) if (this.open.has(block.dataset.at)) block.open = true;
    this.known.set(at, section.offsetHeight);
    if (read && this.anchor) this.anchor.element = $(read, section) ?? section;
    if (!this.jumping) this.settle(); // what is being read stays where it is
    this.soon();
  }

  measured(entries) {
    for (const { target } of entries) {
      const at = +target.dataset.part;
      if (this.sections.get(at) === target && !target.style.height) this.known.set(at, target.offsetHeight);
    }
    if (!this.jumping) this.settle();
  }

  partOf(round, block = 0) {
    let found = 0;
    this.parts.forEach(([first, at], index) => {
      if (first < round || (first === round && at <= block)) found = index;
    });
    return found;
  }

  /** Bring a part into the document and the viewport; resolves when it is there. */
  async reach(index) {
    index = Math.max(0, Math.min(index, this.parts.length - 1));
    this.goal = index;
    this.jumping = true;
    try {
      for (let tries = 0; tries < 5 && this.goal === index; tries++) {
        this.update();
        this.to(this.origin + this.topOf(index) - 60);
        await Promise.all([...this.sections.values()].map((section) => section.filled));
        if (this.sections.has(index)) break;
        await new Promise((done) => setTimeout(done, 200)); // the server hiccuped
      }
    } finally {
      if (this.goal === index) this.jumping = false;
    }
    return this.sections.get(index);
  }

  /** Scroll to a round, or to a block in it; null when the reader has asked for another since. */
  async go(round, block = null) {
    const mine = (this.heading = { round }); // where we are on our way to
    this.pin = null;
    const section = await this.reach(this.partOf(round, block ?? 0));
    if (this.heading !== mine) return null;
    this.heading = null;
    const address = block === null ? null : `[data-at="${round}.${block}"]`;
    const find = () =>
      (address && $(address, this.root)) || $(`#round-${round}`) || $(`[data-round="${round}"]`, this.root);
    const target = find() ?? section;
    if (!target) {
      this.goal = null;
      return null;
    }
    // By its address: the part it is in may be loaded again.
    let last = target.getBoundingClientRect();
    const place = () => (last = find()?.getBoundingClientRect() ?? last);
    this.hold({ place, round, centre: block !== null });
    this.goal = null;
    this.update();
    this.settle();
    return target;
  }

  /** Other toggles: everything is loaded again, the same round stays on top. */
  again(shown) {
    this.shown = shown;
    // Quick keys come one after the other, and keep the round the first one found.
    this.changing = (this.changing ?? Promise.resolve()).then(() => this.reload());
    return this.changing;
  }

  async reload() {
    const here = this.current();
    const offset = here?.getBoundingClientRect().top ?? 0;
    const round = here ? +here.dataset.round : null;
    this.known.clear();
    for (const [at, section] of [...this.sections]) this.drop(at, section);
    this.update();
    if (round === null) return;
    const target = await this.go(round);
    if (!target) return;
    this.shift(target.getBoundingClientRect().top - offset);
    this.release();
  }

  /** The session has grown. */
  async grow(parts) {
    const last = this.parts.length - 1;
    const changed = parts.length !== this.parts.length || String(parts[last]) !== String(this.parts[last]);
    this.parts = parts;
    $(":scope > .nothing", this.root)?.remove();
    if (changed && last >= 0 && this.sections.has(last)) await this.fill(last);
    this.update();
    return changed;
  }

  /** The round a link led to, or the one at the top of the viewport. */
  current() {
    const held = this.pin?.round && $(`[data-round="${this.pin.round}"]`, this.root);
    if (held) return held;
    const all = $$(".round", this.root);
    const line = this.line + 24;
    return all.findLast((round) => round.getBoundingClientRect().top <= line) ?? all[0];
  }

  async end() {
    this.heading = null;
    this.pin = null;
    await this.reach(this.parts.length - 1);
    this.goal = null;
    this.to(document.documentElement.scrollHeight);
    this.remember();
  }
}

/** Finds an element of a part again after the part was loaded anew. */
function addressOf(element) {
  const block = element.closest("[data-at]");
  if (block) return `[data-at="${block.dataset.at}"]`;
  return `[data-round="${element.closest("[data-round]")?.dataset.round}"]`;
}
