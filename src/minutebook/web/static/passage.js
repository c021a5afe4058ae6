// Finds in rendered text what a search found in the text as it was written. Only letters and
// digits count: Markdown's marks, line breaks and gutters are not the same in both.

const LETTER = /[\p{L}\p{N}]/u;

/** The letters of a text, in lower case. */
export const letters = (text) => [...text].filter((one) => LETTER.test(one)).join("").toLowerCase();

/** The letters on screen below an element, and where each stands. */
function lettersIn(root) {
  const nodes = [];
  const offsets = [];
  let found = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest(".vh")) continue;
    for (let at = 0; at < node.data.length; at++) {
      const pair = node.data.codePointAt(at) > 0xffff;
      const one = pair ? node.data.slice(at, at + 2) : node.data[at];
      if (LETTER.test(one)) {
        const small = one.toLowerCase();
        for (let unit = 0; unit < small.length; unit++) {
          nodes.push(node);
          offsets.push(at);
        }
        found += small;
      }
      if (pair) at++;
    }
  }
  return { found, nodes, offsets };
}

function rangeOf({ nodes, offsets }, start, end) {
  const range = new Range();
  range.setStart(nodes[start], offsets[start]);
  const last = nodes[end - 1];
  const wide = last.data.codePointAt(offsets[end - 1]) > 0xffff ? 2 : 1;
  range.setEnd(last, offsets[end - 1] + wide);
  return range;
}

/** A part of a passage that was found, with as much around it as is the same. */
function widened(found, at, wanted, from, length) {
  let [start, end] = [0, length];
  while (from + start > 0 && at + start > 0 && found[at + start - 1] === wanted[from + start - 1]) start--;
  while (from + end < wanted.length && found[at + end] === wanted[from + end]) end++;
  return [at + start, at + end];
}

/** Beginnings that all forms of some words have. */
function stems(words) {
  return words.map(letters).filter(Boolean).map((word) => (word.length > 5 ? word.slice(0, word.length - 2) : word));
}

/**
 * Where a passage stands below an element: all of it, else the longest part that does, rather one
 * with a word that was looked for; null.
 */
export function locate(root, passage, whole = false, words = []) {
  const wanted = letters(passage);
  const seen = lettersIn(root);
  const least = whole ? wanted.length : Math.min(12, wanted.length);
  const sought = stems(words).filter((stem) => wanted.includes(stem));
  let other = null;
  for (let length = wanted.length; length >= least && length; length = Math.floor(length * 0.7)) {
    const steps = Math.max(1, Math.floor(length / 4));
    for (let from = 0; from + length <= wanted.length; from += steps) {
      const at = seen.found.indexOf(wanted.slice(from, from + length));
      if (at < 0) continue;
      const [start, end] = widened(seen.found, at, wanted, from, length);
      const part = seen.found.slice(start, end);
      if (!sought.length || sought.some((stem) => part.includes(stem))) return rangeOf(seen, start, end);
      other ??= [start, end];
    }
  }
  return other && rangeOf(seen, ...other);
}

/** The words of a search below an element, in any of their forms: the same beginning will do. */
export function wordsIn(root, words, within = null) {
  const wanted = stems(words);
  const found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && found.length < 500; node = walker.nextNode()) {
    if (within && !within.intersectsNode(node)) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\p{L}\p{N}]+/gu)) {
      const small = word.toLowerCase();
      if (!wanted.some((one) => small.startsWith(one))) continue;
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const inside = !within || (within.comparePoint(node, index) === 0 && within.comparePoint(node, index + word.length) === 0);
      if (inside) found.push(range);
    }
  }
  return found;
}

/** Every place of a phrase below an element, as it was typed. */
export function phraseIn(root, phrase) {
  const wanted = letters(phrase);
  const seen = lettersIn(root);
  const found = [];
  for (let at = seen.found.indexOf(wanted); wanted && at >= 0 && found.length < 500; at = seen.found.indexOf(wanted, at + wanted.length)) {
    found.push(rangeOf(seen, at, at + wanted.length));
  }
  return found;
}

/** Scroll what scrolls inside the page, so that a place in it can be seen. */
export function uncover(range) {
  const start = range.startContainer;
  for (let box = start.parentElement; box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight + 1 || getComputedStyle(box).overflowY === "visible") continue;
    const [inner, outer] = [range, box].map((one) => one.getBoundingClientRect());
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - box.clientHeight / 3;
  }
}

export function paint(name, ranges) {
  if (!CSS.highlights) return;
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
  else CSS.highlights.delete(name);
}
