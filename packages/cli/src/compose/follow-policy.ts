import { join } from "node:path";
import type { Ledger } from "@assent/core";
import type { HookEntry } from "@assent/core/parts";
import { refersToWorkspace, UNTRUSTED_HOOK_REASON } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { warnOfProblems } from "../desk/policy/problem-text.ts";
import { workspaceTrust } from "../desk/trust/workspace-trust.ts";
import { warn } from "../io/output.ts";
import { stateDirectory } from "../store/location.ts";
import { reportFailedTools } from "./custom-tools.ts";
import { type CallFlags, sessionSettings } from "./flags.ts";
import { type OpenedPolicy, openPolicy } from "./policy.ts";
import { hostPortsFor } from "./ports.ts";

export type FollowedPolicy = OpenedPolicy & {
  /** Makes a session's full outputs readable. */
  readonly serve: (session: string) => void;
  readonly planAt: (file: string) => void;
  /** Programs in a workspace run only if it is trusted. */
  readonly refusesHook: (entry: HookEntry) => string | undefined;
};

/** The ledger says whether the workspace is trusted. */
export type PolicyRequest = { readonly workspace: string; readonly flags: CallFlags; readonly ledger?: Ledger };

/** Loads and follows the settings. Throws `SettingsError`. */
export async function followPolicy(context: Context, { workspace, flags, ledger }: PolicyRequest): Promise<FollowedPolicy> {
  const { io } = context;
  const { outputDirectory, clock } = hostPortsFor(context, await stateDirectory(context));
  const alone = flags.policyFile !== undefined; // nothing of the project is read, so trust only decides about hooks
  const trust = await workspaceTrust(context, { workspace, ...(ledger && { ledger }), quiet: alone });
  let readable: readonly string[] = [];
  let planFile: string | undefined;
  const open = (trusted: boolean): Promise<OpenedPolicy> =>
    openPolicy(context, {
      workspace,
      ...(flags.policyFile !== undefined && { policyFile: flags.policyFile }),
      flags: sessionSettings(flags),
      trusted,
      readable: () => readable,
      tools: flags.tools,
      mcpConfig: flags.mcpConfig,
      strictMcpConfig: flags.strictMcpConfig,
      planFile: () => planFile,
      follow: {
        clock,
        warn: (problem) => void warnOfProblems(io, [problem]),
        changed: () => void warn(io, "settings changed; waiting calls are judged again"),
        ...(!alone && { trusted: trust.stillTrusted }),
      },
    });
  const first = await open(!alone && trust.trusted);
  const opened = !alone && trust.trusted && !trust.stillTrusted() ? await openUntrusted(first, open) : first;
  await warnOfProblems(io, [...opened.loaded.problems, ...opened.mcp.problems]);
  await reportFailedTools(context, opened.custom).catch((error: unknown) => {
    opened.source.close();
    throw error;
  });
  return {
    ...opened,
    serve: (session) => {
      readable = [...readable, join(outputDirectory, session)];
    },
    planAt: (file) => {
      planFile = file;
    },
    refusesHook: (entry) => (refersToWorkspace(entry) && !trust.stillTrusted() ? UNTRUSTED_HOOK_REASON : undefined),
  };
}

/** The files changed after trust was checked. */
async function openUntrusted({ source }: OpenedPolicy, open: (trusted: boolean) => Promise<OpenedPolicy>): Promise<OpenedPolicy> {
  source.close();
  return open(false);
}
