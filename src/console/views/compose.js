// Compose a request: pick a type, fill in a form made from the schema or edit XML or JSON, see the other form, queue it.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { call, session, useLoad } from "../lib/api.js";
import { Editor } from "../lib/editor.js";
import { ROOT, navigate, url } from "../lib/router.js";
import { exampleTree, fromJson, fromXml, pruned, requestNames, requestType, toJson, toXml } from "../lib/schema.js";
import { plural, requestTitle } from "../lib/text.js";
import { Button, Code, Empty, explain, Field, Note, Problem, problemText, Segmented, SkeletonCard, toast, useTitle } from "../lib/ui.js";
import { GroupForm } from "./compose_form.js";

const NO_PROBLEMS = [];
const POPULAR = ["CustomerQueryRq", "InvoiceAddRq", "InvoiceQueryRq", "ItemQueryRq", "CustomerAddRq", "ReceivePaymentAddRq", "BillAddRq", "CompanyQueryRq"];
const VERSIONS = ["13.0", "14.0", "15.0", "16.0"];

export default function Compose({ query }) {
  useTitle("Compose");
  const names = useLoad(requestNames, []);
  const connections = useLoad((signal) => call("GET", "/connections", { query: { page_size: 100 }, signal }), []);
  const list = connections.data?.data;
  const connection = query.connection ?? list?.[0]?.id;
  const change = (changes) => navigate(url("/compose", { ...query, connection, ...changes }), { replace: true });
  return html`<div class="page wide">
    <div class="page-head"><div><h1>Compose a request</h1><p class="sub">A form made from QBXML's schema. Nothing reaches QuickBooks before you queue it.</p></div></div>
    ${connections.error && html`<${Problem} error=${connections.error} retry=${connections.reload} what="The connections could not be loaded." />`}
    <section class="card" aria-label="Target"><div class="body columns">
      <${Field} label="Connection">${(control) => html`<select ...${control} value=${connection} onChange=${(event) => change({ connection: event.target.value })}>
        ${list?.map((one) => html`<option value=${one.id} selected=${one.id === connection}>${one.name ?? one.id}</option>`)}</select>`}<//>
      <${TypePicker} names=${names.data ?? []} value=${query.type ?? ""} pick=${(type) => change({ type })} /></div></section>
    ${list?.length === 0 && html`<${Note} tone="amber" title="There is no connection yet"><p><a href=${url("/connections/new")}>Create a connection</a> first. You can still compose and copy a request.</p><//>`}
    ${names.error && html`<${Problem} error=${names.error} retry=${names.reload} what="The schema could not be loaded." />`}
    ${!query.type ? html`<div class="card"><${Empty} icon="pen" title="Pick a request type" actions=${POPULAR.map((name) => html`<${Button} kind="small" onClick=${() => change({ type: name })}>${requestTitle(name)}<//>`)}>
        ${names.data ? `Type a name above, or begin with one of these. There are ${plural(names.data.length, "type")}.` : "Type a name above, or begin with one of these."}<//></div>`
      : names.data && !names.data.includes(query.type) ? html`<${Note} tone="amber" role="status" title="Type ${query.type} does not exist"><p>Choose one from the list.</p><//>`
      : html`<${Work} key=${query.type} name=${query.type} connection=${connection} />`}
  </div>`;
}

function TypePicker({ names, value, pick }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const input = (event) => {
    setText(event.target.value);
    if (names.includes(event.target.value)) pick(event.target.value);
  };
  return html`<${Field} label="Request type">${(control) => html`<input ...${control} list="request-types" class="mono" placeholder="InvoiceAddRq" autocomplete="off" spellcheck=${false} value=${text}
    onInput=${input} onFocus=${(event) => event.target.select()} onKeyDown=${(event) => event.key === "Enter" && text && pick(text.trim())} />
    <datalist id="request-types">${names.map((name) => html`<option value=${name}>${requestTitle(name)}</option>`)}</datalist>`}<//>`;
}

function Work({ name, connection }) {
  const type = useLoad(() => requestType(name), [name]);
  if (type.error) return html`<${Problem} error=${type.error} retry=${type.reload} what="This type could not be loaded." />`;
  if (!type.data) return html`<div class="compose"><${SkeletonCard} lines=${8} /><${SkeletonCard} lines=${8} /></div>`;
  return html`<${Draft} type=${type.data} connection=${connection} />`;
}

