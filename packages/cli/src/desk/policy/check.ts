import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject } from "@assent/core";
import {
  type LoadedPolicy,
  projectSettingsFile,
  readTrustState,
  refersToWorkspace,
  SettingsError,
  type SettingsProblem,
  settingsLocations,
  sortProblems,
  UNTRUSTED_HOOK_REASON,
} from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { type RecordedServer, readSeenTools } from "../../compose/mcp/seen-tools.ts";
import { readWorkspace } from "../../compose/place.ts";
import { openPolicy, type PolicyOptions } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { asFailure } from "../../io/failure.ts";
import { printJson, warn } from "../../io/output.ts";
import { counted, oneLine } from "../../io/visible-text.ts";
import { stateDirectory } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { rulePlace } from "../explain/decision-text.ts";
import { findIdleRules, type KnownServer } from "./idle-rules.ts";
import { problemForm, problemLines } from "./problem-text.ts";

type CheckedFile = { readonly problems: readonly SettingsProblem[]; readonly loaded?: LoadedPolicy };

export async function checkPolicy(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const workspace = readWorkspace(context);
  const named = operands.map((file) => resolve(io.cwd, file));
  const checked: CheckedFile[] = [];
  for (const policyFile of named) checked.push(await check(context, { workspace, policyFile }));
  const trusted = await isTrustedNow(context, workspace);
  if (named.length === 0) checked.push(await check(context, { workspace, trusted }));
  const stopped = trusted ? [] : stoppedHooks(checked);
  const problems = checked.flatMap((one) => one.problems);
  if (options.flag("json")) await printJson(io, problems.map(problemForm));
  else {
    const files = named.length > 0 ? named : layerFiles(context, workspace);
    await io.stdout.write(problems.length > 0 ? problemsText(problems) : soundText(files, checked));
    await io.stdout.write(riskText(checked));
  }
  for (const words of [...elsewhere(context, checked), ...stopped]) await warn(io, words);
  return problems.length > 0 ? 1 : 0;
}

/** Warns about `/` in user rules that was probably meant for the project. */
function elsewhere({ io }: Context, checked: readonly CheckedFile[]): readonly string[] {
  const { home, userFile } = settingsLocations(io.env);
  const rules = checked.flatMap(({ loaded }) => loaded?.rules ?? []);
  return rules.flatMap(({ at, record }) => {
    const [, name] = /\(\s*\/([^/*?[\]{}()\\]*[^/*?[\]{}()\\\s])\s*[/)]/.exec(at.text) ?? [];
    if (at.file !== userFile || name === undefined || !record.includes('"path":[') || existsSync(join(home, name))) return [];
    const meant = `${name}/… for the project's, **/${name}/… for any depth, //${name}/… for the disk's`;
    return [`${rulePlace(at)}: ${at.text}: in this file / means your home directory, which has no ${name}; write ${meant}`];
  });
}

function stoppedHooks(checked: readonly CheckedFile[]): readonly string[] {
  const hooks = checked.flatMap(({ loaded }) => loaded?.hookEntries ?? []).filter(refersToWorkspace);
  return hooks.map(({ name, event }) => `hook ${name} (${event}) will fail here: ${UNTRUSTED_HOOK_REASON}`);
}

async function isTrustedNow(context: Context, workspace: string): Promise<boolean> {
  try {
    return await withStoreIfAny(context, async ({ ledger }) => (await readTrustState(ledger, workspace)).trusted);
  } catch (error) {
    await warn(context.io, `the record cannot be read, so the workspace is treated as not trusted: ${asFailure(error).message}`);
    return false;
  }
}

async function check(context: Context, place: Pick<PolicyOptions, "workspace" | "policyFile" | "trusted">): Promise<CheckedFile> {
  try {
    const { loaded, tools, facts, mcp } = await openPolicy(context, place);
    const directory = await stateDirectory(context);
    const { digest, clock } = hostPortsFor(context, directory);
    const servers = mcp.servers.map(({ name }) => knownServer(name, readSeenTools(directory, name)));
    const idle = await findIdleRules(loaded, { policy: loaded.policy, tools, facts, digest, clock, servers }, place.workspace);
    return { problems: sortProblems([...loaded.problems, ...idle]), loaded };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { problems: error.problems };
  }
}

/** Arguments are unknown if a name was cut. */
function knownServer(server: string, seen: RecordedServer | undefined): KnownServer {
  if (!seen) return { name: server };
  const tools = seen.names.map((name) => {
    const tool = seen.tools.find((one) => `mcp__${server}__${one.name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}` === name);
    const properties: unknown = tool?.inputSchema.properties;
    return { name, ...(isObject(properties) && { args: Object.keys(properties) }) };
  });
  return { name: server, tools };
}

function layerFiles({ io }: Context, workspace: string): readonly string[] {
  const { userFile, teamFile } = settingsLocations(io.env);
  return [projectSettingsFile(workspace), userFile, teamFile];
}

function problemsText(problems: readonly SettingsProblem[]): string {
  const refusing = problems.filter(({ effect }) => effect === "refuse").length;
  const kept = problems.filter((problem) => problem.kept).length;
  const ignored = problems.length - refusing - kept;
  const lines = `${problemLines(problems)}${counted(problems.length, "problem")}`;
  if (refusing === problems.length) return `${lines}; Assent does not start with ${refusing === 1 ? "it" : "them"}.\n`;
  const effects = [
    refusing > 0 && `${refusing} ${refusing === 1 ? "keeps" : "keep"} Assent from starting`,
    ignored > 0 && `${ignored === 1 ? "1 entry is" : `${ignored} entries are`} left out`,
    kept > 0 && `${kept === 1 ? "1 entry stays" : `${kept} entries stay`} as written`,
  ];
  return `${lines}: ${effects.filter(Boolean).join(", ")}.\n`;
}

function soundText(files: readonly string[], checked: readonly CheckedFile[]): string {
  const rules = checked.flatMap(({ loaded }) => [...(loaded?.rules ?? []), ...(loaded?.stage ?? [])]);
  const there = files.filter((file) => existsSync(file));
  const lines = files.map((file) => {
    const own = rules.filter(({ at }) => at.file === file).length;
    return `  ${oneLine(file)}: ${there.includes(file) ? counted(own, "rule") : "not there"}\n`;
  });
  return `No problems: ${counted(rules.length, "rule")} in ${counted(there.length, "file")}.\n${lines.join("")}`;
}

function riskText(checked: readonly CheckedFile[]): string {
  const risky = checked.flatMap(({ loaded, problems }) =>
    (loaded?.rules ?? []).flatMap(({ at, risk }) => {
      const isIdle = problems.some(({ file, line, column }) => file === at.file && line === at.line && column === at.column);
      return risk === undefined || isIdle ? [] : [{ at, risk }];
    }),
  );
  if (risky.length === 0) return "";
  const lines = risky.map(({ at, risk }) => `  ${oneLine(`${at.text} (${rulePlace(at)}): ${risk}`)}\n`);
  return `What ${risky.length === 1 ? "a rule with a star permits" : "rules with a star permit"}:\n${lines.join("")}`;
}
