// One file to load when the first of these is wanted: see on-demand.ts.
export { answerApproval } from "./approval/answer.ts";
export { requestsFrom } from "./approval/requests.ts";
export { createDispatcher } from "./dispatcher.ts";
export { storedProposal } from "./proposal/stored.ts";
export { answerQuestion, wholeQuestion } from "./question/answer.ts";
export { recordedCall } from "./session/recorded.ts";
export { openSession, recordedState } from "./session/session.ts";
