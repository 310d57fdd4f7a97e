// Before the first paint: the theme that was chosen, or the system's.
(() => {
  let saved = null;
  try { saved = localStorage.getItem("theme"); } catch { /* a browser without storage */ }
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = saved === "dark" || saved === "light" ? saved : system;
})();
