import { resolve } from "node:path";
import { canonicalJson, type Json } from "@assent/core";
import { diffRules, type LoadedPolicy, type Rule } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { readWorkspace } from "../../compose/place.ts";
import { openPolicy } from "../../compose/policy.ts";
import { printJson } from "../../io/output.ts";
import { type Style, styleOf } from "../../io/style.ts";
import { textTable } from "../../io/text-table.ts";
import { oneLine } from "../../io/visible-text.ts";
import { rulePlace } from "../explain/decision-text.ts";
import { type RejudgeResult, rejudgeLedger } from "./rejudge-ledger.ts";

export async function diffPolicies(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const [old = "", next = ""] = operands.map((file) => resolve(io.cwd, file));
  const workspace = readWorkspace(context);
  const differences = between(await load(context, workspace, old), await load(context, workspace, next));
  const rejudged = options.flag("ledger") ? await rejudgeLedger(context, { old, new: next }) : undefined;
  if (options.flag("json")) await printJson(io, { ...formOf(differences), ...rejudged });
  else await io.stdout.write(text(differences, rejudged, { style: styleOf(io.stdout, io.env), columns: io.stdout.columns() }));
  return 0;
}

async function load(context: Context, workspace: string, policyFile: string): Promise<LoadedPolicy> {
  return (await openPolicy(context, { workspace, policyFile })).loaded;
}

type ListedRule = { readonly list: string; readonly rule: Rule };

type Differences = {
  readonly added: readonly ListedRule[];
  readonly removed: readonly ListedRule[];
  readonly changed: readonly { readonly from: ListedRule; readonly to: ListedRule }[];
  readonly settings: readonly { readonly key: string; readonly old: Json; readonly new: Json }[];
};

function between(old: LoadedPolicy, next: LoadedPolicy): Differences {
  const rules = diffRules(old, next);
  const stage = diffRules({ rules: old.stage }, { rules: next.stage });
  const listed = (rule: Rule): ListedRule => ({ list: rule.verdict, rule });
  const staged = (rule: Rule): ListedRule => ({ list: "stage", rule });
  return {
    added: [...rules.added.map(listed), ...stage.added.map(staged)],
    removed: [...rules.removed.map(listed), ...stage.removed.map(staged)],
    changed: rules.changed.map(({ from, to }) => ({ from: listed(from), to: listed(to) })),
    settings: differingValues(old, next),
  };
}

function differingValues(old: LoadedPolicy, next: LoadedPolicy): Differences["settings"] {
  const after = new Map<string, unknown>(Object.entries(next.settings));
  return Object.entries(old.settings).flatMap(([key, value]) => {
    const pair = { old: plain(value), new: plain(after.get(key)) };
    return canonicalJson(pair.old) === canonicalJson(pair.new) ? [] : [{ key, ...pair }];
  });
}

function plain(value: unknown): Json {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

function formOf({ added, removed, changed, settings }: Differences): object {
  return {
    rules: {
      added: added.map(ruleForm),
      removed: removed.map(ruleForm),
      changed: changed.map(({ from, to }) => ({ old: ruleForm(from), new: ruleForm(to) })),
    },
    settings,
  };
}

function ruleForm({ list, rule: { at } }: ListedRule): object {
  const { text, file, line, column, because } = at;
  return { list, text, file, line, column, ...(because !== undefined && { because }) };
}

type RulesDiffLayout = { readonly style: Style; readonly columns: number | undefined };

function text({ added, removed, changed, settings }: Differences, rejudged: RejudgeResult | undefined, look: RulesDiffLayout): string {
  const { red, green, yellow } = look.style;
  const lines = [
    ...removed.map((rule) => red(`- ${ruleText(rule)}`)),
    ...added.map((rule) => green(`+ ${ruleText(rule)}`)),
    ...changed.map(({ from, to }) => yellow(`~ ${ruleText(to)}, was ${from.list}`)),
    ...settings.map(({ key, old, new: next }) => yellow(`~ ${key}: ${shown(old)} is now ${shown(next)}`)),
  ];
  const rules = lines.length === 0 ? "The rules and settings are the same.\n" : `${lines.join("\n")}\n`;
  return rejudged ? `${rules}\n${callsText(rejudged, look.columns)}` : rules;
}

function ruleText({ list, rule: { at } }: ListedRule): string {
  return oneLine(`${list.padEnd(5)}  ${at.text}  (${rulePlace(at)})`);
}

function shown(value: Json): string {
  return value === null ? "not set" : oneLine(JSON.stringify(value));
}

function callsText({ calls, judged, unjudged }: RejudgeResult, columns: number | undefined): string {
  const rows = calls.map(({ session, call, tool, old, new: next, subject }) => [session, call, tool, old, next, subject]);
  const table = textTable(["session", "call", "tool", "old", "new", { shrinks: "subject" }], rows, columns);
  const said = `${calls.length} of ${judged} recorded calls would be decided differently, by the files as they are now.`;
  const left =
    unjudged === 0 ? "" : ` ${unjudged} more could not be judged again: their tool or workspace is gone, or their input no longer fits.`;
  return `${calls.length === 0 ? "" : table}${said}${left}\n`;
}
