export type {
  AnswerResult,
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
  TimelineEntry,
  WaitingRow,
} from "./desk.ts";
export { loadPage } from "./page.ts";
export { type InboxOptions, type InboxServer, type PageFiles, serveInbox } from "./server.ts";
