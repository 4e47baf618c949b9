import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/**
 * Who may use the page. A person gets a link with a one-time token from the terminal; the page exchanges it for a cookie, and every other request
 * needs that cookie and a key of the page. The checks, in the order in which they are made:
 *
 * 1. Host: exactly one, and only the address that the server listens on, so that a foreign name that resolves to it (DNS rebinding) is refused.
 * 2. Origin and Sec-Fetch-Site: a request that another site caused is refused, also if the browser would send the cookie.
 * 3. Method and Content-Type: only a POST of JSON changes anything; a form cannot send one.
 * 4. Cookie: everything except the empty shell, its script and style, and the login itself.
 * 5. Key: browsers send cookies to every port of this machine, where other users may have servers. The page keeps its key in storage that only its
 *    own address can read, and sends it in a header. Only the stream, which has no data, works without it: browsers send no headers there.
 */
export type Access = {
  /** The link to open; its token works once. */
  readonly link: () => string;
  /** Why a request is refused; undefined if it is accepted. */
  readonly refuse: (request: AccessRequest) => Refusal | undefined;
  /** The Set-Cookie value and the page's key for a right token, which is then used up. */
  readonly login: (token: unknown) => { readonly cookie: string; readonly key: string } | undefined;
};

export type AccessRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Every Host header of the request, because `headers` has only the first. */
  readonly hosts: readonly string[];
  /** No cookie is needed: it shows and changes nothing. */
  readonly isPublic: boolean;
  /** The cookie is enough, without the key. */
  readonly isStream: boolean;
};

export type Refusal = { readonly status: 401 | 403 | 405 | 415 | 421; readonly type: string; readonly message: string };

const KEY_HEADER = "x-assent-key";

/** Headers of every response. The page runs its own script only, is never framed, and sends no address anywhere. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "trusted-types 'none'",
    "require-trusted-types-for 'script'",
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Creates the access rules of a server. `origins` are the addresses under which people open it; the first one is in the link. */
export function createAccess(origins: readonly [string, ...string[]]): Access {
  const allowed = origins.map((origin) => new URL(origin));
  const cookieName = `assent_${randomBytes(4).toString("hex")}`; // cookies ignore ports, so two inboxes need two names
  const keys = new Map<string, string>(); // by the value of the cookie
  let token = newSecret();

  const refuse = ({ method, headers, hosts: [asked, ...more], isPublic, isStream }: AccessRequest): Refusal | undefined => {
    if (more.length > 0 || !allowed.some(({ host }) => host === asked))
      return { status: 421, type: "foreign_host", message: "This page is served under another address. Use the link from the terminal." };
    const { origin } = headers;
    const site = headers["sec-fetch-site"];
    const isForeign = origin !== undefined && !allowed.some((known) => known.origin === origin);
    if (isForeign || (site !== undefined && site !== "same-origin" && !(site === "none" && method === "GET")))
      if (!(isPublic && method === "GET")) return { status: 403, type: "foreign_origin", message: "Another site made this request." };
    if (method !== "GET" && method !== "POST") return { status: 405, type: "bad_method", message: "Only GET and POST are used here." };
    if (method === "POST" && origin === undefined)
      return { status: 403, type: "foreign_origin", message: "A request that changes something needs an Origin header." };
    if (method === "POST" && headers["content-type"]?.split(";")[0]?.trim() !== "application/json")
      return { status: 415, type: "bad_content_type", message: "Send JSON, with Content-Type: application/json." };
    const known = cookiesNamed(cookieName, headers.cookie).flatMap((value) => keys.get(value) ?? []);
    if (!isPublic && !known.some((key) => isStream || isSame(String(headers[KEY_HEADER]), key)))
      return { status: 401, type: "login_needed", message: "Open the link that 'assent inbox' printed." };
    return undefined;
  };

  return {
    link: () => `${origins[0]}/#t=${token}`,
    refuse,
    login: (given) => {
      if (typeof given !== "string" || !isSame(given, token)) return undefined;
      token = newSecret();
      const session = newSecret();
      const key = newSecret();
      keys.set(session, key);
      return { cookie: `${cookieName}=${session}; HttpOnly; SameSite=Strict; Path=/`, key };
    },
  };
}

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cookiesNamed(name: string, header: string | undefined): readonly string[] {
  return (header ?? "").split(";").flatMap((pair) => {
    const [key = "", value = ""] = pair.trim().split("=", 2);
    return key === name ? [value] : [];
  });
}
