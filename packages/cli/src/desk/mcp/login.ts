import { messageOf } from "@assent/core";
import { createCommandEnvironment, findProgram } from "@assent/host";
import { type ConfiguredServer, type CredentialStore, createCredentialStore, expandServer, login } from "@assent/mcp";
import type { Context } from "../../command-line/spec.ts";
import { credentialFile } from "../../compose/mcp/session-servers.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { cancelOnSignal } from "../../io/cancel-on-signal.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { inputLines } from "../../io/input-lines.ts";
import { printJson } from "../../io/output.ts";
import { stateDirectory } from "../../store/location.ts";
import { findServersHere, selectServers } from "./configured.ts";

/** `assent mcp login` */
export async function logIn(context: Context): Promise<number> {
  const { io, options } = context;
  const { name, url, store } = await openLogin(context, "mcp login");
  const ports = hostPortsFor(context, await stateDirectory(context));
  const cancelling = cancelOnSignal(io, ports.clock);
  const entered = readEntered(context);
  const show = (page: string): void => {
    void io.stderr.write(
      `Log in to ${name} here:\n\n  ${page}\n\nIf the browser cannot get back to this machine, paste the address where it ended, and press Enter.\n`,
    );
    openPage(context, page, ports.processes);
  };
  try {
    await login({ url, store, show, entered, signal: cancelling.signal });
  } catch (error) {
    throw new CommandError("mcp_login_failed", 1, { message: messageOf(error), hint: `assent mcp login ${name}` });
  } finally {
    cancelling.release();
    process.stdin.unref?.(); // waiting for an address must not keep the program alive
  }
  if (options.flag("json")) await printJson(io, { name, url });
  else await io.stdout.write(`Logged in to ${name}. To try it: assent mcp test ${name}\n`);
  return 0;
}

/** `assent mcp logout` */
export async function logOut(context: Context): Promise<number> {
  const { io, options } = context;
  const { name, url, store } = await openLogin(context, "mcp logout");
  await store.write(url, undefined);
  if (options.flag("json")) await printJson(io, { name, url });
  else await io.stdout.write(`Forgot the login to ${name}. The server itself may keep it; revoke it there if you want to be sure.\n`);
  return 0;
}

type LoginTarget = { readonly name: string; readonly url: string; readonly store: CredentialStore };

async function openLogin(context: Context, command: string): Promise<LoginTarget> {
  const { servers } = await findServersHere(context, command);
  const [chosen] = selectServers(servers, context.operands[0]);
  const directory = await stateDirectory(context);
  const { files } = hostPortsFor(context, directory);
  return { ...addressOf(chosen, context, command), store: createCredentialStore(credentialFile(directory), files) };
}

function addressOf(chosen: ConfiguredServer | undefined, { io }: Context, command: string): Pick<LoginTarget, "name" | "url"> {
  if (!chosen || chosen.server.type === "stdio")
    throw usageError(command, `'${chosen?.name}' is a program. Only servers with a "url" have logins.`);
  const expanded = expandServer(chosen.server, io.env);
  if ("missing" in expanded || expanded.server.type === "stdio")
    throw usageError(command, `the configuration of '${chosen.name}' in ${chosen.file} uses variables that are not set.`);
  return { name: chosen.name, url: expanded.server.url };
}

/** Never settles if nothing is entered. */
function readEntered({ io }: Context): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const read = async (): Promise<void> => {
    for await (const line of inputLines(io.stdin(), 20_000)) if ("text" in line && line.text.trim() !== "") return resolve(line.text);
  };
  read().catch(() => undefined); // without input, the browser has to come back
  return promise;
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: "xdg-open", darwin: "open" };

/** Opens the page if there is a desktop; the address is printed anyway. */
function openPage({ io }: Context, page: string, processes: ReturnType<typeof hostPortsFor>["processes"]): void {
  const { DISPLAY, WAYLAND_DISPLAY, PATH = "" } = io.env;
  const hasDesktop = process.platform !== "linux" || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  const file = hasDesktop ? findProgram(OPENERS[process.platform] ?? "", PATH) : undefined;
  if (file === undefined) return;
  processes
    .run({ file, args: [page], cwd: io.cwd, env: createCommandEnvironment(io.env) }, new AbortController().signal)
    .catch(() => undefined);
}
