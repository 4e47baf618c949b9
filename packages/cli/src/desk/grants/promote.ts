import type { GrantRow } from "@assent/core";
import { unifiedDiff } from "@assent/core/parts";
import { FileLockedError, type PromotedRule, projectSettingsFile, promoteRule, settingsLocations } from "@assent/policy";
import { shellWord } from "../../command-line/shell-word.ts";
import type { Context } from "../../command-line/spec.ts";
import { readWorkspace } from "../../compose/place.ts";
import { openPolicy } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { oneLine, visible } from "../../io/visible-text.ts";
import { findRow } from "../../store/find-row.ts";
import { stateDirectory, storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { type RememberedRule, rememberedRule, settingsValue } from "./remembered-rule.ts";

type Target = "user" | "project";

export async function promoteGrant(context: Context): Promise<number> {
  const { options, operands } = context;
  const to = options.text("to");
  if (to !== "user" && to !== "project")
    throw usageError("grants promote", "choose whose settings get the rule: --to user or --to project.");
  const row = await withStoreIfAny(context, ({ ledger }) => findRow(ledger, "grants", operands[0] ?? ""));
  refuseOthers(row, storeFlag(context));
  return await promote(context, row, to);
}

function refuseOthers({ id, scope, state }: GrantRow, flags: string): void {
  if (state !== "active") {
    throw new CommandError("not_allowed", 1, {
      message: `${id} is ${state.replace("_", " ")}; only an active grant can become a rule.`,
      hint: `assent grants${flags}`,
    });
  }
  if (scope !== "session") return;
  throw new CommandError("not_allowed", 1, {
    message: `${id} applies to one session only; only a project or user grant can become a rule.`,
    hint: "Answer the next such approval with --remember project or --remember user, or write the rule into your settings.",
  });
}

async function promote(context: Context, row: GrantRow, to: Target): Promise<number> {
  const { io, options } = context;
  const workspace = row.scope === "project" && row.workspace !== undefined ? row.workspace : readWorkspace(context);
  const planned = await planRule(context, { rule: row.rule, scope: row.scope, workspace }, to);
  const { rule, file, diff } = planned;
  const [json, dry] = [options.flag("json"), options.flag("dry-run")];
  if (!json) await io.stdout.write(diff);
  const { line } = dry ? planned : await planned.write();
  if (json) await printJson(io, { id: row.id, rule, file, line, diff });
  else await io.stdout.write(report(row, planned, { dry, place: oneLine(`${file}:${line}`), flags: storeFlag(context) }));
  return 0;
}

export type RuleToStore = { readonly rule: string; readonly scope: GrantRow["scope"]; readonly workspace: string };

export type PlannedRule = {
  readonly rule: string;
  readonly file: string;
  readonly line: number;
  readonly diff: string;
  /** The file already has the rule. */
  readonly isThere: boolean;
  /** Empty if the rule takes effect at once. */
  readonly trustNote: string;
  readonly write: () => Promise<PromotedRule>;
};

/** Plans to store an allow rule. Throws if settings may not contain it. */
export async function planRule(context: Context, wanted: RuleToStore, to: Target): Promise<PlannedRule> {
  const { workspace } = wanted;
  const rule = await soundRule(context, wanted, to);
  const file = to === "user" ? settingsLocations(context.io.env).userFile : projectSettingsFile(workspace);
  const parts = hostPortsFor(context, await stateDirectory(context));
  const promotion = { file, list: "allow", rule: settingsValue(rule) } as const;
  const { before, after, line } = await written(file, () => promoteRule({ ...promotion, dryRun: true }, parts));
  const trustNote =
    to === "project"
      ? `The project's settings changed, so the rule takes effect only after you trust the workspace again: assent trust ${shellWord(workspace)}\n`
      : "";
  return {
    rule: rule.rule,
    file,
    line,
    diff: visible(unifiedDiff({ name: file.replace(/^\//, ""), before: before === "" ? null : before, after })),
    isThere: before === after,
    trustNote,
    write: () => written(file, () => promoteRule(promotion, parts)),
  };
}

async function soundRule(context: Context, { rule, scope, workspace }: RuleToStore, to: Target): Promise<RememberedRule> {
  const written = rememberedRule(rule);
  const moved = to === "user" ? atHome(written.rule, scope, workspace) : undefined;
  const allow = moved === undefined ? [written.rule] : [written.rule, moved];
  const { loaded } = await openPolicy(context, { workspace, flags: { allow } });
  const problem = loaded.problems.find(({ file, message }) => file === "--allow" && message.startsWith(`'${written.rule}'`));
  if (problem) {
    const { type, message, hint } = problem;
    throw new CommandError("not_allowed", 1, { message: `This rule cannot be used in a settings file (${type}): ${message}`, hint });
  }
  const recordOf = (text: string): string | undefined => loaded.rules.find(({ at }) => at.source === "--allow" && at.text === text)?.record;
  return moved !== undefined && recordOf(moved) === recordOf(written.rule) ? { ...written, rule: moved } : written;
}

/** `/` means the workspace in a grant, but the home directory in the user's settings. */
function atHome(rule: string, scope: GrantRow["scope"], workspace: string): string | undefined {
  const [, tool, path] = /^([^()]+)\(\s*\/(?!\/)(.*)\)$/s.exec(rule.trim()) ?? [];
  if (tool === undefined || path === undefined) return undefined;
  return scope === "user" ? `${tool}(./${path})` : `${tool}(/${workspace.replaceAll(/[\\*?[]/g, "\\$&")}/${path})`;
}

async function written(file: string, write: () => Promise<PromotedRule>): Promise<PromotedRule> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof FileLockedError) throw new CommandError("settings_locked", 1, { message: error.message });
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new CommandError("settings_unwritable", 1, {
      message: `${file} cannot be written: ${error.message}`,
      hint: "Nothing was changed.",
    });
  }
}

type PromotionReport = { readonly dry: boolean; readonly place: string; readonly flags: string };

function report({ id }: GrantRow, { rule, isThere, trustNote }: PlannedRule, { dry, place, flags }: PromotionReport): string {
  if (isThere) return `${oneLine(rule)} is already there: ${place}\n`;
  if (dry) return "Nothing was written (--dry-run).\n";
  return `Written: ${place}\n${trustNote}The remembered answer stays too; to forget it: assent grants revoke ${id}${flags}\n`;
}
