import type { Consent } from "../../model/call.ts";
import { GUARD_DENIED } from "../../model/notification-source.ts";
import { modelText } from "../../model/text/model-text.ts";
import { closeApproval } from "../approval/close.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { errorEnding } from "./endings.ts";
import { assessCall, rejudgeCall } from "./judge.ts";
import type { JudgedAgain, JudgedCall, PermittedCall } from "./judged-call.ts";
import { notifyVerdict } from "./notify.ts";

type Binds = Readonly<Record<string, string>>;

/** Ends a call that an earlier process showed to a person, if what the request is bound to has changed since. */
export async function changedSinceConsent(
  batch: BatchRun,
  run: CallRun,
  judged: JudgedCall,
  consent: Consent,
): Promise<{ readonly end: Ending } | undefined> {
  const shown = run.boundTo;
  run.boundTo = undefined;
  if (shown === undefined || consent.edited) return undefined;
  const file = difference(shown, judged.request.binds);
  return file === undefined ? undefined : await refuse(batch, run, judged, file);
}

/**
 * Re-checks just before the claim what the request is bound to but does not contain, such as a script's text or a link's target.
 * A change ends an approved call; an allowed call is judged again. Undefined if nothing changed.
 */
export async function changedOperand(
  batch: BatchRun,
  run: CallRun,
  permitted: PermittedCall,
): Promise<{ readonly end: Ending } | JudgedAgain | undefined> {
  const now = await assessCall(batch, run, permitted);
  const file = difference(permitted.request.binds, now.request.binds);
  if (file === undefined) return undefined;
  return permitted.consent ? await refuse(batch, run, permitted, file) : { again: await rejudgeCall(batch, run, permitted) };
}

/** Whether the request is bound to anything outside itself. */
export function isBound({ request }: JudgedCall): boolean {
  return Object.keys(request.binds).length > 0;
}

async function refuse(batch: BatchRun, run: CallRun, judged: JudgedCall, file: string): Promise<{ readonly end: Ending }> {
  await closeApproval(batch, run, "denied");
  notifyVerdict(batch, run, { judged, source: GUARD_DENIED });
  return { end: errorEnding("denied", "operand_changed", modelText.operand_changed({ name: judged.request.tool, file })) };
}

function difference(before: Binds, now: Binds): string | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].find((name) => before[name] !== now[name]);
}
