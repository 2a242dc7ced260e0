// Shows XML or JSON as indented lines that fold. Only the visible lines exist as elements.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { CopyButton } from "./copying.js";
import { download } from "./csv.js";
import { codeLines, coloured, foldEnd, jsonLines, xmlLines } from "./lines.js";
import { bytes, count, plural } from "./text.js";
import { Button, explain, Segmented, Skeleton, toast } from "./ui.js";

const LINE = 20;
const PADDING = 8;
const HEIGHT = 480;
const AROUND = 30;
const ALL_AT_ONCE = 600;

const NAMES = { xml: "XML", json: "JSON", curl: "curl", python: "Python", typescript: "TypeScript" };
const ENDINGS = { curl: "sh", python: "py", typescript: "ts" };

/**
 * `forms` maps "json" to a value, and "xml" and the languages of code to texts; a null form is not offered. `name`
 * names the download. `exactXml` returns the XML that is copied and downloaded if it is not the XML that is shown.
 */
export function DocumentView({ title, forms, name, empty, exactXml }) {
  const kinds = Object.keys(forms).filter((kind) => forms[kind] !== null && forms[kind] !== undefined);
  const [chosen, setChosen] = useState("xml");
  const kind = kinds.includes(chosen) ? chosen : kinds[0];
  const form = forms[kind];
  const text = () => (kind === "json" ? JSON.stringify(form, null, 2) : kind === "xml" && exactXml ? exactXml() : form);
  const lines = useLines(kind, form);
  const [folded, setFolded] = useState(new Set());
  const [phrase, setPhrase] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    setFolded(new Set());
    setAt(0);
  }, [kind, form]);
  const shown = useMemo(() => (lines ? visible(lines, folded) : []), [lines, folded]);
  const hits = useMemo(() => find(lines, phrase), [lines, phrase]);
  const hit = hits.length ? hits[at % hits.length] : -1;

  const foldAll = () => {
    const all = new Set();
    lines.depths.forEach((depth, n) => {
      if (depth >= 2 && foldEnd(lines, n) > n + 1) all.add(n);
    });
    setFolded(all);
  };
  const toggle = (line) => {
    const next = new Set(folded);
    if (!next.delete(line)) next.add(line);
    setFolded(next);
  };
  const search = (event) => {
    if (event.key !== "Enter" || !hits.length) return;
    event.preventDefault();
    setAt((at + (event.shiftKey ? hits.length - 1 : 1)) % hits.length);
    if (folded.size) setFolded(new Set());
  };
  const save = async () => {
    try {
      download(await text(), `${name}.${ENDINGS[kind] ?? kind}`);
    } catch (error) {
      toast(explain(error), "red");
    }
  };

  return html`
    <section class="card document" aria-label=${title}>
      <header>
        <h2>${title}</h2>
        ${
          kinds.length > 0 &&
          html`
            <div class="tools">
              ${
                kinds.length > 1 &&
                html`
                  <${Segmented}
                    label="Form of ${title.toLowerCase()}"
                    value=${kind}
                    onChange=${setChosen}
                    options=${kinds.map((one) => [one, NAMES[one]])}
                  />
                `
              }
              <${CopyButton} text=${text} />
              <${Button} kind="small icon" icon="download" aria-label="Download" title="Download" onClick=${save} />
            </div>
          `
        }
      </header>
      ${
        kinds.length === 0
          ? html`<div class="body muted">${empty}</div>`
          : html`
            <${Lines}
              lines=${lines}
              shown=${shown}
              kind=${kind}
              folded=${folded}
              toggle=${toggle}
              hits=${hits}
              hit=${hit}
              label=${title}
            />
            <div class="foot">
              <span class="num">
                ${lines ? plural(lines.texts.length, "line") : "Reading…"}
                ${kind === "xml" ? `, ${bytes(form.length)}` : ""}
              </span>
              <div class="tools">
                <input
                  type="search"
                  aria-label="Find in ${title.toLowerCase()}"
                  placeholder="Find"
                  value=${phrase}
                  onKeyDown=${search}
                  onInput=${(event) => {
                    setPhrase(event.target.value);
                    setAt(0);
                    if (folded.size) setFolded(new Set());
                  }}
                />
                ${
                  phrase &&
                  html`
                    <span class="num" role="status">
                      ${hits.length ? `${count((at % hits.length) + 1)} of ${count(hits.length)}` : "No match"}
                    </span>
                  `
                }
                <${Button}
                  kind="small ghost"
                  disabled=${!lines}
                  onClick=${folded.size ? () => setFolded(new Set()) : foldAll}
                >
                  ${folded.size ? "Unfold all" : "Fold all"}
                <//>
              </div>
            </div>
          `
      }
    </section>
  `;
}

