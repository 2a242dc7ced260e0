// Turns XML and JSON into indented lines for the document viewer. Long texts are read in
// slices, so that the tab stays responsive.

/** @typedef {{texts: string[], depths: number[]}} Lines Each line without its indentation, and its depth. */

const SLICE_MILLISECONDS = 12;
const TOKENS =
  /<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<\/[^>]*>|<(?:[^>"']|"[^"]*"|'[^']*')*>|[^<]+|</g;

/**
 * Returns `{texts, depths}`: each line without its indentation, and its depth.
 *
 * @param {string} xml
 * @returns {Promise<Lines | null>}
 */
export async function xmlLines(xml, isStale = () => false) {
  const texts = [];
  const depths = [];
  let depth = 0;
  let open = -1; // the line of a start tag that nothing has followed yet
  let started = performance.now();
  let tokens = 0;
  const add = (text, at) => {
    texts.push(text);
    depths.push(at);
  };
  for (const [token] of xml.matchAll(TOKENS)) {
    tokens += 1;
    if (tokens % 500 === 0 && performance.now() - started > SLICE_MILLISECONDS) {
      await new Promise((resolve) => setTimeout(resolve));
      if (isStale()) return null;
      started = performance.now();
    }
    if (token.startsWith("</")) {
      depth = Math.max(0, depth - 1);
      if (open === texts.length - 1 && open >= 0) texts[open] += token;
      else add(token, depth);
      open = -1;
    } else if (token.startsWith("<") && !token.startsWith("<?") && !token.startsWith("<!")) {
      add(token, depth);
      if (token.endsWith("/>")) {
        open = -1;
      } else {
        open = texts.length - 1;
        depth += 1;
      }
    } else if (token.trim()) {
      const isText = !token.startsWith("<?") && !token.startsWith("<!--");
      if (isText && open === texts.length - 1 && open >= 0 && !token.trim().includes("\n")) {
        texts[open] += token.trim();
      } else {
        for (const line of token.trim().split("\n")) add(line, depth);
        open = -1;
      }
    }
  }
  return { texts, depths };
}

/**
 * @param {unknown} value
 * @returns {Lines}
 */
export function jsonLines(value) {
  const texts = JSON.stringify(value, null, 1).split("\n");
  const depths = texts.map((line) => line.length - line.trimStart().length);
  return { texts: texts.map((line) => line.trimStart()), depths };
}

/**
 * Lines of code keep their indentation, which is part of the code. Two spaces are one level.
 *
 * @param {string} code
 * @returns {Lines}
 */
export function codeLines(code) {
  const texts = code.trimEnd().split("\n");
  const depths = texts.map((line) => Math.floor((line.length - line.trimStart().length) / 2));
  return { texts: texts.map((line, n) => line.slice(2 * depths[n])), depths };
}

/**
 * Returns the line after the last one that folding line `at` hides, or `at + 1` when it hides none.
 *
 * @param {Lines} lines
 * @param {number} at
 */
export function foldEnd({ texts, depths }, at) {
  let end = at + 1;
  while (end < texts.length && depths[end] > depths[at]) end += 1;
  if (end === at + 1) return end;
  // The closing tag or bracket folds with the part that it closes.
  return end < texts.length && depths[end] === depths[at] && /^(<\/|[}\]])/.test(texts[end]) ? end + 1 : end;
}

const XML_PARTS = /(<\/?|<\?)([\w:.-]+)|([\w:.-]+)(=)("[^"]*"|'[^']*')|(\/?>|\?>)|(\s+|[^<>"=\s]+|.)/g;
const JSON_PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)|([^"\d-]+|.)/g;
const MAXIMUM_LINE = 2000;

/**
 * Returns `[class, text]` pairs that colour a line.
 *
 * @param {string} line
 * @param {string} kind
 * @returns {[string, string][]}
 */
export function coloured(line, kind) {
  /** @type {[string, string][]} */
  const parts = [];
  const shown = line.length > MAXIMUM_LINE ? line.slice(0, MAXIMUM_LINE) : line;
  if (kind === "xml" && /^[<]/.test(shown)) {
    let inTag = false;
    for (const [all, bracket, name, attribute, equals, value, end, text] of shown.matchAll(XML_PARTS)) {
      if (bracket) {
        parts.push(["t-dim", bracket], ["t-tag", name]);
        inTag = true;
      } else if (attribute && inTag) parts.push(["t-name", attribute], ["t-dim", equals], ["t-value", value]);
      else if (end) {
        parts.push(["t-dim", end]);
        inTag = false;
      } else parts.push(["", text ?? all]);
    }
  } else if (kind === "json") {
    for (const [, text, colon, literal, rest] of shown.matchAll(JSON_PARTS)) {
      if (text) {
        parts.push([colon ? "t-tag" : "t-value", text]);
        if (colon) parts.push(["t-dim", colon]);
      } else if (literal) parts.push(["t-number", literal]);
      else parts.push(["t-dim", rest]);
    }
  } else {
    parts.push(["", shown]);
  }
  if (shown !== line) parts.push(["t-dim", ` … (${line.length - shown.length} more characters; copy to see them)`]);
  return parts;
}
