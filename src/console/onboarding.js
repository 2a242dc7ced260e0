// The onboarding page: leads a customer through setting up the Web Connector and says when QuickBooks has answered.
import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, destination, timeSince, TOKEN } from "./lib/onboarding_call.js";
import { productName } from "./lib/onboarding_problems.js";
import { poll, pollSoon } from "./lib/polling.js";
import { Foreign, Note, Skeleton } from "./lib/ui.js";
import { Requester } from "./onboarding_parts.js";
import { Steps } from "./onboarding_steps.js";

/** Six polls a minute leave room in the budget of `polling.js` for people who come back to the page. */
const POLL_MILLISECONDS = 10_000;
/** How often the page polls while QuickBooks is tested, which takes seconds, and for how long. */
const TEST_POLL_MILLISECONDS = 4000;
const SHORT_TEST_MILLISECONDS = 15_000;
const REDIRECT_MILLISECONDS = 4000;

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

const root = document.getElementById("app");
root.replaceChildren();
render(TOKEN ? html`<${Page} />` : html`<${Invalid} error=${{ status: 404 }} />`, root);
