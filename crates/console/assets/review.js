// Keys of the review queue: a accepts, r rejects, t goes to the kind, n and b go on and back. Without this file the buttons
// and links do the same.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  if (event.key === "t") {
    document.querySelector("#kind")?.focus();
    event.preventDefault();
    return;
  }
  const wanted = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!wanted) return;
  event.preventDefault();
  wanted.click();
});
