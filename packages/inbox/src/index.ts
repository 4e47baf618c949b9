export type {
  AnswerResult,
  CancelTarget,
  CardEffect,
  CardFile,
  CardHunk,
  CardLine,
  CardPiece,
  GrantLine,
  InboxAnswer,
  InboxCard,
  InboxDesk,
  RememberOffer,
  SessionLine,
  SessionTimeline,
  TimelineEntry,
  WaitingRow,
} from "./desk.ts";
export { MOST_SESSIONS } from "./desk.ts";
export { type Filter, groupRows, listedRows, moveTo, NO_FILTER, type RowGroup } from "./list.ts";
export { loadPage } from "./page.ts";
export { type InboxOptions, type InboxServer, type PageFiles, serveInbox } from "./server.ts";
