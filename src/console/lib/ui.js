// Components that every view uses.
import { html, useEffect, useState } from "../vendor/preact.js";
import { ago, agoShort, due } from "./ago.js";
import { ApiError } from "./http.js";
import { session } from "./session.js";
import { asOf, fullTime, partsOfSubject, plural, stateOf, WEBHOOK_STATES, withoutControls } from "./text.js";

const PATHS = {
  plug: "M9 2v5M15 2v5M6 7h12v4a6 6 0 0 1-12 0zM12 17v5",
  chart: "M4 20V4M4 20h16M8.5 16v-4M13 16V8M17.5 16v-6",
  bars: "M5 20v-6M12 20V5M19 20v-9",
  pen: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  book: "M5 4h11a3 3 0 0 1 3 3v13H7a2 2 0 0 1-2-2zM5 18a2 2 0 0 1 2-2h12",
  code: "M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.5 1.5M17.5 17.5L19 19M19 5l-1.5 1.5M6.5 17.5L5 19",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  menu: "M4 7h16M4 12h16M4 17h16",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  plus: "M12 5v14M5 12h14",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12l5 5 9-10",
  stamp: "M8 12l3 3 5-6M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  alert: "M12 3l10 18H2zM12 10v5M12 18v.5",
  info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v6M12 7.5v.5",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5",
  refresh: "M20 11a8 8 0 1 0-2 6M20 5v6h-6",
  close: "M6 6l12 12M18 6L6 18",
  chevron: "M9 6l6 6-6 6",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  pause: "M8 5v14M16 5v14",
  play: "M7 4l13 8-13 8z",
  phone: "M6 3h4l2 5-2.5 1.5a11 11 0 0 0 5 5L16 12l5 2v4a2 2 0 0 1-2 2A16 16 0 0 1 4 5a2 2 0 0 1 2-2z",
  history: "M4 4v5h5M4.6 9A8 8 0 1 1 4 13M12 8v5l3 2",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 20a8 8 0 0 1 16 0",
  people:
    "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 19a6.5 6.5 0 0 1 13 0M16 5.3a3.5 3.5 0 0 1 0 6.4M18 14a6.5 6.5 0 0 1 3.5 5",
  key: "M8 11a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11.2 12.3L20 3.5M16 7.5l3 3",
  more: "M8 10l4-4 4 4M8 14l4 4 4-4",
  external: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
};

export const Icon = ({ name }) => html`
  <svg
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d=${PATHS[name]} />
  </svg>
`;

export const Brand = ({ href }) => html`
  <a class="brand" href=${href} aria-label="qbxml-queue">
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#2f5fe0" />
      <path d="M9 10h14M9 16h10M9 22h6" stroke="#fff" stroke-width="3" stroke-linecap="round" />
      <path
        d="M20 20l3 3 4-5"
        fill="none"
        stroke="#9be8c0"
        stroke-width="2.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
    <span>qbxml-queue</span>
  </a>
`;

export function Button({ kind = "", icon, busy, children, ...rest }) {
  return html`
    <button type="button" class="button ${kind}" disabled=${busy} ...${rest}>
      ${icon && html`<${Icon} name=${icon} />`}
      ${children}
    </button>
  `;
}

/** A check box with its text. The input has the other properties. */
export const Check = ({ children, ...rest }) => html`
  <label class="check">
    <input type="checkbox" ...${rest} />
    ${children}
  </label>
`;

export function Badge({ tone, live, children }) {
  return html`<span class="badge ${tone === "grey" ? "" : tone} ${live ? "pulse" : ""}">${children}</span>`;
}

/**
 * What a request is about, behind its title. An ID is not a name, so it is muted. `name` is that of the only object in
 * the response, if there is one. It stands before the only ID of a request that names nothing else.
 */
