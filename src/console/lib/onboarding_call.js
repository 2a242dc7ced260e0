// The calls of the onboarding page, the clock of the service, and where the page leads.
import { blockPolls } from "./polling.js";
import { ROOT } from "./router.js";

export const TOKEN = location.hash.slice(1);

/** How far the service's clock is ahead of this computer's. */
export let clockOffset = 0;

/**
 * @param {string} method
 * @param {string} path
 */
export async function call(method, path) {
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
  clockOffset = (Date.parse(response.headers.get("Date") ?? "") || Date.now()) - Date.now();
  const body = await response.json().catch(() => ({}));
  blockPolls(Number(response.headers.get("Retry-After")) || 0);
  if (!response.ok)
    throw Object.assign(new Error(body.error?.message ?? "The service is not responding right now."), {
      status: response.status,
      details: body.error?.details,
    });
  return body.data;
}

/**
 * Returns the milliseconds since a time of the service.
 *
 * @param {string} iso
 */
export const timeSince = (iso) => Date.now() + clockOffset - Date.parse(iso);

/**
 * Returns where the app wants the customer to go, or null. Only web addresses are followed.
 *
 * @param {string | null | undefined} redirectUrl
 * @param {string} state
 */
export function destination(redirectUrl, state) {
  if (!redirectUrl) return null;
  const address = new URL(redirectUrl);
  if (!["https:", "http:"].includes(address.protocol)) return null;
  address.searchParams.set("state", state);
  return address.href;
}
