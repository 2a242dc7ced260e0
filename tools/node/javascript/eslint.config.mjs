// The rules of `make lint-javascript`. Prettier holds the layout, except inside templates and texts.
import { createRequire } from "node:module";
import { resolve } from "node:path";

// The packages are where the Makefile installs them, not above this file.
const require = createRequire(resolve(".tools/javascript/package.json"));
const js = require("@eslint/js");
const globals = require("globals");

/** A line with a single text may be longer than 120 characters: a text that is split cannot be searched for. */
const TEXT = /^\s*(?:return |[\w".-]+[:=]\s*)?(["'`]).*\1[,;]?$/;

/** So may one with the types of JavaScript. */
const TYPES = /@(?:import|param) /;

export default [
  { ignores: ["src/console/vendor/**"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    rules: { "max-len": ["error", { code: 120, ignorePattern: `${TEXT.source}|${TYPES.source}` }] },
  },
  { files: ["clients/**", "examples/**"], languageOptions: { globals: globals.node } },
  { files: ["src/console/**", "tests/console/**"], rules: { "max-lines": ["error", { max: 300, skipComments: true }] } },
];
