// Calls of the REST API by views: paths from checked segments, the credential of the reader, and loads.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { request } from "./http.js";
import { noteLoad, poll } from "./polling.js";
import { withCredential } from "./session.js";

/** @typedef {import("./http.js").Signal} Signal */

/**
 * Calls the API and returns the JSON body, or the text of any other response. `segments` are those of the path below
 * `/api/v1`. Reads are retried. Throws ApiError.
 *
 * @param {string} method
 * @param {string[]} segments
 * @param {import("./http.js").CallOptions} options
 * @returns {Promise<any>}
 */
export const call = (method, segments, options = {}) =>
  withCredential((credential) => request(credential, method, segments, options));

/**
 * Polls while the component is shown. `wait(n)` is the pause before poll `n`; without it there is none.
 *
 * @param {() => unknown} run
 * @param {((n: number) => number) | null} wait
 * @param {unknown[]} dependencies
 */
export function usePolling(run, wait, dependencies) {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => (wait ? poll(() => latest.current(), wait) : undefined), [Boolean(wait), ...dependencies]);
}

/**
 * Loads something for a component, and again about every `refresh` milliseconds (`polling.js` decides when). Returns
 * `{data, error, loading, reload}`. While it reloads, it keeps the old data. The dependencies are the question: once
 * they change, data and errors of the previous question are not returned. With `showsAge` the shell says how old the
 * data are, and can load them again, also if they do not poll.
 *
 * @typedef {{question?: symbol, loading: boolean, data?: any, error?: any, at?: number}} Loading
 * @param {(signal: Signal) => Promise<any>} load
 * @param {unknown[]} dependencies
 * @param {{refresh?: number, showsAge?: boolean}} options
 */
export function useLoad(load, dependencies, { refresh = 0, showsAge = Boolean(refresh) } = {}) {
  const question = useMemo(() => Symbol("question"), dependencies);
  const [state, setState] = useState(/** @type {Loading} */ ({ question, loading: true }));
  const latest = useRef({ load, question });
  latest.current = { load, question };
  const running = useRef(/** @type {AbortController | null} */ (null));
  const reload = useCallback(async (/** @type {{data?: any, isPoll?: boolean}} */ changes = {}) => {
    const { load: run, question: asked } = latest.current;
    if (changes.data) {
      setState({ question: asked, data: changes.data, loading: false, at: Date.now() });
      return;
    }
    running.current?.abort();
    const controller = new AbortController();
    const signal = Object.assign(controller.signal, { isPoll: Boolean(changes.isPoll) });
    running.current = controller;
    setState((former) => {
      if (former.question !== asked) return { question: asked, loading: true };
      return former.loading ? former : { ...former, loading: true };
    });
    try {
      const data = await run(signal);
      if (!signal.aborted) setState({ question: asked, data, loading: false, at: Date.now() });
    } catch (error) {
      if (!signal.aborted) setState(({ data, at }) => ({ question: asked, data, at, error, loading: false }));
    }
  }, []);
  // Start the call before the browser draws the skeleton.
  useLayoutEffect(() => {
    reload();
    return () => running.current?.abort();
  }, dependencies);
  usePolling(() => reload({ isPoll: true }), refresh ? () => refresh : null, [refresh, ...dependencies]);
  const { data, error, loading, at } = state.question === question ? state : /** @type {Loading} */ ({ loading: true });
  // Without data, the component itself shows the error.
  useFreshnessOf(showsAge, { at, error: at && error, reload: refresh ? undefined : reload });
  return { data, error, loading, reload };
}

/** Lets the shell say how old the data of a component are. With `reload`, it can load them again; a poll needs none. */
export function useFreshnessOf(isShown, { at, error, reload }) {
  const [key] = useState(() => Symbol("load"));
  useEffect(() => {
    if (isShown) noteLoad(key, { at, error, reload });
  }, [isShown, at, error, reload]);
  useEffect(() => () => noteLoad(key, null), [isShown]);
}