export function Subject({ subject, name }) {
  const { about, ids } = partsOfSubject(subject);
  const text = about || (ids.length === 1 && name);
  return html`
    ${text && html` <span class="subject"><${Foreign} text=${text} /></span>`}
    ${ids.map((id) => html` <code class="muted small">${id}</code>`)}
  `;
}

export const StateBadge = ({ request }) => {
  const { name, tone, live } = stateOf(request);
  return html`<${Badge} tone=${tone} live=${live}>${name}<//>`;
};

export const WebhookBadge = ({ state }) => {
  const { name, tone } = WEBHOOK_STATES[state] ?? { name: state, tone: "grey" };
  return html`<${Badge} tone=${tone}>${name}<//>`;
};

/** Keeps a date on one line, and a time on one. Not every browser has a lookbehind. */
const unbroken = (words) =>
  words
    .split(", ")
    .map((part) => part.replaceAll(" ", "\u00a0"))
    .join(", ");

/** Shows when a moment is (`ago`), with its exact time on hover, or `passed` if a coming one has passed. */
export function Ago({ at, short, passed }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 20_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return html`<span class="muted">Never</span>`;
  const words = passed ? due(at, passed) : short ? agoShort(at) : ago(at);
  return html`<time datetime=${at} title=${fullTime(at)}>${unbroken(words)}</time>`;
}

/** The time of day of a moment, and of another day the day too. */
export const At = ({ moment }) => html`
  <time class="nowrap" datetime=${moment} title=${fullTime(moment)}>${asOf(moment)}</time>
`;

const MINUTE = 60_000;

/** The end of the minute of a moment: what is expected at 2:02:40 PM may still come after 2:02. */
export const By = ({ moment }) =>
  html`by <${At} moment=${new Date(Math.ceil(Date.parse(moment) / MINUTE) * MINUTE).toISOString()} />`;

/** Says how old the copy is that programs have of the books. */
export const CopyAsOf = ({ at }) => html`Copy as of${" "}<${At} moment=${at} />`;

export function Note({ tone = "", icon, title, children, role }) {
  const picture = icon ?? (tone === "green" ? "check" : tone ? "alert" : "info");
  return html`
    <div class="note ${tone}" role=${role}>
      <${Icon} name=${picture} />
      <div class="text">
        ${title && html`<p class="strong">${title}</p>`}
        ${children}
      </div>
    </div>
  `;
}

/** Says that what a page shows belongs to a test connection. */
export const TestRibbon = () => html`<p class="ribbon">Test connection: a simulated QuickBooks with made-up books</p>`;

/** A text of another program. Its direction does not reach the text around it, and control characters are visible. */
export const Foreign = ({ text }) => html`
  <bdi>
    ${withoutControls(text).map((part) =>
      part.control
        ? html`<span class="control" title="Control character ${part.control}">${part.control}</span>`
        : part.text,
    )}
  </bdi>
`;

