// The API reference at /docs: Swagger UI with this service's own OpenAPI document. A signed-in reader can try calls.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { clientCalls } from "../lib/code_samples.js";
import { Dialog } from "../lib/dialogs.js";
import { basic } from "../lib/http.js";
import { ROOT } from "../lib/router.js";
import { session } from "../lib/session.js";
import { Button, Note, useTitle } from "../lib/ui.js";

const file = (path) => new URL(`../${path}`, import.meta.url).href;

/** Adds an element to the head that loads a file, and waits for it. */
const loaded = (element) =>
  new Promise((resolve, reject) => {
    Object.assign(element, { onload: resolve, onerror: () => reject(new Error("A file could not be loaded.")) });
    document.head.append(element);
  });
const style = (path) => loaded(Object.assign(document.createElement("link"), { rel: "stylesheet", href: file(path) }));
const script = (path) => loaded(Object.assign(document.createElement("script"), { src: file(path) }));

/** Gives Swagger UI the colours that the reader chose, or else the system's, and follows both. */
function followColours() {
  const page = document.documentElement;
  const darkSystem = matchMedia("(prefers-color-scheme: dark)");
  const apply = () =>
    page.classList.toggle("dark-mode", page.dataset.theme ? page.dataset.theme === "dark" : darkSystem.matches);
  apply();
  darkSystem.addEventListener("change", apply);
  const observer = new MutationObserver(apply);
  observer.observe(page, { attributeFilter: ["data-theme"] });
  return () => {
    observer.disconnect();
    darkSystem.removeEventListener("change", apply);
    page.classList.remove("dark-mode");
  };
}

/**
 * What elements of Swagger UI lack: `[selector, attribute, value]`. Its headings begin with the third level, below the
 * first one of the page.
 */
const LACKING = [
  ["h3, h4, h5", "aria-level", ({ tagName }) => String(Number(tagName[1]) - 1)],
  ["tr[data-param-name] select", "aria-label", (one) => one.closest("tr").dataset.paramName],
  [".examples-select-element", "aria-label", () => "Example"],
  [".body-param__text", "aria-label", () => "Request body"],
  ["pre.microlight", "tabindex", () => "0"],
];

/** Gives elements of Swagger UI what screen readers and keyboards need, whenever it draws. */
function mendMarkup(element) {
  const mend = () => {
    for (const [selector, attribute, value] of LACKING)
      for (const one of element.querySelectorAll(`:is(${selector}):not([${attribute}])`))
        one.setAttribute(attribute, value(one));
    // This role hides the table from screen readers.
    for (const table of element.querySelectorAll("table[role=region]")) table.removeAttribute("role");
  };
  const observer = new MutationObserver(mend);
  observer.observe(element, { childList: true, subtree: true });
  return () => observer.disconnect();
}

/** A link inside the button that opens an operation confuses screen readers; the button sets the address anyway. */
const PlainText =
  (_, { React }) =>
  ({ text }) =>
    React.createElement("span", null, text);
const Nothing = () => () => null;

const METHODS = ["get", "post", "put", "patch", "delete"];

/** Adds the calls of the clients to the description of each operation. */
function describeClientCalls({ paths }) {
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of METHODS.flatMap((method) => item[method] ?? [])) {
      const { python, typescript } = clientCalls(path, operation);
      const calls = `Python: \`${python}\`<br>TypeScript: \`${typescript}\``;
      operation.description = `${operation.description ?? ""}\n\n${calls}`;
    }
  }
}

/** Whether an operation queues or changes something: the document has 403 for what not everybody may call. */
const isChange = (operation) => Boolean(operation.responses[403]);

/**
 * Swagger UI fills every field with the example of its parameter, and would send optional parameters that nobody chose.
 */
function withoutOptionalExamples(specification) {
  const operations = Object.values(specification.paths).flatMap((path) =>
    METHODS.flatMap((method) => path[method] ?? []),
  );
  for (const parameter of operations.flatMap((operation) => operation.parameters ?? [])) {
    if (!parameter.required) delete parameter.example;
  }
}

/** Whether a browser may make a call. The service refuses a GET that queues a request. */
const mayCall = (operation, method) => !(method === "get" && isChange(operation));

