// Small things every page uses.

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/** HTML of our own server; a session deleted meanwhile is said, not thrown. */
export async function fragment(url, kind = "1", signal, more = {}) {
  const answer = await fetch(url, { headers: { "X-Fragment": kind, ...more }, signal });
  if (!answer.ok) throw new Error((await answer.text()).length ? `${answer.status}` : "no answer");
  return answer.text();
}

export async function json(url) {
  const answer = await fetch(url);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.problem);
  return told;
}

/** A word in the corner that goes away by itself. */
export function toast(words) {
  $(".toast")?.remove();
  const element = document.createElement("div");
  element.className = "toast";
  element.role = "status";
  element.textContent = words;
  document.body.append(element);
  setTimeout(() => element.remove(), 2500);
}

export const isTyping = (target) =>
  target.closest?.("input, textarea, select, [contenteditable]") !== null && target.closest !== undefined;