/** An error with its explanation, and a retry where it can help. */
export function Problem({ error, retry, what = "This could not be loaded." }) {
  const reference = error.details?.request_id;
  return html`
    <${Note} tone="red" role="alert" title=${what}>
      <p>${explain(error)}</p>
      ${reference && html`<p class="small">Reference for the operator: <code>${reference}</code></p>`}
      ${retry && html`<p><${Button} kind="small" icon="refresh" onClick=${() => retry()}>Try again<//></p>`}
    <//>
  `;
}

/**
 * Returns an error in words.
 *
 * @param {unknown} error
 */
export function explain(error) {
  if (!(error instanceof ApiError)) return "Something in the console went wrong. Reload the page.";
  if (error.status === 0) return `${error.message} Check your network, then try again.`;
  if (error.code === "forbidden" && session.about?.scope === "read_only")
    return "This API key is read-only. Sign in with a full key to change things.";
  if (error.retryAfter > 1) return `${error.message} Try again in ${plural(error.retryAfter, "second")}.`;
  const problems = error.details?.problems;
  if (problems?.length) return problems.map((problem) => problemText(problem)).join(" ");
  return error.message;
}

export function problemText({ field, message, suggestion }) {
  const names = /^(request_xml|request_json|body)$/.test(field) || message.startsWith(field);
  return `${names ? "" : `${field}: `}${message}${suggestion ? ` ${suggestion}` : ""}`;
}

export function Empty({ icon = "inbox", title, children, actions }) {
  return html`
    <div class="empty">
      <${Icon} name=${icon} />
      <h2>${title}</h2>
      <p>${children}</p>
      ${actions && html`<div class="row">${actions}</div>`}
    </div>
  `;
}

export const Skeleton = ({ width = "100%" }) => html`<span class="skeleton" style=${{ width }}></span>`;

export const SkeletonRows = ({ rows = 6, columns = 4 }) =>
  Array.from(
    { length: rows },
    (_, row) => html`
      <tr key=${row} aria-hidden="true">
        ${Array.from(
          { length: columns },
          (__, column) => html`<td><${Skeleton} width=${`${50 + ((row * 7 + column * 13) % 45)}%`} /></td>`,
        )}
      </tr>
    `,
  );

export const SkeletonCard = ({ lines = 5 }) => html`
  <div class="card">
    <div class="body stack" role="status">
      <span class="hidden-visually">Loading…</span>
      ${Array.from({ length: lines }, (_, n) => html`<${Skeleton} width=${`${40 + ((n * 29) % 55)}%`} />`)}
    </div>
  </div>
`;

// --- Temporary messages ------------------------------------------------------------------------------------------

/** @type {(one: {text: string, tone: string, id: number}) => void} */
let showToast = () => {};

/**
 * Shows a message for some seconds.
 *
 * @param {string} text
 */
export function toast(text, tone = "") {
  showToast({ text, tone, id: Math.random() });
}

export function Toasts() {
  const [shown, setShown] = useState(/** @type {{text: string, tone: string, id: number}[]} */ ([]));
  showToast = (one) => {
    setShown((all) => [...all.slice(-2), one]);
    setTimeout(() => setShown((all) => all.filter(({ id }) => id !== one.id)), 6000);
  };
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${shown.map(({ text, tone, id }) => html`<div class="toast ${tone}" key=${id}>${text}</div>`)}
    </div>
  `;
}

// --- Parts of forms and lists ------------------------------------------------------------------------------------

let fields = 0;

/** A labelled control. `children` receives the id for the label and the ids of its description. */
export function Field({ label, help, problem, children }) {
  const [id] = useState(() => `field-${(fields += 1)}`);
  const described = problem ? `${id}-problem` : help ? `${id}-help` : undefined;
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${children({ id, "aria-describedby": described, "aria-invalid": problem ? "true" : undefined })}
      ${
        problem
          ? html`<p class="problem" id="${id}-problem">${problem}</p>`
          : help && html`<p class="help" id="${id}-help">${help}</p>`
      }
    </div>
  `;
}

export function Segmented({ label, options, value, onChange }) {
  return html`
    <div class="segmented" role="group" aria-label=${label}>
      ${options.map(
        ([key, name]) => html`
          <button type="button" aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${name}</button>
        `,
      )}
    </div>
  `;
}

/** The pages of a list. `totalPages` is undefined while the list loads. */
export function Pager({ page, totalPages, go, children }) {
  if ((totalPages ?? page) <= 1 && !children) return null;
  return html`
    <nav class="foot" aria-label="Pages">
      <div class="row">${children}</div>
      <div class="row">
        <span class="num">
          Page ${page}
          ${totalPages === undefined ? "" : ` of ${Math.max(totalPages, 1)}`}
        </span>
        <${Button} kind="small" disabled=${page <= 1} onClick=${() => go(page - 1)}>Previous<//>
        <${Button} kind="small" disabled=${page >= totalPages} onClick=${() => go(page + 1)}>Next<//>
      </div>
    </nav>
  `;
}

export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · qbxml-queue` : "qbxml-queue";
  }, [title]);
}
