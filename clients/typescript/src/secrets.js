/** The webhook secret of an app. Its key has at least 24 bytes, as Standard Webhooks demands. */
export const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