function useLines(kind, form) {
  const [state, setState] = useState(/** @type {{kind?: string, form?: unknown, lines?: any}} */ ({}));
  useEffect(() => {
    let stale = false;
    if (form === undefined) return undefined;
    if (kind === "json") setState({ kind, form, lines: jsonLines(form) });
    else if (kind !== "xml") setState({ kind, form, lines: codeLines(form) });
    else
      xmlLines(form, () => stale).then((lines) => {
        if (lines && !stale) setState({ kind, form, lines });
      });
    return () => {
      stale = true;
    };
  }, [kind, form]);
  return state.kind === kind && state.form === form ? state.lines : null;
}

function visible(lines, folded) {
  const shown = [];
  for (let n = 0; n < lines.texts.length;) {
    shown.push(n);
    n = folded.has(n) ? foldEnd(lines, n) : n + 1;
  }
  return shown;
}

function find(lines, phrase) {
  if (!lines || !phrase) return [];
  const wanted = phrase.toLowerCase();
  const hits = [];
  lines.texts.forEach((text, n) => {
    if (text.toLowerCase().includes(wanted)) hits.push(n);
  });
  return hits;
}

function Lines({ lines, shown, kind, folded, toggle, hits, hit, label }) {
  const box = useRef(/** @type {any} */ (null));
  const [top, setTop] = useState(0);
  const isHit = useMemo(() => new Set(hits), [hits]);
  useEffect(() => {
    if (hit < 0 || !box.current) return;
    const row = shown.indexOf(hit);
    if (row >= 0) box.current.scrollTop = Math.max(0, row * LINE - HEIGHT / 2);
  }, [hit, shown]);
  if (!lines)
    return html`
      <div class="body stack tight" role="status">
        <span class="hidden-visually">Reading…</span>
        ${[70, 55, 60, 45].map((width) => html`<${Skeleton} width="${width}%" />`)}
      </div>
    `;
  const full = shown.length * LINE + 2 * PADDING;
  const all = shown.length <= ALL_AT_ONCE;
  const first = all ? 0 : Math.max(0, Math.floor(top / LINE) - AROUND);
  const last = all ? shown.length : Math.min(shown.length, first + HEIGHT / LINE + 2 * AROUND);
  const scroll = () =>
    !all && Math.abs(box.current.scrollTop - top) > (AROUND / 3) * LINE && setTop(box.current.scrollTop);
  return html`
    <div
      class="lines"
      ref=${box}
      onScroll=${scroll}
      tabindex="0"
      role="region"
      aria-label="${label} as ${NAMES[kind]}"
      style=${{ height: `${Math.min(HEIGHT, full)}px` }}
    >
      <div style=${{ height: `${full}px` }}></div>
      ${shown.slice(first, last).map(
        (n, k) => html`
          <${Line}
            key=${n}
            n=${n}
            row=${first + k}
            lines=${lines}
            kind=${kind}
            toggle=${toggle}
            folded=${folded.has(n)}
            mark=${n === hit ? "hit at" : isHit.has(n) ? "hit" : ""}
          />
        `,
      )}
    </div>
  `;
}

function Line({ n, row, lines, kind, folded, toggle, mark }) {
  const canFold = n + 1 < lines.texts.length && lines.depths[n + 1] > lines.depths[n];
  const hidden = folded ? foldEnd(lines, n) - n - 1 : 0;
  return html`
    <div class="line ${mark}" style=${{ top: `${row * LINE + PADDING}px` }}>
      <span class="n">${n + 1}</span>
      ${
        canFold &&
        html`
          <button
            class="fold"
            tabindex="-1"
            aria-label=${folded ? "Unfold" : "Fold"}
            aria-expanded=${String(!folded)}
            onClick=${() => toggle(n)}
          >
            ${folded ? "▸" : "▾"}
          </button>
        `
      }
      ${"  ".repeat(lines.depths[n])}
      ${coloured(lines.texts[n], kind).map(([name, text]) => (name ? html`<span class=${name}>${text}</span>` : text))}
      ${folded && html`<span class="t-dim"> … ${plural(hidden, "line")}</span>`}
    </div>
  `;
}
