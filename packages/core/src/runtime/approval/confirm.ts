import type { ConfirmationDetails, WiderRules } from "../../model/confirmation.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { hasNoDetails } from "../../tool.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { patternRules } from "../policy/pattern-rules.ts";
import { withTimeLimit } from "../waiting.ts";
import { effectOffer } from "./effect-preview.ts";

const CONFIRM_LIMIT_MS = 30_000;

type ConfirmationInput = { readonly judged: JudgedCall; readonly suggestions: readonly string[] };

/** Builds the details a person sees; if the tool's `confirm` fails, its description with a warning. */
export async function confirmationOf(
  batch: BatchRun,
  run: CallRun,
  { judged, suggestions }: ConfirmationInput,
): Promise<ConfirmationDetails> {
  const { tool, invocation, decision, asking } = judged;
  const { details, warning } = asking?.details ? { details: asking.details, warning: undefined } : await ownDetails(batch, run, judged);
  const base: ConfirmationDetails = details ?? { type: "info", prompt: invocation.describe() };
  const rules = base.type === "plan" ? [] : suggestions;
  const wider = rules.length > 0 ? widerRules(batch, judged) : undefined;
  const effect = await effectOffer(batch, run, judged);
  return {
    ...base,
    title: base.title ?? defaultTitle(base, tool.title),
    ...((decision.explicitAsk || base.type === "plan") && { hideAlwaysAllow: true }),
    ...(rules.length > 0 && { permissionRules: base.permissionRules ?? rules }),
    ...(wider && { wider }),
    ...(effect && { effect }),
    ...(decision.note !== undefined && { note: decision.note }),
    ...(warning !== undefined && { warnings: [...(base.warnings ?? []), warning] }),
  };
}

/** The rules that "always" would store. */
export function offeredRules({ deps }: BatchRun, { decision, request, subject }: JudgedCall): readonly string[] {
  if (decision.explicitAsk) return [];
  return (deps.rules ?? patternRules).offer(subject?.request ?? request);
}

/** Wider rules that "always" may store instead. */
function widerRules({ deps }: BatchRun, { request, subject }: JudgedCall): WiderRules | undefined {
  return deps.rules?.offerWider?.(subject?.request ?? request);
}

type OwnDetails = { readonly details: ConfirmationDetails | undefined; readonly warning: string | undefined };

async function ownDetails({ deps }: BatchRun, run: CallRun, { tool, invocation }: JudgedCall): Promise<OwnDetails> {
  if (hasNoDetails(tool)) return { details: undefined, warning: undefined };
  const unavailable = (why: string): OwnDetails => ({ details: undefined, warning: `preview unavailable: ${why}` });
  try {
    const given = invocation.confirmation(run.abort.signal).then((details): OwnDetails => ({ details, warning: undefined }));
    return await withTimeLimit(deps.clock, { promise: given, ms: CONFIRM_LIMIT_MS, late: () => unavailable("it took longer than 30 s") });
  } catch (error) {
    return unavailable(messageOf(error));
  }
}

function defaultTitle(details: ConfirmationDetails, toolTitle: string): string {
  switch (details.type) {
    case "edit":
      return `Confirm edit: ${details.fileName}`;
    case "exec":
      return "Confirm command";
    case "mcp":
      return `Confirm ${details.toolDisplayName}`;
    case "plan":
      return "Confirm plan";
    case "info":
      return `Confirm ${toolTitle}`;
    default:
      return details satisfies never;
  }
}
