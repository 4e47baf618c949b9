import { LedgerError, type LedgerErrorType, messageOf } from "@assent/core";

/** SQLSTATE of PostgreSQL, or the code of a system call. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

const LOST_SOCKETS: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EAI_AGAIN", "ENOTFOUND"],
  // shutdowns, a starting server, too many connections, a session that was idle in a transaction for too long
  ...["57P01", "57P02", "57P03", "57P05", "53300", "25P03"],
]);

/** Texts of `pg` for a connection that ended, which have no code. */
const LOST_TEXT =
  /^(?:Connection terminated|Client (?:has encountered|was closed)|timeout exceeded|Query read timeout|The server does not)/;

/** The connection or the server is gone, so the same request may succeed later. */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  return LOST_SOCKETS.has(code) || code.startsWith("08") || (code === "" && error instanceof Error && LOST_TEXT.test(error.message));
}

/** Another transaction interfered; repeating the whole transaction is safe. */
export function isConflict(error: unknown): boolean {
  return ["40001", "40P01", "23505"].includes(codeOf(error));
}

/** An error of the server. The hint about directories does not fit it. */
export function serverError(type: LedgerErrorType, message: string): LedgerError {
  return new LedgerError(type, message, { advised: true });
}

/** Names the reason without anything that may contain a password. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  const code = codeOf(error);
  const text = messageOf(error);
  return code === "" || text.includes(code) ? text : `${text} (${code})`;
}

/** Translates errors of PostgreSQL into `LedgerError`s. `shown` names the store without its password. */
export function databaseError(error: unknown, shown: string): unknown {
  if (error instanceof LedgerError) return error;
  if (isLostConnection(error)) return unreachable(error, shown);
  const code = codeOf(error);
  if (code === "" && NO_PASSWORD.test(messageOf(error))) return noPassword(shown);
  if (code === "" && !(error instanceof AggregateError)) return error;
  const reason = reasonOf(error);
  return Object.assign(namedError(code, reason, shown), { cause: reason }); // some errors of `pg` contain the connection's settings
}

/** Texts of `pg` if the server wants a password and none was given. */
const NO_PASSWORD = /^SASL: .*client password must be a (?:non-empty )?string/;

function noPassword(shown: string): LedgerError {
  return serverError("store_unreadable", `The ledger ${shown} wants a password. Give it in PGPASSWORD or ~/.pgpass.`);
}

const NO_CONNECTION_LEFT = "53300";

export function unreachable(error: unknown, shown: string): LedgerError {
  const advice =
    codeOf(error) === NO_CONNECTION_LEFT
      ? "End processes that use it, or raise max_connections of the server"
      : "Start the database or check the URL";
  const text = `The ledger ${shown} cannot be reached: ${reasonOf(error)}. Nothing runs without it. ${advice}, then try again.`;
  return new LedgerError("store_unreachable", text);
}

const WRONG_PASSWORD = "28P01";

/** Codes of OpenSSL for certificates. */
const CERTIFICATE = /CERT|UNABLE_TO_(?:GET|VERIFY)|ERR_TLS/;

export const USE_SESSION_MODE = "Connect directly, or use a pooler in session mode.";

function namedError(code: string, reason: string, shown: string): LedgerError {
  if (code.startsWith("28")) {
    const check = code === WRONG_PASSWORD ? " Check the name, and PGPASSWORD, ~/.pgpass or the URL." : "";
    return serverError("store_unreadable", `The ledger ${shown} refused the login: ${reason}.${check}`);
  }
  if (CERTIFICATE.test(code))
    return serverError(
      "store_unreadable",
      `The certificate of the ledger ${shown} is not trusted: ${reason}. Use the host name of the certificate, and name its authority: sslmode=verify-full&sslrootcert=FILE`,
    );
  switch (code) {
    case "3D000":
      return serverError("store_unreadable", `The ledger ${shown} cannot be opened: ${reason}. Create the database first.`);
    case "42501":
      return new LedgerError("store_role_refused", `The ledger ${shown} refused: ${reason}. Use a role with this right.`);
    case "25006":
      return serverError("store_readonly", `The ledger ${shown} cannot be written: ${reason}. Connect to the primary server.`);
    case "53100":
      return new LedgerError("store_full", `The disk of the ledger ${shown} is full: no further action runs until there is space.`);
    case "26000":
    case "42P01":
    case "42P05":
      return serverError(
        "store_unsafe_location",
        `The ledger ${shown} does not find its tables or statements: ${reason}. Nothing ran. If the tables exist, a pooler may be in between. ${USE_SESSION_MODE}`,
      );
    case "55P03":
      return new LedgerError("store_locked", `Another process has held the ledger ${shown} for too long. Try again.`);
    default:
      return new LedgerError("store_io", `Could not use the ledger ${shown}: ${reason}. Nothing ran.`);
  }
}
