import { isObject, type JsonObject, type Ledger, type OpenQuestion, type Questioner, type QuestionerReply } from "@assent/core";
import { answersFault, readAnswers } from "@assent/core/parts";
import { questionFields } from "../../desk/questions/form.ts";
import { agentTask } from "../../desk/sessions/agent-session.ts";
import type { HostLink, HostRequest } from "./link.ts";
import type { HostPresence } from "./presence.ts";

export type HostQuestionerParts = {
  readonly ledger: Ledger;
  readonly link: HostLink;
  readonly presence: HostPresence;
  readonly warn: (code: string, message: string) => void;
};

const MOST_BAD = 3;

/** Sends questions to the host. After three unusable answers the host counts as unable to ask. */
export function hostQuestioner({ ledger, link, presence, warn }: HostQuestionerParts): Questioner {
  return {
    available: () => presence.mayAsk("questions"),
    ask: async (open, signal) => {
      if (!(await presence.canAsk("questions", signal))) return undefined;
      const agent = await agentTask(ledger, open.sessionId);
      let again: JsonObject = open.fault === undefined ? {} : { answer_error: open.fault };
      for (let bad = 0; bad < MOST_BAD; bad += 1) {
        const replied = await link.request(askUser(open, { agent_id: agent, ...again }), signal);
        if (!("value" in replied)) return undefined;
        const read = readAnswered(replied.value, open);
        if (!("fault" in read)) return read;
        warn("bad_answer", `${open.id}: ${read.fault}`);
        again = { answer_error: read.fault };
      }
      return undefined;
    },
  };
}

function askUser(open: OpenQuestion, again: JsonObject): HostRequest {
  const { id, callId, questions, agentName } = open;
  return {
    subtype: "ask_user",
    type: "question",
    id,
    callId,
    questions: questions.map(questionFields),
    ...(agentName !== undefined && { agent_name: agentName }),
    ...again,
  };
}

function readAnswered(reply: unknown, { questions }: OpenQuestion): QuestionerReply | { readonly fault: string } {
  if (!isObject(reply)) return { fault: "The answer is not an object." };
  const { outcome, reason, answers } = reply;
  if (outcome === "cancelled") return { outcome, partial: [], ...(typeof reason === "string" && { reason }) };
  if (outcome !== "answered") return { fault: '\'outcome\' must be "answered" or "cancelled".' };
  const read = readAnswers(answers);
  if ("fault" in read) return read;
  const fault = answersFault(questions, read.answers);
  return fault === undefined ? { outcome, answers: read.answers } : { fault };
}
