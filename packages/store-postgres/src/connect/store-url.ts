import { LedgerError } from "@assent/core";
import { editDistance } from "@assent/core/text";

/** Where a ledger is on PostgreSQL. */
export type StoreUrl = {
  /** For `pg`; may contain a password. */
  readonly connection: string;
  readonly schema: string;
  /** Without password and options, for people. */
  readonly shown: string;
};

const DEFAULT_SCHEMA = "assent";
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,47}$/;
const NO_HOST = "no-host.invalid";

/** Parses a URL of libpq's form; `schema=NAME` chooses the schema. Throws an error that does not contain the URL. */
export function parseStoreUrl(text: string): StoreUrl {
  const url = readUrl(text);
  refuseMisspelling(url.searchParams);
  const [schema = DEFAULT_SCHEMA, ...others] = url.searchParams.getAll("schema");
  if (others.length > 0) throw malformed("it names several schemas");
  if (!SCHEMA_NAME.test(schema))
    throw malformed(
      "its schema must be at most 48 lower-case letters, digits and underscores, and begin with a letter or an underscore, but not with pg_",
    );
  url.searchParams.delete("schema");
  const shown = shownUrl(url, schema);
  verifyServer(url.searchParams);
  return { connection: withoutHost(url.href), schema, shown };
}

const CHOOSING = ["schema", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/** `pg` ignores parameters that it does not know. A misspelled one of these would choose another schema or an unverified server. */
function refuseMisspelling(options: URLSearchParams): void {
  for (const name of options.keys()) {
    const near = CHOOSING.find((known) => editDistance(name.toLowerCase(), known, 2) <= 2);
    if (near !== undefined && !CHOOSING.includes(name)) throw malformed(`it has no parameter '${name}'. Did you mean '${near}'?`);
  }
}

const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/** Modes that promise less than a verified server count as `verify-full`. `pg` does the same, but warns that this will change. */
function verifyServer(options: URLSearchParams): void {
  const mode = options.get("sslmode");
  if (mode === null) return;
  if (!SSL_MODES.includes(mode)) throw malformed("its sslmode must be disable, prefer, require, verify-ca, no-verify or verify-full");
  if (["prefer", "require", "verify-ca"].includes(mode) && !options.has("uselibpqcompat")) options.set("sslmode", "verify-full");
}

function readUrl(text: string): URL {
  if (!/^postgres(?:ql)?:\/\//i.test(text)) throw malformed("it must begin with postgres://");
  try {
    const url = new URL(text.replace(/^(\w+:\/\/[^/?#]*@|\w+:\/\/)(?=[/?#]|$)/, `$1${NO_HOST}`));
    if (url.pathname === "") url.pathname = "/"; // `pg` wants it if there is no host
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part);
    if (url.hash !== "") throw malformed("a # in a user name or password must be written as %23");
    return url;
  } catch (error) {
    throw error instanceof LedgerError
      ? error
      : malformed("it cannot be parsed. Check the port, and write special characters in the password as %XX");
  }
}

function malformed(why: string): LedgerError {
  const text = `The store's PostgreSQL URL is malformed: ${why}${why.endsWith("?") ? "" : "."} Example: postgres://user@host:5432/database?schema=assent`;
  return new LedgerError("store_url_invalid", text);
}

function withoutHost(href: string): string {
  return href.replace(NO_HOST, "");
}

/** A URL that works where the password comes from elsewhere. */
function shownUrl(url: URL, schema: string): string {
  const shown = new URL(url);
  shown.password = "";
  for (const name of ["password", "sslpassword", "sslkey", "sslcert"]) shown.searchParams.delete(name);
  if (schema !== DEFAULT_SCHEMA) shown.searchParams.set("schema", schema);
  return withoutHost(shown.href);
}
