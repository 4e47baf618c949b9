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
  try {
    return await promote(context, row, to);
  } catch (error) {
    if (error instanceof FileLockedError) throw new CommandError("settings_locked", 1, { message: error.message });
    throw error;
  }
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
  const rule = await soundRule(context, row, to, workspace);
  const file = to === "user" ? settingsLocations(io.env).userFile : projectSettingsFile(workspace);
  const parts = hostPortsFor(context, await stateDirectory(context));
  const promotion = { file, list: "allow", rule: settingsValue(rule) } as const;
  const planned = await promoteRule({ ...promotion, dryRun: true }, parts);
  const json = options.flag("json");
  if (!json) await io.stdout.write(visible(diffOf(planned)));
  const dry = options.flag("dry-run");
  const done = dry ? planned : await written(file, () => promoteRule(promotion, parts));
  if (json) await printJson(io, { id: row.id, rule: rule.rule, file, line: done.line, diff: diffOf(done) });
  else await io.stdout.write(report(row, { rule: rule.rule, to, done, dry, workspace, flags: storeFlag(context) }));
  return 0;
}

/** Throws if settings may not contain the rule. */
async function soundRule(context: Context, row: GrantRow, to: Target, workspace: string): Promise<RememberedRule> {
  const written = rememberedRule(row.rule);
  const moved = to === "user" ? atHome(written.rule, row.scope, workspace) : undefined;
  const allow = moved === undefined ? [written.rule] : [written.rule, moved];
  const { loaded } = await openPolicy(context, { workspace, flags: { allow, ask: [], deny: [] } });
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
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new CommandError("settings_unwritable", 1, {
      message: `${file} cannot be written: ${error.message}`,
      hint: "Nothing was changed.",
    });
  }
}

function diffOf({ file, before, after }: PromotedRule): string {
  return unifiedDiff({ name: file.replace(/^\//, ""), before: before === "" ? null : before, after });
}

type PromotionReport = {
  readonly rule: string;
  readonly to: Target;
  readonly done: PromotedRule;
  readonly dry: boolean;
  readonly workspace: string;
  readonly flags: string;
};

function report({ id }: GrantRow, { rule, to, done, dry, workspace, flags }: PromotionReport): string {
  const place = oneLine(`${done.file}:${done.line}`);
  if (done.before === done.after) return `${oneLine(rule)} is already there: ${place}\n`;
  if (dry) return "Nothing was written (--dry-run).\n";
  const trust =
    to === "project"
      ? `The project's settings changed, so the rule takes effect only after you trust the workspace again: assent trust ${shellWord(workspace)}\n`
      : "";
  return `Written: ${place}\n${trust}The remembered answer stays too; to forget it: assent grants revoke ${id}${flags}\n`;
}
