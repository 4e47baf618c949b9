import { resolve } from "node:path";
import type { Ledger } from "@assent/core";
import { createSystemClock } from "@assent/host";
import {
  createTrustGranted,
  createTrustRevoked,
  findWorkspace,
  listActivations,
  type TrustState,
  WorkspaceNotFoundError,
} from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { personBy } from "../../io/who.ts";
import { withStore, withStoreIfAny } from "../../store/open.ts";
import { confirmInTerminal } from "../terminal/confirm.ts";
import { fullTrustState } from "./state.ts";
import { trustLines } from "./view.ts";

/** If a file changes while the person reads, the workspace is not trusted. */
export async function trustCommand(context: Context): Promise<number> {
  const { options } = context;
  const [revoke, show] = [options.flag("revoke"), options.flag("show")];
  if (revoke && show) throw usageError("trust", "options '--revoke' and '--show' cannot be used together.");
  if (options.flag("yes") && (revoke || show)) throw usageError("trust", "option '--yes' is for trusting, not for '--revoke' or '--show'.");
  const workspace = workspaceOf(context);
  if (!revoke && !show) return withStore(context, ({ ledger }) => grant(context, ledger, workspace));
  return withStoreIfAny(context, async ({ ledger }) => {
    const state = await fullTrustState(ledger, workspace);
    if (revoke && state.record) await ledger.answer([createTrustRevoked(workspace, ...(await personNow(context)))]);
    await print(context, ledger, revoke ? await fullTrustState(ledger, workspace) : state);
    return 0;
  });
}

function workspaceOf({ io, operands }: Context): string {
  const [given] = operands;
  try {
    if (given === "") throw new WorkspaceNotFoundError("''"); // an unset variable must not mean the current directory
    return findWorkspace(io.cwd, given === undefined ? undefined : resolve(io.cwd, given));
  } catch (error) {
    if (!(error instanceof WorkspaceNotFoundError)) throw error;
    throw new CommandError("workspace_not_found", 2, {
      message: `${given === "" ? "An empty name" : (given ?? io.cwd)} is not a directory.`,
      hint: "Give a directory: assent trust DIR",
    });
  }
}

async function grant(context: Context, ledger: Ledger, workspace: string): Promise<number> {
  const state = await fullTrustState(ledger, workspace);
  const { configuration, trusted } = state;
  const [problem] = configuration.problems;
  if (problem !== undefined) {
    throw new CommandError("not_allowed", 1, {
      message: `${workspace} cannot be trusted: ${problem}.`,
      hint: "Only regular files inside the workspace can be trusted. Replace or remove this one.",
    });
  }
  if (!trusted && !(await isWanted(context, ledger, state))) {
    if (context.options.flag("json")) await print(context, ledger, state);
    return 1;
  }
  if (!trusted) await ledger.answer([createTrustGranted(configuration, ...(await personNow(context)))]);
  const now = await fullTrustState(ledger, workspace);
  await print(context, ledger, now);
  return now.trusted ? 0 : 1;
}

/** Stdin is not read as an answer. */
async function isWanted(context: Context, ledger: Ledger, state: TrustState): Promise<boolean> {
  const { io, options } = context;
  if (options.flag("yes")) return true;
  if (io.stdinIsTTY && io.stderr.isTTY)
    return await confirmInTerminal(context, { lines: await trustLines(ledger, state), question: QUESTION, declined: "Not trusted." });
  throw new CommandError("confirmation_required", 2, {
    message: "Trusting a workspace needs a terminal, or --yes. Nothing was trusted.",
    hint: "Look first: assent trust --show. Then: assent trust --yes",
  });
}

async function personNow({ overrides }: Context): Promise<[by: ReturnType<typeof personBy>, at: string]> {
  const at = new Date((overrides.clock ?? createSystemClock()).now()).toISOString();
  return [personBy({ door: "trust" }), at];
}

async function print({ io, options }: Context, ledger: Ledger, state: TrustState): Promise<void> {
  const { configuration, trusted } = state;
  const { workspace: dir, digest } = configuration;
  if (options.flag("json")) await printJson(io, { dir, trusted, digest, would: listActivations(configuration) });
  else await io.stdout.write(`${(await trustLines(ledger, state)).join("\n")}\n${oneLine(`digest ${digest}`)}\n`);
}

const QUESTION = "Trust it exactly as shown? Type y and Enter to trust it, anything else to decline: ";
