// The editor for XML and JSON, loaded when it is first shown. It is in a shadow root, where CodeMirror constructs
// its style sheets. The Content-Security-Policy forbids inline styles.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { Skeleton } from "./ui.js";

/** `problems`: `{line, column, message}`, lines counted from 1. */
export function Editor({ text, language, onChange, problems, label }) {
  const box = useRef();
  const made = useRef(/** @type {any} */ (null));
  const change = useRef(onChange);
  const [ready, setReady] = useState(false);
  const [failed, setFailed] = useState(false);
  change.current = onChange;

  useEffect(() => {
    let gone = false;
    import("../vendor/codemirror.js").then(
      (library) => {
        if (gone) return;
        made.current = {
          library,
          view: build(library, box.current, text, language, label, (value) => change.current(value)),
        };
        setReady(true);
      },
      () => setFailed(true),
    );
    return () => {
      gone = true;
      made.current?.view.destroy();
    };
  }, []);

  useEffect(() => {
    const view = made.current?.view;
    if (view && view.state.doc.toString() !== text)
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }, [text]);

  useEffect(() => {
    if (!made.current) return;
    const { library, view } = made.current;
    const { doc } = view.state;
    const diagnostics = problems.map(({ line, column = 1, message }) => {
      const place = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
      const from = Math.min(place.from + Math.max(column - 1, 0), place.to);
      return { from, to: Math.max(from, place.to), severity: "error", message };
    });
    view.dispatch(library.setDiagnostics(view.state, diagnostics));
  }, [problems, ready]);

  if (failed)
    return html`
      <textarea
        class="mono editor"
        aria-label=${label}
        value=${text}
        onInput=${(event) => onChange(event.target.value)}
      ></textarea>
    `;
  return html`<div class="editor" ref=${box}>${!ready && html`<${Skeleton} width="60%" />`}</div>`;
}

function build(library, box, text, language, label, onChange) {
  const {
    EditorState,
    EditorView,
    keymap,
    lineNumbers,
    highlightActiveLine,
    history,
    defaultKeymap,
    historyKeymap,
    foldGutter,
    foldKeymap,
    indentOnInput,
    bracketMatching,
    syntaxHighlighting,
    HighlightStyle,
    tags,
    xml,
    json,
    lintGutter,
  } = library;
  const root = box.shadowRoot ?? box.attachShadow({ mode: "open" });
  const theme = EditorView.theme({
    "&": { height: "460px", fontSize: "12.5px", backgroundColor: "var(--surface)", color: "var(--text)" },
    "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
    ".cm-gutters": { backgroundColor: "var(--subtle)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
    ".cm-content": { caretColor: "var(--text)" },
    ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" },
  });
  const colours = HighlightStyle.define([
    { tag: [tags.tagName, tags.propertyName], color: "var(--code-tag)" },
    { tag: tags.attributeName, color: "var(--code-name)" },
    { tag: [tags.string, tags.attributeValue], color: "var(--code-value)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
    { tag: [tags.angleBracket, tags.comment, tags.processingInstruction], color: "var(--muted)" },
  ]);
  return new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        syntaxHighlighting(colours),
        language === "xml" ? xml() : json(),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        // Tab is not bound, so that keyboard users can leave the editor.
        keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}
