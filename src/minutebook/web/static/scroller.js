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
    this.sizes = new ResizeObserver((entries) => this.measured(entries));
    for (const section of $$(".part", this.root)) this.adopt(+section.dataset.part, section, true);
    addEventListener("scroll", () => this.soon(), { passive: true });
    addEventListener("resize", () => this.soon());
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
    const margin = Math.max(400, innerHeight * 0.6);
    const from = scrollY - this.origin - margin;
    const to = scrollY - this.origin + innerHeight + margin;
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
          section.textContent = "This part is not there any more. Reload the page.";
          return;
        }
        this.drop(at, section); // a hiccup: it is asked for again
        setTimeout(() => this.soon(), 1000);
      });
    return section.filled;
  }

  put(at, section, html) {
    if (this.sections.get(at) !== section) return;
    const before = section.offsetHeight;
    const isAbove = section.getBoundingClientRect().top < 56;
    section.innerHTML = html;
    section.style.height = "";
    for (const block of $$("details[data-at]", section)) if (this.open.has(block.dataset.at)) block.open = true;
    const after = section.offsetHeight;
    this.known.set(at, after);
    // What is being read stays where it is.
    if (isAbove && !this.jumping) this.shift(after - before);
    this.onfill?.(section);
    this.soon();
  }

  measured(entries) {
    for (const { target } of entries) {
      const at = +target.dataset.part;
      if (this.sections.get(at) !== target || target.style.height) continue;
      const before = this.known.get(at);
      const now = target.offsetHeight;
      if (before === undefined || Math.abs(before - now) < 1) continue;
      this.known.set(at, now);
      if (target.getBoundingClientRect().bottom < 0) this.shift(now - before);
      this.soon();
    }
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
    index = Math.min(index, this.parts.length - 1);
    this.jumping = true;
    try {
      for (let tries = 0; tries < 3 && !this.sections.has(index); tries++) {
        this.to(this.origin + this.topOf(index) - 60);
        this.update();
      }
      await this.sections.get(index)?.filled;
      await Promise.all([...this.sections.values()].map((section) => section.filled));
    } finally {
      this.jumping = false;
    }
    return this.sections.get(index);
  }

  /** Scroll to a round, or to a block in it; null when the reader has asked for another since. */
  async go(round, block = null) {
    const mine = (this.heading = { round }); // where we are on our way to
    const section = await this.reach(this.partOf(round, block ?? 0));
    if (this.heading !== mine) return null;
    this.heading = null;
    const target =
      (block !== null && $(`[data-at="${round}.${block}"]`, section)) ||
      $(`#round-${round}`) ||
      $(`[data-round="${round}"]`, section);
    this.ours = performance.now();
    target?.scrollIntoView({ block: block === null ? "start" : "center" });
    this.update();
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
    if (target) this.shift(target.getBoundingClientRect().top - offset);
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

  /** The round at the top of the viewport. */
  current() {
    const all = $$(".round", this.root);
    return all.findLast((round) => round.getBoundingClientRect().top <= 80) ?? all[0];
  }

  async end() {
    this.heading = null;
    await this.reach(this.parts.length - 1);
    this.to(document.documentElement.scrollHeight);
  }
}
