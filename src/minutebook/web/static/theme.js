// Before the first paint: the theme a person chose, else the system's.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  // no storage: the system decides
}
