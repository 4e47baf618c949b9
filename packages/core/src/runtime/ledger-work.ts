// One file to load when the first of these is wanted: see on-demand.ts.
export { answerApproval } from "./answer-approval.ts";
export { createDispatcher } from "./dispatcher.ts";
export { answerQuestion, wholeQuestion } from "./questioning-answer.ts";
export { recordedCall } from "./recorded.ts";
export { requestsFrom } from "./requests.ts";
export { openSession, recordedState } from "./session.ts";
export { storedProposal } from "./stored-proposal.ts";
