import {
  type Content,
  contentText,
  type EventBodies,
  type LedgerEvent,
  messageOf,
  parseEvent,
  readCallRecord,
  type Session,
} from "@assent/core";
import { createRedactor } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { redactionPatterns } from "../../compose/redaction.ts";
import { inputSubject } from "../../desk/approvals/edited-answer.ts";
import { warn } from "../../io/output.ts";
import type { OutputFormat } from "../stream/output.ts";

/** Collects approved calls that were denied anyway, which otherwise would seem to have run. */
export type DeniedApprovals = {
  /** Notes an event; the record is read only when reporting. */
  readonly note: (session: Session, event: LedgerEvent) => void;
  readonly tell: () => Promise<void>;
};

type JudgedInput = Pick<EventBodies["call.judged"], "tool" | "input">;

const SUBJECT_COLUMNS = 60;

/** Reports each such call with its reason, and invalid calls of a script, whose author made a mistake. Other formats report every decision anyway. */
export function createDeniedApprovals({ io, options }: Pick<Context, "io" | "options">, format: OutputFormat): DeniedApprovals {
  const denied: { readonly session: Session; readonly ended: EventBodies["call.ended"] }[] = [];
  const redact = (text: string): string => createRedactor(redactionPatterns({ io }))(text);
  const isScript = options.text("model")?.startsWith("script:") === true;
  return {
    note: (session, { type, body }) => {
      if (format !== "text" || type !== "call.ended") return;
      if (isScript && body.outcome === "invalid")
        void warn(io, redact(`The script's call ${body.call} was not run. ${contentText(body.content)}`));
      if (body.outcome !== "denied") return;
      if (body.type !== "denied_unattended") denied.push({ session, ended: body }); // reported as it happens
    },
    tell: async () => {
      for (const { session, ended } of denied.splice(0)) {
        const warning = await approvedCall(session, ended.call).then(
          (approved) => approved && sentence(approved, ended.content),
          (error: unknown) => `Could not check whether ${ended.call}, which was denied, had been approved: ${messageOf(error)}`,
        );
        if (warning !== undefined) await warn(io, warning);
      }
    },
  };
}

async function approvedCall({ id, ledger }: Session, call: string): Promise<JudgedInput | undefined> {
  let isApproved = false;
  for await (const stored of ledger.read({ pos: 0 }, { naming: id, call, types: ["approval.answered"] })) {
    const event = parseEvent(stored);
    if (event?.type === "approval.answered" && event.body.by.kind !== "grant") isApproved = event.body.outcome === "approved";
  }
  return isApproved ? (await readCallRecord(ledger, id, call))["call.judged"] : undefined;
}

/** The result without the repeated tool name. */
function sentence({ tool, input }: JudgedInput, content: Content): string {
  const subject = inputSubject(input, SUBJECT_COLUMNS);
  const reason = contentText(content).replace(`Tool '${tool}' was not run: `, "").replace(`Tool '${tool}' `, "it ");
  return `${tool}${subject === "" ? "" : ` (${subject})`} was approved but did not run: ${reason}`;
}
