import type { Approver, Clock, OpenApproval, Questioner, Session } from "@assent/core";
import type { FrontEnd } from "../../compose/front-end.ts";
import type { ConfinedOffer } from "../../desk/approvals/confined-offer.ts";
import { type ApprovalEditor, approvalEditor } from "../../desk/approvals/editor.ts";
import { reviewApproval } from "../../desk/proposals/review.ts";
import type { Io } from "../../io/io.ts";
import { oneLine } from "../../io/visible-text.ts";
import { askQuestioner } from "../ask/questioner.ts";
import { cardApprover } from "../cards/approver.ts";
import { discardAfterNo } from "../cards/discard-after-no.ts";
import { attendProposals } from "../cards/proposal-cards.ts";
import type { DoorParts } from "../conversation/app.ts";
import type { TerminalScreen } from "./open-screen.ts";

export type ScreenDoorParts = {
  readonly screen: TerminalScreen;
  readonly clock: Clock;
  readonly env: Io["env"];
  readonly approvalTimeoutMs: number | undefined;
  readonly confinedOffer: ConfinedOffer;
};

/** The front end of a screen: approvals and questions become cards. */
export function screenDoor({ screen, clock, env, approvalTimeoutMs, confinedOffer }: ScreenDoorParts): (parts: DoorParts) => FrontEnd {
  return ({ by, settings, revising, leaving, attend, settle }) => {
    const own = approvalEditor({ environment: env, setting: () => settings()?.editor, revising });
    const edit: ApprovalEditor = {
      ...own,
      open: (editing, signal) => screen.aside(() => own.open(editing, signal), EDITOR_OPEN),
      openText: (texts, signal) => screen.aside(() => own.openText(texts, signal), EDITOR_OPEN),
    };
    const notify = (): void => {
      if (settings()?.["notify.terminal"] !== "off") screen.ring(terminalNotification("Waiting for input"));
    };
    const sessions = new Map<string, Session>();
    const placeOf = ({ sessionId, callId }: OpenApproval): number | undefined => callPlaceIn(sessions.get(sessionId), callId);
    const after = discardAfterNo((id) => sessions.get(id), settle);
    const review = (approval: OpenApproval): ReturnType<typeof reviewApproval> =>
      reviewApproval(sessions.get(approval.sessionId), approval);
    const cards = cardApprover({ stack: screen.stack, by, edit, placeOf, discardAfterNo: after, review, confinedOffer });
    const questions = askQuestioner({ stack: screen.stack, clock, by, notify });
    const approver: Approver = {
      available: cards.available,
      ask: (approval, signal) => {
        notify();
        return cards.ask(approval, AbortSignal.any([signal, leaving]));
      },
    };
    const questioner: Questioner = {
      available: questions.available,
      ask: (open, signal, partial) => questions.ask(open, AbortSignal.any([signal, leaving]), partial),
    };
    const attended: FrontEnd["attend"] = (session) => {
      sessions.set(session.id, session);
      attendProposals({ stack: screen.stack, settle, leaving, edit }, session);
      session.listen(({ type }) => type === "session.closed" && sessions.delete(session.id));
      return attend(session);
    };
    return { approver, questioner, asks: () => true, approvalTimeoutMs: () => approvalTimeoutMs, attend: attended };
  };
}

const EDITOR_OPEN = "Your editor is open …";

/** Calls are recorded in the order of the model. */
function callPlaceIn(session: Session | undefined, callId: string): number | undefined {
  const place = [...(session?.state.calls.keys() ?? [])].indexOf(callId);
  return place === -1 ? undefined : place;
}

/** A bell and two notification sequences; terminals ignore those they do not know. */
function terminalNotification(text: string): string {
  const shown = oneLine(text).replaceAll(";", ",");
  return `\u0007\u001b]9;${shown}\u0007\u001b]777;notify;Assent;${shown}\u0007`;
}
