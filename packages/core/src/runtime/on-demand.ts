import type { Ledger, QuestionRow } from "../ledger-port.ts";
import type { Answer } from "../model/answer.ts";
import type { SessionState } from "../model/fold.ts";
import type { ProposalRow } from "../model/proposal/proposal.ts";
import type { AnswerPorts, AnswerReport, Requests } from "./approval/answer.ts";
import type { RequestPorts } from "./approval/requests.ts";
import type { DispatcherDeps } from "./dispatch.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { StoredProposal } from "./proposal/stored.ts";
import type { QuestionPorts, QuestionReply, QuestionReport } from "./question/answer.ts";
import type { RecordedCall } from "./session/recorded.ts";
import type { Session, SessionOptions, SessionPorts } from "./session/session.ts";

type Work = typeof import("./ledger-work.ts");

/** What runs calls and works on a record is half of this package. It comes with the first session, answer or look: whoever only imports does not wait for it. */
let work: Work | undefined;

async function load(): Promise<Work> {
  work ??= await import("./ledger-work.ts");
  return work;
}

/** Creates a session, or opens an existing one for writing. `session_not_found`, `session_in_use` and `session_busy` are `LedgerError`s. */
export async function openSession(ports: SessionPorts, options: SessionOptions): Promise<Session> {
  return (await load()).openSession(ports, options);
}

/** How a session stands on record: the newest usable snapshot and what came after it, both chains in the order of the store. */
export async function recordedState(ledger: Ledger, id: string): Promise<SessionState> {
  return (await load()).recordedState(ledger, id);
}

/** A dispatcher for one opened session. Throws where this copy of the package has opened none. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  if (!work) throw new Error("A dispatcher needs a session: open one with openSession of the same copy of @assent/core.");
  return work.createDispatcher(deps);
}

/** Commits one answer, with the grants it asks for. Resolves after the commit; what stood already wins and is reported. */
export async function answerApproval(ports: AnswerPorts, answer: Answer): Promise<AnswerReport> {
  return (await load()).answerApproval(ports, answer);
}

/** Reads requests back from the ledger, and makes what an edit would run. */
export function requestsFrom(ports: RequestPorts): Requests {
  const requests = async (): Promise<Requests> => (await load()).requestsFrom(ports);
  return {
    load: async (row) => (await requests()).load(row),
    edit: async (row, answer) => (await requests()).edit(row, answer),
  };
}

/** Commits one reply to a question. Resolves after the commit; what stood already wins and is reported. Rejects with `AnswerError`. */
export async function answerQuestion(ports: QuestionPorts, reply: QuestionReply): Promise<QuestionReport> {
  return (await load()).answerQuestion(ports, reply);
}

/** The row with its large values in place. */
export async function wholeQuestion(ledger: Ledger, row: QuestionRow): Promise<QuestionRow> {
  return (await load()).wholeQuestion(ledger, row);
}

/** Reads one call back, large values included. */
export async function recordedCall(ledger: Ledger, session: string, call: string): Promise<RecordedCall> {
  return (await load()).recordedCall(ledger, session, call);
}

/** Reads a proposal's input and manifest back from the ledger. */
export async function storedProposal(at: Pick<Session, "ledger">, row: ProposalRow): Promise<StoredProposal> {
  return (await load()).storedProposal(at, row);
}
