// What the page needs before its modules are loaded. This file is not a module, so it runs before them.

// Tells the reader when a script does not arrive, for example because the network failed. Otherwise the page would show
// "Loading…" forever.
addEventListener(
  "error",
  ({ target }) => {
    const place = document.querySelector(".loading");
    if (!place || !(target instanceof HTMLScriptElement)) return;
    const reload = document.createElement("button");
    reload.className = "button small";
    reload.textContent = "Reload";
    reload.addEventListener("click", () => location.reload());
    place.setAttribute("role", "alert");
    place.replaceChildren("This page could not be loaded completely. ", reload);
  },
  true,
); // errors of scripts do not bubble

// Ctrl-K while the page is loading: lib/keyboard.js does it as soon as it can, and the browser does not do its own.
addEventListener("keydown", (event) => {
  if (!document.querySelector("#app > .boot") || !(event.ctrlKey || event.metaKey)) return;
  if (event.key?.toLowerCase() !== "k") return;
  event.preventDefault();
  globalThis.earlyKey = event;
});
