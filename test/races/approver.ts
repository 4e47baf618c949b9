import { fileURLToPath } from "node:url";
import type { AnswerReport } from "@assent/core";
import { answerAs, openLibrary } from "../crash/library.ts";
import { CODE_FLAGS } from "../support/code-flags.ts";

/** Arguments for Node that run a person who answers what they are sent; the one argument is their name. */
export const APPROVER: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

/** What an approver is sent, and what it says when the answer stands, or why it cannot. */
export type Ask = { readonly approval: string; readonly outcome: "approve" | "reject" };
export type Said = AnswerReport | { readonly error: string };

if (import.meta.main) {
  const { ASSENT_STORE: store = "", ASSENT_TEST_WORLD: world = "" } = process.env;
  const library = await openLibrary({ store, world });
  const say = (said: Said | "ready"): void => void process.send?.(said);
  process.on("message", (ask: Ask) => {
    answerAs(process.argv[2] ?? "", library, ask).then(say, (error: unknown) => say({ error: String(error) }));
  });
  process.on("disconnect", () => void library.ledger.close().then(() => process.exit(0)));
  say("ready");
}
