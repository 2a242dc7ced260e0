// The shell: sign-in, navigation, and the view that belongs to the address.
import { Component, html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { Account, NoApp, Place } from "./lib/account.js";
import { useApprovals } from "./lib/approval_count.js";
import { AsOf, StaleNotice } from "./lib/freshness.js";
import { KeyButtons, useGo, useKeyboard } from "./lib/keyboard.js";
import { focusHeading, keepScrollPositions } from "./lib/place.js";
import { places } from "./lib/places.js";
import { followLinks, ID, url, useRoute } from "./lib/router.js";
import { mustStart, session, start } from "./lib/session.js";
import { count } from "./lib/text.js";
import { Brand, Button, Icon, Note, Problem, Toasts } from "./lib/ui.js";
import Connection from "./views/connection.js";
import Connections from "./views/connections.js";
import Request from "./views/request.js";
import SignIn from "./views/sign_in.js";

const isId = (text) => new RegExp(`^${ID}$`).test(text);

/**
 * Addresses and their views. The views that people open first load with this module, the others when they are needed.
 * Views without `open` need a reader who has signed in, and those with `needs` one who may do that. `ids` are the
 * parameters of the address that are ids: a view is not shown with a parameter that has another form.
 */
const VIEWS = [
  { pattern: /^\/sign_in$/, isSignIn: true },
  { pattern: /^\/$/, view: Connections },
  {
    pattern: /^\/connections\/new$/,
    ids: ["connection"],
    needs: "create_connection",
    load: () => import("./views/new_connection.js"),
  },
  { pattern: new RegExp(`^/connections/${ID}$`), view: Connection },
  { pattern: new RegExp(`^/connections/${ID}/(settings)$`), load: () => import("./views/connection_settings.js") },
  { pattern: /^\/approvals$/, ids: ["connection"], load: () => import("./views/approvals.js") },
  { pattern: /^\/search$/, load: () => import("./views/search.js") },
  { pattern: /^\/overview$/, load: () => import("./views/overview.js") },
  { pattern: /^\/usage$/, load: () => import("./views/usage.js") },
  { pattern: /^\/failures$/, load: () => import("./views/failures.js") },
  { pattern: new RegExp(`^/connections/${ID}/overview$`), load: () => import("./views/overview.js") },
  { pattern: new RegExp(`^/connections/${ID}/(audit_log)$`), load: () => import("./views/audit_log.js") },
  { pattern: new RegExp(`^/connections/${ID}/(subscriptions)$`), load: () => import("./views/subscriptions.js") },
  { pattern: new RegExp(`^/connections/${ID}/(sessions)$`), load: () => import("./views/sessions.js") },
  { pattern: /^\/people$/, needs: "manage_people", load: () => import("./views/people.js") },
  { pattern: /^\/api_keys$/, needs: "manage_keys", load: () => import("./views/api_keys.js") },
  { pattern: /^\/contact$/, load: () => import("./views/contact.js") },
  { pattern: /^\/audit_log$/, load: () => import("./views/audit_log.js") },
  { pattern: new RegExp(`^/queued_requests/${ID}$`), view: Request },
  { pattern: /^\/compose$/, ids: ["connection", "from"], load: () => import("./views/compose.js") },
  { pattern: /^\/qbxml(?:\/([A-Za-z0-9]+))?$/, load: () => import("./views/reference.js"), open: true },
  { pattern: /^\/docs$/, load: () => import("./views/api_reference.js"), open: true },
];

/** Returns `{isStarting, reason, error}`, and functions that show who has signed in, and find it out again. */
function useSession() {
  const [state, setState] = useState({ isStarting: mustStart() });
  const begin = () => {
    setState({ isStarting: true });
    // Whoever was signed out meanwhile sees the reason.
    start().then(
      () => setState(({ reason }) => ({ reason })),
      (error) => setState({ error }),
    );
  };
  useEffect(() => {
    const ends = [
      session.onSignOut((reason) => setState({ reason })),
      session.onChange(() => setState((former) => ({ ...former }))),
    ];
    if (state.isStarting) begin();
    return () => ends.forEach((end) => end());
  }, []);
  return [state, () => setState({}), begin];
}

function App() {
  const route = useRoute();
  const [{ isStarting, reason, error }, signedIn, retry] = useSession();
  const isSignedIn = Boolean(session.about);
  const found = VIEWS.find(({ pattern }) => pattern.test(route.path));
  const page = found?.ids?.every((name) => !route.query[name] || isId(route.query[name])) === false ? undefined : found;
  useEffect(() => document.body.classList.toggle("signed-in", isSignedIn), [isSignedIn]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) focusHeading();
    isFirst.current = false;
  }, [route.path, isSignedIn]);
  if (isStarting) return html`<p class="boot" role="status">Loading…</p>`;
  const open = page?.open && !isSignedIn;
  if (!page) return html`<${Shell} path=${route.path} open=${!isSignedIn}><${NotFound} /><//>`;
  if (page.isSignIn || (!isSignedIn && !open && !session.person && !error))
    return html`
      <${SignIn} reason=${reason} problem=${page.isSignIn && route.query.problem} done=${signedIn} />
      <${Toasts} />
    `;
  return html`
    <${Shell} path=${route.path} open=${!isSignedIn && !session.person}>
      <${Boundary} key=${route.path}>
        ${
          error && !open
            ? html`<div class="page"><${Problem} error=${error} retry=${retry} what="Signing in failed." /></div>`
            : !isSignedIn && !open
              ? html`<${NoApp} />`
              : page.needs && !session.may(page.needs)
                ? html`<${Refused} />`
                : html`<${View} page=${page} parts=${route.path.match(page.pattern).slice(1)} query=${route.query} />`
        }
      <//>
    <//>
    <${Toasts} />
  `;
}

