// The onboarding page: leads a customer through setting up the Web Connector and says when QuickBooks has answered.
import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { ROOT } from "./lib/router.js";
import { Button, CopyButton, Foreign, Icon, Note, Skeleton } from "./lib/ui.js";
import { ago, fullTime } from "./lib/text.js";
import { blockPolls, poll, pollNow, pollSoon, useFreshness } from "./lib/polling.js";
import { problemText, productName } from "./lib/onboarding_problems.js";
import { AccessGranted, AllowAccess, Authorize, TickAutoRun, TypePassword } from "./onboarding_pictures.js";

const TOKEN = location.hash.slice(1);
/** Six polls a minute leave room in the budget of `polling.js` for people who come back to the page. */
const POLL_MILLISECONDS = 10_000;
/** How often the page polls while QuickBooks is tested, which takes seconds, and for how long. */
const TEST_POLL_MILLISECONDS = 4000;
const SHORT_TEST_MILLISECONDS = 15_000;
const REDIRECT_MILLISECONDS = 4000;
/** After this time without a call, the page asks what Windows shows. */
const PATIENCE_MILLISECONDS = 120_000;
/** A test takes seconds. After this time without a result, QuickBooks probably waits for a person. */
const TEST_MILLISECONDS = 60_000;
const IS_PHONE =
  /Android|iPhone|iPad|iPod|Mobile/.test(navigator.userAgent) ||
  (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

/** How far the service's clock is ahead of this computer's. */
let clockOffset = 0;

async function call(method, path) {
  let response;
  try {
    response = await fetch(`${ROOT}/onboarding/${path}`, {
      method,
      credentials: "omit",
      cache: "no-store",
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
  } catch {
    throw Object.assign(new Error("The service cannot be reached. Check the internet connection."), { status: 0 });
  }
  clockOffset = (Date.parse(response.headers.get("Date")) || Date.now()) - Date.now();
  const body = await response.json().catch(() => ({}));
  blockPolls(Number(response.headers.get("Retry-After")) || 0);
  if (!response.ok)
    throw Object.assign(new Error(body.error?.message ?? "The service is not responding right now."), {
      status: response.status,
      details: body.error?.details,
    });
  return body.data;
}

/** Returns the milliseconds since a time of the service. */
const timeSince = (iso) => Date.now() + clockOffset - Date.parse(iso);

/** Returns where the app wants the customer to go, or null. Only web addresses are followed. */
function destination(redirectUrl, state) {
  if (!redirectUrl) return null;
  const address = new URL(redirectUrl);
  if (!["https:", "http:"].includes(address.protocol)) return null;
  address.searchParams.set("state", state);
  return address.href;
}

function Page() {
  const [progress, setProgress] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => {
    let latest;
    let end;
    const update = async () => {
      try {
        latest = await call("GET", "connection");
        setProgress(latest);
        setError(null);
        if (latest.state === "connected") end?.();
      } catch (problem) {
        setError(problem);
        if ([404, 410].includes(problem.status)) end?.();
      }
    };
    const isBeingTested = () => latest?.state === "testing" && timeSince(latest.called_at) < SHORT_TEST_MILLISECONDS;
    end = poll(update, () => (isBeingTested() ? TEST_POLL_MILLISECONDS : POLL_MILLISECONDS));
    update();
    addEventListener("focus", pollSoon);
    return end;
  }, []);
  if (error?.status === 404 || error?.status === 410) return html`<${Invalid} error=${error} />`;
  if (!progress)
    return error
      ? html`
        <${Note} tone="red" role="alert" title="This page cannot be loaded">
          <p>${error.message} It tries again automatically.</p>
        <//>
      `
      : html`
        <div class="stack" role="status">
          <${Skeleton} width="50%" />
          <${Skeleton} />
          <${Skeleton} width="80%" />
        </div>
      `;
  if (progress.state === "connected") return html`<${Connected} progress=${progress} />`;
  return html`<${Steps} progress=${progress} error=${error} />`;
}

function Invalid({ error }) {
  const expired = error.status === 410;
  const back = expired && destination(error.details?.redirect_url, "expired");
  return html`
    <h1>${expired ? "This link has expired" : "This link is not valid"}</h1>
    <${Note} tone="amber" role="alert">
      <p>
        ${
          expired
            ? "For security a link works for 48 hours."
            : "The link may be incomplete, or a newer one has replaced it."
        }
      </p>
      <p>Ask the person who sent it to you for a new link. You do not lose the steps that you have completed.</p>
    <//>
    ${back && html`<p><a class="button" href=${back}>Go back</a></p>`}
  `;
}

function Connected({ progress }) {
  const next = destination(progress.redirect_url, "connected");
  const product = progress.quickbooks_product_name;
  const heading = useRef();
  useEffect(() => {
    heading.current.focus();
    if (!next) return undefined;
    const timer = setTimeout(() => location.assign(next), REDIRECT_MILLISECONDS);
    return () => clearTimeout(timer);
  }, []);
  return html`
    <h1 tabindex="-1" ref=${heading}>
      Connected to <${Foreign} text=${progress.company_name ?? "QuickBooks"} />
      ${progress.company_name && product ? `, ${productName(product)}` : ""}
    </h1>
    <${Note} tone="green" role="status" title="You are done.">
      <p>QuickBooks has answered with the right company file open.</p>
      <p>Leave the Web Connector running, with Auto-Run ticked.</p>
    <//>
    <${Requester} progress=${progress} />
    ${
      next
        ? html`
          <div class="stack tight">
            <p><a class="button primary" href=${next}>Continue</a></p>
            <p class="muted small">This page continues automatically in a few seconds.</p>
          </div>
        `
        : html`<p class="muted">You can close this page.</p>`
    }
  `;
}

/** Names the app that asks for access, the company file, and the contact of the app. */
function Requester({ progress, full }) {
  const { contact } = progress;
  const [failed, setFailed] = useState(false);
  const who = contact.name ?? "An application";
  if (!full && !contact.name && !contact.logo_url) return null;
  const file = progress.company_name ?? progress.company_file ?? progress.name;
  return html`
    <section class="card requester" aria-label="Request for access">
      ${
        contact.logo_url &&
        !failed &&
        html`
          <img
            src=${contact.logo_url}
            alt=""
            width="48"
            height="48"
            referrerpolicy="no-referrer"
            onError=${() => setFailed(true)}
          />
        `
      }
      <div class="stack tight">
        <p>
          <strong class="break"><${Foreign} text=${who} /></strong>${" "}
          ${
            full
              ? html`
                asks for access to${" "}
                ${
                  file
                    ? html`<span class="break"><${Foreign} text=${file} /></span> in QuickBooks.`
                    : "your company file in QuickBooks."
                }
              `
              : "now has access to this company file."
          }
        </p>
        ${
          full &&
          html`
            <p class="muted small">
              It can then read and change the data of this company file only. You give access in QuickBooks, and can
              revoke it there at any time: Edit → Preferences → Integrated Applications.
            </p>
          `
        }
        <${Contact} contact=${contact} lead="Questions?" />
      </div>
    </section>
  `;
}

/** The ways to reach a person, or nothing. */
const Contact = ({ contact, lead }) =>
  (contact.phone || contact.email) &&
  html`
    <p class="row small">
      ${lead}
      ${contact.phone && html`<a href=${`tel:${contact.phone.replace(/[^0-9+]/g, "")}`}>Phone ${contact.phone}</a>`}
      ${contact.email && html`<a class="break" href=${`mailto:${contact.email}`}>${contact.email}</a>`}
    </p>
  `;

/** On a phone nothing can be set up: offers to send the link to the computer. */
function OnPhone({ progress }) {
  const share = () => navigator.share({ title: document.title, url: location.href }).catch(() => {});
  const subject = `Connect QuickBooks${progress.name ? ` for ${progress.name}` : ""}`;
  const text = `Open this link on the Windows computer where QuickBooks runs:\n\n${location.href}\n`;
  const mail = `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}`;
  return html`
    <section class="card phone" aria-label="Continue on the computer">
      <h2>Continue on the Windows computer</h2>
      <p>
        Set up the connection on the computer where QuickBooks runs. Send this link to that computer and open it
        there.
      </p>
      <p class="row">
        <a class="button primary" href=${mail}>
          <${Icon} name="external" />
          Email the link
        </a>
        ${navigator.share && html`<${Button} onClick=${share}>Share<//>`}
        <${CopyButton} text=${location.href} label="Copy the link" kind="" />
      </p>
      <p class="muted small">
        Anyone who has the link can set up this connection. Send it only to yourself, or to the person who works at
        that computer.
      </p>
    </section>
  `;
}

/** Returns which steps have happened. A step that happened once stays ticked. */
function useHappened(progress) {
  const { current: happened } = useRef({});
  const step = progress.state === "problem" ? problemText(progress).step : 0;
  // The Web Connector calls only after the application was added to it. That needs QuickBooks with an open company
  // file, which grants access.
  if (progress.has_called || progress.state === "wrong_password")
    happened.opened = happened.file = happened.access = true;
  happened.password = happened.start = progress.has_called && progress.state !== "wrong_password";
  return { ...happened, again: progress.state === "wrong_password" ? 4 : step };
}

function Steps({ progress, error }) {
  const [password, setPassword] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const [open, setOpen] = useState(null);
  const [hasMessage, setHasMessage] = useState(false);
  const happened = useHappened(progress);
  /** Returns a handler for a button. A failure is shown in the step of the button. */
  const attempt = (step, action) => async () => {
    setBusy(true);
    setProblem(null);
    try {
      await action();
    } catch (failure) {
      setProblem({ step, message: failure.message });
    }
    setBusy(false);
  };
  const problemOf = (step) =>
    problem?.step === step && html`<${Note} tone="red" role="alert"><p>${problem.message}</p><//>`;
  const download = attempt("file", async () => {
    const { qwc } = await call("GET", "qwc");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([qwc], { type: "application/x-qwc" }));
    link.download = `${(progress.name ?? "QuickBooks").replace(/[^\p{L}\p{N} _-]+/gu, "").trim() || "QuickBooks"}.qwc`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
  const makePassword = attempt("password", async () => setPassword((await call("POST", "password")).password));
  const newPassword = async () => {
    await makePassword();
    show("password");
  };
  const explain = (topic) => {
    setOpen(topic);
    show("help");
  };
  const leave = destination(progress.redirect_url, "cancelled");
  const topic = (name) => ({
    open: open === name,
    toggle: (isOpen) => setOpen(isOpen ? name : open === name ? null : open),
  });
  const step = (n, done) => ({ n, done: done && happened.again !== n, again: happened.again === n });
  return html`
    <div>
      <h1>Connect QuickBooks${progress.name ? html` for <span class="break">${progress.name}</span>` : ""}</h1>
      <p class="muted lead">
        Five steps on the Windows computer where QuickBooks runs. They take about five minutes.
      </p>
    </div>
    <${Requester} progress=${progress} full=${true} />
    ${IS_PHONE && html`<${OnPhone} progress=${progress} />`}
    <${Step} ...${step(1, happened.opened)} id="file" title="Open QuickBooks">
      <p>
        Open${" "}
        ${
          progress.company_file
            ? html`the company file <code class="break">${progress.company_file}</code>`
            : "the right company file"
        }${" "}
        as <strong>Admin</strong>, in single-user mode. Close every dialog.
      </p>
      <p class="muted">
        The QuickBooks Web Connector comes with QuickBooks Desktop. You find it in the Windows start menu under
        QuickBooks, or in QuickBooks under File → App Management → Update Web Services.
      </p>
    <//>
    <${Step} ...${step(2, happened.file)} id="program" title="Download and open the file">
      <p><${Button} kind="primary" icon="download" busy=${busy} onClick=${download}>Download the file<//></p>
      ${problemOf("file")}
      <p>
        Double-click the file to open it. The Web Connector asks whether to authorize a web service. Choose${" "}
        <strong>OK</strong>.
      </p>
      <figure>
        <${Authorize} />
        <figcaption>The dialog of the Web Connector. Every application is shown this way.</figcaption>
      </figure>
    <//>
    <${Step} ...${step(3, happened.access)} id="access" title="Give the application access">
      <p>
        QuickBooks warns that it cannot verify the developer, because the application has no certificate. That is
        usual for applications that connect through the Web Connector.
      </p>
      <ol class="plain">
        <li>
          Choose <strong>Yes, whenever this QuickBooks company file is open</strong>. Choose${" "}
          <strong>Yes, always</strong> only if it should also work while QuickBooks is closed. Then QuickBooks asks
          for a user under <strong>Login as</strong>: choose the user that the application should log in as.
        </li>
        <li>
          Leave <strong>personal data</strong> unticked. It is about Social Security and credit card numbers, which
          the application does not need to connect.
        </li>
        <li>Choose <strong>Continue</strong>, and <strong>Done</strong> in the next dialog.</li>
      </ol>
      <figure>
        <${AllowAccess} />
        <figcaption>The dialog of QuickBooks, and where to click</figcaption>
      </figure>
      <figure>
        <${AccessGranted} />
        <figcaption>The confirmation that follows</figcaption>
      </figure>
    <//>
    <${Step} ...${step(4, happened.password)} id="password" title="Enter the password">
      ${
        password
          ? html`
            <div class="secret">
              <code>${password}</code>
              <${CopyButton} text=${password} />
            </div>
            <p class="muted">It is shown only here. If you lose it, load this page again and get a new one.</p>
          `
          : html`
            <p><${Button} icon="plus" busy=${busy} onClick=${makePassword}>Show the password<//></p>
            ${problemOf("password")}
            <p class="muted">Each new password replaces the one before.</p>
          `
      }
      <p>
        Click the password field of the application in the Web Connector, paste the password and press Enter. When
        it asks whether to save the password, choose <strong>Yes</strong>.
      </p>
      <figure>
        <${TypePassword} />
        <figcaption>The password field in the Web Connector</figcaption>
      </figure>
    <//>
    <${Step} ...${step(5, happened.start)} id="start" title="Choose Update Selected">
      <p>
        Tick the application and its <strong>Auto-Run</strong> box, then choose <strong>Update Selected</strong>.
      </p>
      <p class="muted">
        This page cannot see whether Auto-Run is ticked. Without it, the Web Connector calls only when you choose
        Update Selected.
      </p>
      <figure>
        <${TickAutoRun} />
        <figcaption>With Auto-Run, the Web Connector calls automatically</figcaption>
      </figure>
    <//>
    <${Live}
      progress=${progress}
      error=${error}
      hasPassword=${Boolean(password)}
      newPassword=${newPassword}
      busy=${busy}
      explain=${explain}
      hasMessage=${hasMessage}
      askForMessage=${() => setHasMessage(true)}
    />
    <section class="card" id="help" aria-label="If something goes wrong">
      <header><h2>If something goes wrong</h2></header>
      <${Help} ...${topic("1039")} title="QBWC1039: a unique OwnerID or FileID pair is needed">
        <p>
          The Web Connector already has this application. Select the old entry in the Web Connector and choose${" "}
          <strong>Remove</strong>. Then open the file from step 2 again.
        </p>
        <p>
          If the message comes back, close QuickBooks, open the right company file and open the file from step 2
          once more.
        </p>
      <//>
      <${Help} ...${topic("1048")} title="QBWC1048: the certificate could not be verified">
        <p>
          Open this page in Edge on the same computer. If Edge shows a warning too, check the computer's date and
          time, and run Windows Update.
        </p>
        <p>If a security program inspects encrypted connections, exclude the Web Connector from it.</p>
      <//>
      <${Help} ...${topic("password")} title="QBWC1040, or “Authentication failed”: the password is wrong">
        <p>
          Go back to step 4, show a new password and paste it again. Make sure that you do not paste a space with
          it.
        </p>
      <//>
      <${Help} ...${topic("nothing")} title="The Web Connector shows no message">
        <p>
          Tick the application and its <strong>Auto-Run</strong> box, then choose <strong>Update Selected</strong>.
          If the application is not in the list, open the file from step 2 again.
        </p>
      <//>
      <${Help} ...${topic("other")} title="Another message">
        <p>
          Close the message, open the company file in QuickBooks, and choose <strong>Update Selected</strong> in
          the Web Connector again.
        </p>
        <p>
          If it comes back, write down its number and text, and report both to${" "}
          ${
            progress.contact.name
              ? html`<${Foreign} text=${progress.contact.name} />.`
              : "the person who sent you this link."
          }
        </p>
        <${Contact} contact=${progress.contact} lead="" />
      <//>
    </section>
    <p class="muted small">
      This link works until ${fullTime(progress.expires_at)}.
      ${leave && html` <a href=${leave}>I cannot do this now</a>`}
    </p>
  `;
}

function show(id) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  document.getElementById(id).scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

const Step = ({ n, id, title, done, again, children }) => html`
  <section class="card step ${done ? "done" : again ? "again" : ""}" id=${id} aria-label="Step ${n}: ${title}">
    <span class="dot" aria-hidden="true">${done ? html`<${Icon} name="check" />` : again ? "!" : n}</span>
    <div class="stack">
      <h2>
        ${title}
        ${
          done
            ? html`<span class="hidden-visually"> (done)</span>`
            : again && html`<span class="hidden-visually"> (to do again)</span>`
        }
      </h2>
      ${children}
    </div>
  </section>
`;

const Help = ({ title, open, toggle, children }) => html`
  <details open=${open} onToggle=${(event) => event.target.open !== open && toggle(event.target.open)}>
    <summary>${title}</summary>
    <div>${children}</div>
  </details>
`;

/** The steps of the page where a problem is solved, by the number of the step. */
const PLACES = { 1: ["file", "Go to step 1"], 2: ["program", "Go to step 2"], 3: ["access", "Go to step 3"] };

/**
 * Shows the state of the setup and what to do next. QBWC1039 and QBWC1048 stop the Web Connector before its first call,
 * so the page can only ask for them while nothing calls.
 */
function Live({ progress, error, hasPassword, newPassword, busy, explain, hasMessage, askForMessage }) {
  const [since] = useState(Date.now);
  const { isPaused } = useFreshness();
  const { state, login_failed_at: failedAt, contact } = progress;
  if (isPaused) {
    return html`
      <${LiveNote} tone="amber" title="This page has stopped updating">
        <p>Nobody has used it for 10 minutes. Move the mouse here to continue.</p>
        <p class="row"><${Button} kind="small" icon="refresh" onClick=${() => pollNow()}>Update now<//></p>
      <//>
    `;
  }
  if (error) {
    return html`
      <${LiveNote} tone="amber" title="The service cannot be reached">
        <p>${error.message} This page tries again automatically.</p>
      <//>
    `;
  }
  if (state === "wrong_password") {
    return html`
      <${LiveNote}
        tone="red"
        title=${html`
          The Web Connector called with a wrong password${" "}
          <span aria-live="off">${ago(failedAt, Date.now() + clockOffset)}</span>
        `}
      >
        <p>
          ${
            hasPassword
              ? "Copy the password in step 4, paste it into the Web Connector and choose Update Selected."
              : "Get a new password in step 4 and paste it into the Web Connector."
          }
        </p>
        <p class="row">
          <${Button} kind="small" busy=${busy} onClick=${hasPassword ? () => show("password") : newPassword}>
            ${hasPassword ? "Go to the password" : "Show a new password"}
          <//>
        </p>
      <//>
    `;
  }
  if (state === "paused") {
    return html`
      <${LiveNote} tone="amber" title="The password is right. The test of QuickBooks waits.">
        <p>
          ${contact.name ?? "The application"} has paused this connection. Nothing is wrong on your computer.
          QuickBooks is tested when the pause ends.
        </p>
        <${Contact} contact=${contact} lead="Questions?" />
      <//>
    `;
  }
  if (state === "problem") {
    const { title, step, steps } = problemText(progress);
    const [place, name] = PLACES[step];
    return html`
      <${LiveNote} tone="red" title=${html`<${Foreign} text=${title} />`}>
        <ol class="plain break">
          ${steps.map((text) => html`<li><${Foreign} text=${text} /></li>`)}
        </ol>
        <p class="row">
          ${step !== 1 && html`<${Button} kind="small" onClick=${() => show(place)}>${name}<//>`}
          <${Contact} contact=${contact} lead="Still not working?" />
        </p>
        <details class="said">
          <summary>Message from QuickBooks</summary>
          <p class="small break">
            <${Foreign} text=${[progress.problem.hresult, progress.problem.message].filter(Boolean).join(": ")} />
          </p>
        </details>
      <//>
    `;
  }
  if (state === "testing") {
    const isLate = timeSince(progress.called_at) > TEST_MILLISECONDS;
    return isLate
      ? html`
        <${LiveNote} tone="amber" title="The password is right. QuickBooks has not answered yet.">
          <p>
            Look at QuickBooks: answer or close every dialog, and open the company file. Then choose${" "}
            <strong>Update Selected</strong> in the Web Connector.
          </p>
        <//>
      `
      : html`
        <${LiveNote} title="The password is right. Testing QuickBooks …" live=${true}>
          <p>The service asks QuickBooks which company is open. This takes a few seconds.</p>
        <//>
      `;
  }
  if (hasMessage || Date.now() - since > PATIENCE_MILLISECONDS) {
    return html`
      <${LiveNote} tone="amber" title="The Web Connector has not called yet">
        <p>What does the Web Connector show? This page cannot see its messages.</p>
        <p class="row">
          ${[
            ["1039", "QBWC1039"],
            ["1048", "QBWC1048"],
            ["password", "Authentication failed"],
            ["other", "Another message"],
            ["nothing", "No message"],
          ].map(([topic, name]) => html`<${Button} kind="small" onClick=${() => explain(topic)}>${name}<//>`)}
        </p>
      <//>
    `;
  }
  return html`
    <${LiveNote} title="Waiting for QuickBooks" live=${true}>
      <p>This page updates automatically when the Web Connector calls.</p>
      <p class="row"><${Button} kind="small" onClick=${askForMessage}>The Web Connector shows an error<//></p>
    <//>
  `;
}

const LiveNote = ({ tone = "", title, live, children }) => html`
  <section class="live" aria-label="Status" aria-live="polite">
    <${Note}
      tone=${tone}
      title=${html`
        ${title}
        ${live && html`<span class="beat" aria-hidden="true"></span>`}
      `}
    >
      ${children}
    <//>
  </section>
`;

const root = document.getElementById("app");
root.replaceChildren();
render(TOKEN ? html`<${Page} />` : html`<${Invalid} error=${{ status: 404 }} />`, root);
