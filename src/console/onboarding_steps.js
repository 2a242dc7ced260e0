// The steps of the onboarding page.
import { html, useRef, useState } from "./vendor/preact.js";
import { CopyButton } from "./lib/copying.js";
import { INSTALL, MOVE, RemoveFromOld } from "./lib/new_computer.js";
import { call, destination } from "./lib/onboarding_call.js";
import { problemText } from "./lib/onboarding_problems.js";
import { fullTime } from "./lib/text.js";
import { Button, Foreign, Icon, Note } from "./lib/ui.js";
import { Live, show } from "./onboarding_live.js";
import { Contact, IS_PHONE, OnPhone, Requester } from "./onboarding_parts.js";
import { AccessGranted, AllowAccess, Authorize, TickAutoRun, TypePassword } from "./onboarding_pictures.js";

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

export function Steps({ progress, error }) {
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
        <strong>OK</strong>. The application is called <strong class="break">${progress.application}</strong>.
      </p>
      <figure>
        <${Authorize} name=${progress.application} />
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
        <${AccessGranted} name=${progress.application} />
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
        <${TypePassword} name=${progress.application} />
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
        <${TickAutoRun} name=${progress.application} />
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
      <${Help} ...${topic("move")} title=${MOVE}>
        <p>${INSTALL} <${RemoveFromOld} /> Then follow the steps above on the new one.</p>
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