function Draft({ type, connection }) {
  const [mode, setMode] = useState("form");
  const [{ tree, version }, setDraft] = useState(() => ({ tree: exampleTree(type), version: "13.0" }));
  const [text, setText] = useState("");
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [webhook, setWebhook] = useState("");
  // Each draft has one key, so pressing the button twice queues the request once.
  const key = useRef(null);
  const outcome = useRef();

  const edited = () => { key.current = null; setProblems(NO_PROBLEMS); setError(null); };
  const changeTree = (next) => { edited(); setDraft({ tree: next, version }); };
  const written = (form, draft) => (form === "xml" ? toXml(pruned(draft.tree), draft.version) : JSON.stringify(toJson(pruned(draft.tree), draft.version), null, 2));
  const read = (form, value) => (form === "xml" ? fromXml(value) : fromJson(value));
  const switchTo = (next) => {
    try {
      const draft = mode === "form" ? { tree, version } : read(mode, text);
      if (next === "form" && draft.tree.name !== type.name) throw new Error(`The form is for ${type.name}; the text holds ${draft.tree.name}. Pick that type above.`);
      setDraft(draft);
      if (next !== "form") setText(written(next, draft));
      setProblems(NO_PROBLEMS);
      setError(null);
      setMode(next);
    } catch (problem) {
      setProblems([{ message: problem.message, line: problem.line, column: problem.column }]);
    }
  };
  const edit = (value) => { setText(value); edited(); };
  const current = useMemo(() => {
    try {
      return mode === "form" ? { tree, version } : read(mode, text);
    } catch {
      return null;
    }
  }, [mode, tree, version, text]);

  const queue = async () => {
    setBusy(true);
    setError(null);
    setProblems(NO_PROBLEMS);
    key.current ??= crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    try {
      const body = mode === "json" ? { request_json: JSON.parse(text) } : { request_xml: mode === "xml" ? text : written("xml", { tree, version }) };
      if (webhook.trim()) body.webhook_url = webhook.trim();
      const { data } = await call("POST", `/connections/${connection}/queued_requests`, { body, headers: { "Idempotency-Key": key.current } });
      toast("The request is queued.");
      navigate(url(`/queued_requests/${data.id}`));
    } catch (problem) {
      const found = problem instanceof SyntaxError ? [{ field: "body", message: `The JSON is broken: ${problem.message}.` }] : (problem.details?.problems ?? []);
      setProblems(found.map((one) => ({ ...one, message: problemText(one) })));
      setError(found.length ? null : problem);
      setBusy(false);
      setTimeout(() => outcome.current?.scrollIntoView({ block: "nearest", behavior: "smooth" }));
    }
  };

  return html`<div class="compose">
    <section class="card" aria-label="Request">
      <header><h2>${requestTitle(type.name)}</h2><div class="row">
        ${mode === "form" && html`<label class="row plain"><span class="muted small">QBXML</span><select class="compact" value=${version} onChange=${(event) => { edited(); setDraft({ tree, version: event.target.value }); }}>${VERSIONS.map((one) => html`<option value=${one} selected=${one === version}>${one}</option>`)}</select></label>`}
        <${Segmented} label="Edit as" value=${mode} onChange=${switchTo} options=${[["form", "Form"], ["xml", "XML"], ["json", "JSON"]]} /></div></header>
      ${mode === "form" ? html`<div class="body stack"><${GroupForm} group=${type.content} tree=${tree} change=${changeTree} />
          <${RequestAttributes} type=${type} tree=${tree} change=${changeTree} /></div>`
        : html`<${Editor} key=${mode} text=${text} language=${mode} label="${mode.toUpperCase()} of the request" problems=${problems} onChange=${edit} />`}
    </section>
    <div class="stack stick">
      <section class="card" aria-label="Queue"><div class="body stack">
        <div ref=${outcome}>
          ${problems.length > 0 && html`<${Note} tone="red" role="alert" title=${plural(problems.length, "problem")}>
            <ul class="stack tight">${problems.map((one) => html`<li>${one.line && mode !== "json" ? html`<span class="tag">line ${one.line}</span> ` : ""}${one.message}</li>`)}</ul><//>`}
          ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}</div>
        <${Field} label="Webhook URL (optional)" help="If it is empty, the webhook URL of the connection is used.">${(control) => html`<input ...${control} value=${webhook} inputmode="url" maxlength="2048" placeholder="https://example.com/webhooks/quickbooks" onInput=${(event) => { setWebhook(event.target.value); key.current = null; }} />`}<//>
        <div class="row between"><a href=${url(`/qbxml/${type.name}`)}>${type.name} in the reference</a>
          ${session.canChange ? html`<${Button} kind="primary" busy=${busy || !connection} onClick=${queue}>Queue request<//>` : html`<span class="muted">A read-only key cannot queue requests.</span>`}</div>
      </div></section>
      <${Preview} current=${current} mode=${mode} connection=${connection} webhook=${webhook.trim()} problems=${mode === "form" ? problems : NO_PROBLEMS} />
    </div></div>`;
}

/** `requestID` and the iterator of a query. */
function RequestAttributes({ type, tree, change }) {
  const set = (name, value) => change({ ...tree, attributes: { ...tree.attributes, [name]: value } });
  return html`<div class="fieldset"><div class="form-line"><label class="name" for="request-label">Label</label>
      <input id="request-label" maxlength="50" value=${tree.attributes?.request_id ?? ""} onInput=${(event) => set("request_id", event.target.value)} />
      <p class="help">Sent as requestID and returned with the response. If it is empty, the ID of the request is used.</p></div>
    ${"iterator" in type.attributes && html`<label class="check"><input type="checkbox" checked=${tree.attributes?.iterator === "Start"} onChange=${(event) => set("iterator", event.target.checked ? "Start" : "")} />Fetch all results in pages (needs MaxReturned)</label>`}
  </div>`;
}

function Preview({ current, mode, connection, webhook, problems }) {
  const [form, setForm] = useState("xml");
  // While one form is edited, the preview shows the other one.
  useEffect(() => { if (mode === form) setForm(mode === "xml" ? "json" : "xml"); }, [mode]);
  const lines = new Set(problems.map(({ line }) => line).filter(Boolean));
  let text = "";
  if (current) {
    const tree = pruned(current.tree);
    const json = toJson(tree, current.version);
    const body = { ...(webhook ? { webhook_url: webhook } : {}), request_json: json };
    const address = `${location.origin}${ROOT}/api/v1/connections/${connection ?? "CONNECTION_ID"}/queued_requests`;
    text = { xml: () => toXml(tree, current.version), json: () => JSON.stringify(json, null, 2), curl: () => curl(address, body), python: () => python(address, body), javascript: () => javascript(address, body) }[form]();
    if (form === "xml" && lines.size) text = text.split("\n").map((line, n) => `${lines.has(n + 1) ? "▶ " : "  "}${line}`).join("\n");
  }
  return html`<section class="card" aria-label="Preview"><header><h2>Preview</h2>
      <${Segmented} label="Show as" value=${form} onChange=${setForm} options=${[["xml", "XML"], ["json", "JSON"], ["curl", "curl"], ["python", "Python"], ["javascript", "JavaScript"]]} /></header>
    <div class="body">${current ? html`<${Code} label="Preview" text=${text} />` : html`<p class="muted">The text cannot be read yet.</p>`}</div></section>`;
}

const curl = (address, body) => `curl -u "$API_KEY:" ${address} \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`;

const python = (address, body) => `import os
import requests

response = requests.post(
    "${address}",
    auth=(os.environ["API_KEY"], ""),
    json=${pythonValue(body, 1)},
    timeout=30,
)
response.raise_for_status()
print(response.json()["data"]["id"])`;

function pythonValue(value, depth) {
  const space = "    ".repeat(depth);
  if (Array.isArray(value)) return value.length ? `[\n${value.map((one) => `${space}    ${pythonValue(one, depth + 1)},\n`).join("")}${space}]` : "[]";
  if (value && typeof value === "object") return `{\n${Object.entries(value).map(([name, one]) => `${space}    ${JSON.stringify(name)}: ${pythonValue(one, depth + 1)},\n`).join("")}${space}}`;
  return JSON.stringify(value);
}

const javascript = (address, body) => `const response = await fetch("${address}", {
  method: "POST",
  headers: {
    Authorization: "Basic " + btoa(process.env.API_KEY + ":"),
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll("\n", "\n  ")}),
});
if (!response.ok) throw new Error(await response.text());
const { data } = await response.json();
console.log(data.id);`;
