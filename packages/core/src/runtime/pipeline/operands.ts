import type { Yes } from "../../model/call.ts";
import { GUARD_DENIED } from "../../model/notification-source.ts";
import { modelText } from "../../model/text/model-text.ts";
import { closeApproval } from "../approval/close.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { synthesised } from "./endings.ts";
import { assess, type Ready, rejudge } from "./judge.ts";
import { notify } from "./notify.ts";

type Binds = Readonly<Record<string, string>>;

type Given = { readonly ready: Ready; readonly yes: Yes };

/** A yes of an earlier process was for what was shown then: when what the request is bound to has changed since, the call ends. */
export async function changedSinceYes(batch: BatchRun, run: CallRun, { ready, yes }: Given): Promise<{ readonly end: Ending } | undefined> {
  const shown = run.boundTo;
  run.boundTo = undefined;
  if (shown === undefined || yes.edited) return undefined;
  const file = difference(shown, ready.request.binds);
  return file === undefined ? undefined : await refuse(batch, run, { ready, file });
}

/**
 * Looks once more at what a request is bound to but does not contain (a script's text, where a link leads), directly before the claim.
 * A yes was for what was shown, so a change ends the call; a mere allow is judged again. Undefined: nothing changed.
 */
export async function changedOperand(
  batch: BatchRun,
  run: CallRun,
  { ready, yes }: { readonly ready: Ready; readonly yes: Yes | null },
): Promise<{ readonly end: Ending } | { readonly ready: Ready } | undefined> {
  const { taken, hook } = ready;
  const now = await assess(batch, run, { taken, hook });
  const file = difference(ready.request.binds, now.request.binds);
  if (file === undefined) return undefined;
  return yes ? await refuse(batch, run, { ready, file }) : { ready: await rejudge(batch, run, ready) };
}

/** Whether the request is bound to anything outside itself. */
export function isBound({ request }: Ready): boolean {
  for (const _name in request.binds) return true;
  return false;
}

type Refusing = { readonly ready: Ready; readonly file: string };

async function refuse(batch: BatchRun, run: CallRun, { ready, file }: Refusing): Promise<{ readonly end: Ending }> {
  await closeApproval(batch, run, "denied");
  notify(batch, run, { ready, source: GUARD_DENIED });
  return { end: synthesised("denied", "operand_changed", modelText.operand_changed({ name: ready.request.tool, file })) };
}

function difference(before: Binds, now: Binds): string | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].find((name) => before[name] !== now[name]);
}
