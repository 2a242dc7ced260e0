// The types of preact.js, which has Preact, its hooks and htm in one module.
export * from "preact";
export * from "preact/hooks";
export { html } from "htm/preact";
