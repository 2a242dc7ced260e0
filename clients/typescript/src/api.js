// The routes of the API: `books.api` has a method for each. `schema/api.d.cts` has their types.
import { checkOptions, segment } from "./options.js";
import { ROUTES } from "./schema/routes.js";

/** @import { Route, Service, Tree } from "./internal.js" */

/** Return the methods of all routes. @param {Service} service */
export function routesOf(service) {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(ROUTES).map(([name, route]) => [
        name,
        (/** @type {any[]} */ ...given) => callRoute(service, name, route, given),
      ]),
    ),
  );
}

/** @param {Service} service @param {string} name @param {Route} route @param {any[]} given */
async function callRoute(service, name, route, given) {
  const places = [...route.ids, ...(route.body ? ["body"] : []), "options"];
  if (given.length > places.length) throw new TypeError(`${name} takes ${places.join(", ")}.`);
  /** @type {Tree} */
  const { body, options = {}, ...ids } = Object.fromEntries(places.map((place, index) => [place, given[index]]));
  if (route.body === "required" && body === undefined) throw new TypeError(`${name} needs a body.`);
  const beside = [
    ...(route.path.includes("{connectionId}") ? ["connectionId"] : []),
    ...(route.hasKey ? ["idempotencyKey"] : []),
  ];
  checkOptions(name, options, [...Object.keys(route.parameters), ...beside]);
  ids.connectionId = options.connectionId ?? service.connectionId;
  const answer = await service.send(
    route.method,
    route.path.replaceAll(/\{(\w+)\}/g, (_, one) => segment(ids[one])),
    {
      parameters: parametersOf(route, options),
      body,
      idempotencyKey: route.hasKey ? (options.idempotencyKey ?? service.newKey()) : undefined,
    },
  );
  return route.returnsData ? answer.data : answer;
}

/** Return the parameters of the URL by their names in the API. @param {Route} route @param {Tree} options */
function parametersOf({ parameters, joined }, options) {
  const given = Object.entries(parameters).filter(([name]) => options[name] !== undefined);
  return Object.fromEntries(
    given.map(([name, inApi]) => [inApi, joined.includes(name) ? options[name].join(",") : options[name]]),
  );
}
