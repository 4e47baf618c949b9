import {
  type Answer,
  AnswerError,
  type AnswerReport,
  type Approver,
  type By,
  type JsonObject,
  type Ledger,
  type OpenApproval,
} from "@assent/core";
import { agentTask } from "../../desk/sessions/agent-session.ts";
import { untilAborted } from "../../io/cancel-on-signal.ts";
import { canUseTool, readReply } from "./can-use-tool.ts";
import type { HostLink } from "./link.ts";
import type { HostPresence } from "./presence.ts";

export type HostApproverParts = {
  readonly ledger: Ledger;
  readonly link: HostLink;
  readonly presence: HostPresence;
  readonly by: By;
  /** Saves an answer. Rejects with `AnswerError`. */
  readonly answer: (answer: Omit<Answer, "by">) => Promise<AnswerReport>;
  readonly warn: (code: string, message: string) => void;
  /** Switches the session to the mode that came with an answer. */
  readonly changeMode: (mode: string) => Promise<void>;
  /** The request id that the host already knows for this approval. */
  readonly reserved: (approval: string, revision: number) => string | undefined;
};

const MOST_BAD = 3;

/** Sends approvals to the host, several at once. After three unusable answers the host counts as unable to ask. */
export function hostApprover(parts: HostApproverParts): Approver {
  const { presence, link } = parts;
  return {
    available: () => presence.mayAsk("approvals") || link.hasReplies(),
    ask: async (approval, signal) => {
      const canAsk = (await presence.canAsk("approvals", signal)) || link.hasReplies();
      const isPreviewed = canAsk && (await askHost(parts, approval, signal)) === "preview";
      // any other answer of the host is recorded by now, or it gave none
      return isPreviewed ? { approval: approval.id, outcome: "preview", by: parts.by } : undefined;
    },
  };
}

type AskedOfHost = OpenApproval & { readonly agentId: string | null };

async function askHost(parts: HostApproverParts, approval: OpenApproval, signal: AbortSignal): Promise<"preview" | undefined> {
  const { link, reserved, ledger } = parts;
  const asked: AskedOfHost = { ...approval, agentId: await agentTask(ledger, approval.sessionId) };
  let again: JsonObject = {};
  let id = reserved(approval.id, approval.revision);
  for (let bad = 0; bad < MOST_BAD; bad += 1) {
    const replied = await link.request(canUseTool(asked, again), signal, id);
    id = undefined;
    if (!("value" in replied)) return undefined;
    const fault = await takeReply(parts, asked, replied.value);
    if (fault === "preview") return fault;
    if (!fault) {
      await untilAborted(signal); // the waiting call learns of it from the ledger
      return undefined;
    }
    again = fault;
  }
  return undefined;
}

/** Returns undefined once answered, `preview` if the host wants one, else why to ask again. */
async function takeReply(
  { answer, warn, changeMode }: HostApproverParts,
  approval: AskedOfHost,
  reply: unknown,
): Promise<JsonObject | "preview" | undefined> {
  const read = readReply(reply, approval);
  if ("preview" in read) return "preview";
  if ("fault" in read) {
    warn(read.code, `${approval.id}: ${read.fault}`);
    return { answer_error: read.fault };
  }
  for (const update of read.unhonored ?? []) warn("option_not_honored", `${approval.id}: this is not remembered: ${update}`);
  try {
    await answer({ ...read.answer, approval: approval.id, revision: approval.revision });
    if (read.mode !== undefined) await changeMode(read.mode);
    return undefined;
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    if (error.type === "stale_revision") return undefined; // the newer revision is asked separately
    const isEdit = error.type === "invalid_tool_params" || error.type === "not_modifiable";
    warn(error.type, `${approval.id}: ${error.message}`);
    return isEdit ? { edit_error: error.message } : { answer_error: error.message };
  }
}
