// What every page starts.
import { $ } from "./kit.js";
import { listen } from "./live.js";
import { listenToKeys } from "./keys.js";
import { palette } from "./search.js";

const theme = $("#theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = getComputedStyle(root).colorScheme === "dark";
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // no storage: for this page only
  }
});

listenToKeys();
palette();
if ($("#inner")) (await import("./board.js")).board();
if ($(".session")) (await import("./session.js")).session();
if ($("[data-mend], [data-share], .mend-form, #inner")) (await import("./mend.js")).mend();
listen();
document.documentElement.dataset.ready = "true";