/** Returns a function that says whether a call surely changes nothing. */
function readsOf({ paths }) {
  const reads = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] && !isChange(item[method])).map((method) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`),
    })),
  );
  return ({ method, url }) =>
    reads.some((read) => read.method === method && read.pattern.test(new URL(url).pathname.slice(ROOT.length)));
}

/** Loads Swagger UI into an element. `confirm` is asked before a call that queues or changes something. */
async function show(element, confirm) {
  await Promise.all([
    style("vendor/swagger-ui.min.css").then(() => style("docs.css")),
    script("vendor/swagger-ui-bundle.min.js"),
  ]);
  const specification = await (await fetch(`${ROOT}/openapi.json`, { credentials: "omit" })).json();
  specification.servers = [{ url: location.origin + ROOT }];
  withoutOptionalExamples(specification);
  describeClientCalls(specification);
  const isSignedIn = Boolean(session.about);
  const isRead = readsOf(specification);
  const mayTry = (path, method) => {
    const operation = specification.paths[path][method];
    return mayCall(operation, method) && (!isSignedIn || !isChange(operation) || session.may("change_something"));
  };
  const signedIn = isSignedIn ? { AuthorizeBtnContainer: Nothing, authorizeOperationBtn: Nothing } : {};
  // The browser neither adds a key that it has stored, nor asks for a user name when the key is wrong.
  const withoutCredentials = (request) => ({ ...request, credentials: "omit" });
  const authorized = async (request) => {
    if (!isRead(request) && !(await confirm(request))) throw new Error("The call was not sent.");
    return {
      ...withoutCredentials(request),
      headers: { ...request.headers, Authorization: basic(await session.credential()) },
    };
  };
  globalThis.SwaggerUIBundle({
    spec: specification,
    domNode: element,
    deepLinking: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    docExpansion: "list",
    // Without this, the document would be sent to a validator on the internet.
    validatorUrl: null,
    persistAuthorization: false,
    showMutatedRequest: !isSignedIn,
    requestInterceptor: isSignedIn ? authorized : withoutCredentials,
    plugins: [
      () => ({
        wrapComponents: { DeepLink: PlainText, ServersContainer: Nothing, ...signedIn },
        statePlugins: {
          spec: { wrapSelectors: { allowTryItOutFor: () => (_, path, method) => mayTry(path, method) } },
        },
      }),
    ],
  });
}

function note() {
  if (!session.about) return "Sign in to try calls without entering your key again.";
  const which = session.person ? "Calls are made in your name." : "Calls use the API key with which you signed in.";
  if (session.may("change_something")) return which;
  const who = session.person ? "Your role" : "It";
  return `${which} ${who} is read-only: you cannot try calls that queue or change something.`;
}

export default function ApiReference() {
  const element = useRef();
  const [failed, setFailed] = useState(false);
  const [asking, setAsking] = useState(null);
  useTitle("API reference");
  useEffect(followColours, []);
  useEffect(() => mendMarkup(element.current), []);
  useEffect(() => {
    show(element.current, (request) => new Promise((resolve) => setAsking({ request, resolve }))).catch(() =>
      setFailed(true),
    );
  }, []);
  const answer = (isSent) => () => {
    asking.resolve(isSent);
    setAsking(null);
  };
  return html`
    <div class="page api-reference">
      <div class="page-head">
        <div>
          <h1>API reference</h1>
          <p class="sub">${note()}</p>
        </div>
        <div class="row">
          <a class="button" href="${ROOT}/openapi.json">OpenAPI 3.1</a>
          <a class="button" href="${ROOT}/openapi-3.0.json">OpenAPI 3.0</a>
        </div>
      </div>
      ${
        failed &&
        html`
          <${Note} tone="red" role="alert" title="The API reference could not be loaded.">
            <p><${Button} kind="small" icon="refresh" onClick=${() => location.reload()}>Reload<//></p>
          <//>
        `
      }
      <div ref=${element}>${!failed && html`<p class="boot" role="status">Loading the API reference…</p>`}</div>
      ${
        asking &&
        html`
          <${Dialog}
            title="Send this call?"
            onClose=${answer(false)}
            actions=${html`
              <${Button} onClick=${answer(false)}>Cancel<//>
              <${Button} kind="primary" onClick=${answer(true)}>Send<//>
            `}
          >
            <p><code class="break">${asking.request.method} ${new URL(asking.request.url).pathname}</code></p>
            <p class="muted">
              It is sent to this service ${session.person ? "in your name" : "with your API key"}. It can change your
              connections, and a request that it queues reaches QuickBooks.
            </p>
          <//>
        `
      }
    </div>
  `;
}
