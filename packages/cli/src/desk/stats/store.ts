import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { readWorkspace } from "../../compose/place.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { type PlannedRule, planRule } from "../grants/promote.ts";
import { openPrompt } from "../terminal/prompt.ts";
import { readQuestions } from "./questions.ts";
import { type Rehearsal, rehearseQuestions } from "./rehearse.ts";
import { rehearsalText, startOf } from "./stats.ts";

/** Shows the rehearsal and the change of the file, and writes it after a confirmation. */
export async function storeRule(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const to = options.text("to");
  if (to !== "user" && to !== "project") throw usageError("stats store", "choose whose settings get the rule: --to user or --to project.");
  const rule = operands[0] ?? "";
  const planned = await planRule(context, { rule, scope: "project", workspace: readWorkspace(context) }, to);
  const rehearsal = await rehearse(context, rule);
  const json = options.flag("json");
  if (!json) await io.stdout.write(`${rehearsalText(rehearsal)}\n${planned.diff}`);
  const wanted = planned.isThere || (await isWanted(context, rehearsal));
  const { line } = wanted && !planned.isThere ? await planned.write() : planned;
  const place = oneLine(`${planned.file}:${line}`);
  if (json) await printJson(io, { ...rehearsal, file: planned.file, diff: planned.diff, written: wanted && !planned.isThere });
  else await io.stdout.write(describeEnd(planned, { wanted, place }));
  return wanted ? 0 : 1;
}

function rehearse(context: Context, rule: string): Promise<Rehearsal> {
  return withStoreIfAny(context, async (store) => {
    const record = await rehearseQuestions(context, store, await readQuestions(store.ledger, startOf(context)));
    return record.rehearse(rule);
  });
}

function describeEnd({ isThere, trustNote }: PlannedRule, { wanted, place }: { readonly wanted: boolean; readonly place: string }): string {
  if (isThere) return `The rule is already there: ${place}\n`;
  return wanted ? `Written: ${place}\n${trustNote}` : "Nothing was written.\n";
}

/** Stdin is not read as an answer. */
async function isWanted({ io, options, overrides }: Context, { rejected }: Rehearsal): Promise<boolean> {
  if (options.flag("yes")) return true;
  if (!(io.stdinIsTTY && io.stderr.isTTY)) {
    throw new CommandError("confirmation_required", 2, {
      message: "Storing a rule needs a terminal, or --yes. Nothing was written.",
      hint: "Read the rehearsal above, then add --yes.",
    });
  }
  const { signal } = new AbortController();
  const prompt = openPrompt({ keyboard: io.keyboard, output: io.stderr, clock: overrides.clock ?? createSystemClock(), signal });
  try {
    const warning =
      rejected.length === 0 ? "" : `It also allows ${rejected.length === 1 ? "a call" : `${rejected.length} calls`} that you rejected. `;
    const typed = await prompt.ask(`\n${warning}Store it? Type y and Enter to store it, anything else to decline: `);
    return "line" in typed && typed.line.trim().toLowerCase() === "y";
  } finally {
    prompt.close();
  }
}
