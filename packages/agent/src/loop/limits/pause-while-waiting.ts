import type { LedgerEvent, Session } from "@assent/core";
import type { RunLimits } from "./run-limits.ts";

/** While an approval or question of this session is open, the run's time stands still. The returned function ends the watching, and the pause with it. */
export function pauseWhileWaiting(limits: RunLimits, session: Session): () => void {
  const open = new Set<string>();
  const wait = (id: string | null | undefined): void => {
    if (id === null || id === undefined) return;
    if (open.size === 0) limits.pauseClock();
    open.add(id);
  };
  const free = (id: string | null | undefined): void => {
    if (id !== null && id !== undefined && open.delete(id) && open.size === 0) limits.goOn();
  };
  const listening = session.listen((event: LedgerEvent) => {
    if (event.type === "approval.opened") wait(event.body.approval);
    else if (event.type === "question.asked") wait(event.body.question);
    else if (event.type === "approval.answered" || event.type === "approval.closed") free(event.body.approval);
    else if (event.type === "question.answered") free(event.body.question);
  });
  return () => {
    listening.close();
    if (open.size > 0) limits.goOn();
    open.clear();
  };
}
