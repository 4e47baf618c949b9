import { type ConversationEvent, pauseWhileWaiting, type RunLimits } from "@assent/agent";
import type { Clock, DecisionNotice, LedgerEvent, Session } from "@assent/core";
import type { SessionObserver } from "../../compose/front-end.ts";
import { loadWholeEvent } from "../../desk/sessions/whole-event.ts";
import type { DeniedApprovals } from "../run/denied-approvals.ts";
import type { UnaskedCall } from "../run/report-to-people.ts";
import type { RunTally } from "../run/tally.ts";
import { wireMessage } from "./message.ts";
import type { RunOutput } from "./output.ts";
import { sessionLines } from "./session-lines.ts";
import { isStreamed } from "./stream-lines.ts";
import { taskProgress } from "./task-lines.ts";
import { toolProgress } from "./tool-progress.ts";
import { unreportedCalls } from "./turn-lines.ts";

export type ObserverParts = {
  readonly root: string;
  readonly output: RunOutput;
  readonly tally: RunTally;
  readonly clock: Clock;
  readonly limits: RunLimits | undefined;
  /** Include partial answers, progress of calls and hook runs. */
  readonly partial: boolean;
  readonly log: (event: LedgerEvent) => void;
  readonly tell: (event: ConversationEvent) => void;
  readonly unasked: (unasked: UnaskedCall) => void;
  readonly unheeded: DeniedApprovals;
};

/** Turns the events of the main session and its agents into messages, in ledger order, and counts them. */
export function observeSessions(parts: ObserverParts): (session: Session, parent: string | null) => Promise<SessionObserver> {
  const { root, output, tally, clock, limits, partial, log, tell, unasked, unheeded } = parts;
  const tasks = taskProgress(clock, (line) => {
    if (!output.isBehind()) output.show(() => [wireMessage({ session: root, parent: null }, line)]);
  });
  return async (session, parent) => {
    const isAgent = session.id !== root;
    tally.attend(session);
    tasks.attend(session);
    if (limits) pauseWhileWaiting(limits, session);
    const origin = { session: root, parent, ...(isAgent && { agentSession: session.id }) };
    const lines = sessionLines({ origin, session, unreported: await unreportedCalls(session) });
    const progress = toolProgress(clock, (line) => {
      if (!output.isBehind()) output.show(() => [wireMessage(origin, line)]); // drop progress for a slow reader
    });
    session.listen((event) => {
      tally.event(event, isAgent);
      tasks.event(event);
      log(event);
      unheeded.note(session, event);
      if (event.type === "call.ended") progress.end(event.body.call);
      if (event.type !== "hook.ran" || partial) output.show(async () => lines.event(await loadWholeEvent(session, event)));
    });
    return {
      decided: (notice: DecisionNotice) => {
        tally.decided(notice);
        if (notice.source === "unattended_deny") unasked({ notice, session, isAgent });
        output.show(() => lines.decided(notice));
      },
      observe: (event) => {
        if (!isAgent) tell(event);
        if (event.type === "warning" || (partial && isStreamed(event))) output.show(() => lines.conversation(event));
        if (partial && event.type === "dispatch" && event.event.type === "output") progress.update(event.event.callId, event.event.display);
      },
    };
  };
}
