import type { Ledger, Lists } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { CommandError } from "../io/failure.ts";

const SHORTEST = 6;
const LISTED = 10;

const KINDS: Readonly<Record<keyof Lists, { readonly type: string; readonly what: string; readonly hint: string }>> = {
  approvals: { type: "unknown_approval", what: "approval", hint: "assent approvals --all" },
  grants: { type: "grant_not_found", what: "grant", hint: "assent grants --all" },
  proposals: { type: "proposal_not_found", what: "proposal", hint: "assent proposals --all" },
  questions: { type: "unknown_approval", what: "question", hint: "assent approvals" },
  sessions: { type: "session_not_found", what: "session", hint: "assent sessions" },
};

/** Finds a row by its id or a unique prefix. */
export async function findRow<K extends keyof Lists>(ledger: Ledger, kind: K, id: string): Promise<Lists[K]> {
  const { type, what, hint } = KINDS[kind];
  const found = id === "" ? [] : await ledger.pending(kind, { prefix: id, all: true, limit: LISTED + 1 });
  const exact = found.find((row) => row.id === id);
  if (exact) return exact;
  if (found.length === 0 || id.length < SHORTEST) {
    const short = found.length > 0 ? ` Give at least ${SHORTEST} characters.` : "";
    throw new CommandError(type, 4, { message: `There is no ${what} '${id}'.${short}`, hint });
  }
  const [only, other] = found;
  if (only && !other) return only;
  const matches = found.slice(0, LISTED).map((row) => row.id);
  const more = found.length > LISTED ? ", …" : "";
  throw new CommandError("ambiguous_id", 2, {
    message: `'${id}' matches several ${what} ids: ${matches.join(", ")}${more}`,
    hint: "Give more characters.",
  });
}

/** The id of the session that `--session` names. */
export async function findNamedSession({ options }: Pick<Context, "options">, ledger: Ledger): Promise<string | undefined> {
  const given = options.text("session");
  return given === undefined ? undefined : (await findRow(ledger, "sessions", given)).id;
}
