// Tells the reader when a script of the page does not arrive, for example because the network failed. Otherwise the
// page would show "Loading…" forever. This file is not a module, so it runs before the modules are loaded.
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
