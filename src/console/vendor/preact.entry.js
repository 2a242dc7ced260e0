// Preact, its hooks and htm in one module, without htm's cache of elements that have no values. Preact makes such an
// element a part of the view in which it was made first, so that view, with its data, would stay in memory for good.
import htm from "htm";
import { h } from "htm/preact/standalone";

export * from "htm/preact/standalone";
export const html = htm.bind(function (...given) {
  this[0] = 3; // htm: this element has values
  return h(...given);
});