/** Shows a view, and loads its module first if necessary. */
function View({ page, ...props }) {
  const [, update] = useState(0);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (!page.view)
      page.load().then(
        (module) => {
          page.view = module.default;
          update((n) => n + 1);
        },
        () => setFailed(true),
      );
  }, [page]);
  if (page.view) return html`<${page.view} ...${props} />`;
  if (failed) {
    return html`
      <div class="page">
        <${Note} tone="red" role="alert" title="This view could not be loaded.">
          <p>The service cannot be reached, or a new version was deployed.</p>
          <p><${Button} kind="small" icon="refresh" onClick=${() => location.reload()}>Reload<//></p>
        <//>
      </div>
    `;
  }
  return html`<div class="progress" role="status" aria-label="Loading"></div>`;
}

/** Keeps the shell usable when a view fails. */
class Boundary extends Component {
  componentDidCatch(error) {
    console.error(error);
    this.setState({ failed: true });
  }

  render() {
    if (!this.state.failed) return this.props.children;
    return html`
      <div class="page">
        <${Note} tone="red" role="alert" title="This view cannot be shown.">
          <p>Something in the console went wrong. Reload the page; if it happens again, tell the operator.</p>
          <p><${Button} kind="small" icon="refresh" onClick=${() => location.reload()}>Reload<//></p>
        <//>
      </div>
    `;
  }
}

const THEMES = { system: "System colours", light: "Light colours", dark: "Dark colours" };

function ThemeButton() {
  const [theme, setTheme] = useState(localStorage.getItem("qbxml-queue.theme") ?? "system");
  const press = () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(theme) + 1) % names.length];
    if (next === "system") {
      localStorage.removeItem("qbxml-queue.theme");
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem("qbxml-queue.theme", next);
      document.documentElement.dataset.theme = next;
    }
    setTheme(next);
  };
  return html`
    <button type="button" onClick=${press}>
      <${Icon} name="sun" />
      ${THEMES[theme]}
    </button>
  `;
}

/** The number of writes that wait for approval. */
function Waiting() {
  const known = useApprovals();
  if (!known?.number) return null;
  return html`
    <span class="nav-count">
      ${count(known.number)}${known.isAll ? "" : "+"}<span class="hidden-visually">${" "}waiting</span>
    </span>
  `;
}

const loadPalette = () => import("./views/palette.js");

function Shell({ path, open, children }) {
  const [menu, setMenu] = useState(false);
  useEffect(() => setMenu(false), [path]);
  const [palette, go] = useGo(!open, loadPalette);
  const [keys, ask] = useKeyboard(Boolean(go));
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <div class="shell">
      <header class="side ${menu ? "open" : ""}">
        <${Brand} href=${url("/")} />
        <${Place} />
        <${Button}
          kind="icon menu-button"
          icon="menu"
          aria-label="Menu"
          aria-expanded=${String(menu)}
          onClick=${() => setMenu(!menu)}
        />
        <nav class="nav" aria-label="Main">
          ${places(!open).map(
            ({ path: own, address, icon, name, holds }) => html`
              <a href=${address} aria-current=${holds(path) ? "page" : undefined}>
                <${Icon} name=${icon} />
                ${name}
                ${own === "/approvals" && html`<${Waiting} />`}
              </a>
            `,
          )}
        </nav>
        <${AsOf} />
        <nav class="nav bottom" aria-label="Session">
          <${KeyButtons} go=${go} ask=${ask} />
          <${ThemeButton} />
          ${open ? html`<a href=${url("/")}><${Icon} name="out" />Sign in</a>` : html`<${Account} />`}
        </nav>
      </header>
      <main class="main" id="content" tabindex="-1">${children}</main>
      <${StaleNotice} />
    </div>
    ${palette} ${keys}
  `;
}

const Refused = () => html`
  <div class="page">
    <div class="card">
      <div class="empty">
        <${Icon} name="info" />
        <h1>You cannot do this</h1>
        <p>${session.refusal}</p>
        <div class="row"><a class="button primary" href=${url("/")}>Go to the connections</a></div>
      </div>
    </div>
  </div>
`;

const NotFound = () => html`
  <div class="page">
    <div class="card">
      <div class="empty">
        <${Icon} name="search" />
        <h1>There is nothing at this address</h1>
        <p>The link may be old or incomplete.</p>
        <div class="row"><a class="button primary" href=${url("/")}>Go to the connections</a></div>
      </div>
    </div>
  </div>
`;

followLinks();
keepScrollPositions();
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
