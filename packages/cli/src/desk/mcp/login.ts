import { messageOf } from "@assent/core";
import { type ConfiguredServer, type CredentialStore, createCredentialStore, createServerRedactor, expandServer, login } from "@assent/mcp";
import type { Context } from "../../command-line/spec.ts";
import { credentialFile } from "../../compose/mcp/session-servers.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { cancelOnSignal } from "../../io/cancel-on-signal.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { inputLines } from "../../io/input-lines.ts";
import { openInBrowser } from "../../io/open-in-browser.ts";
import { printJson } from "../../io/output.ts";
import { stateDirectory } from "../../store/location.ts";
import { findServersHere, selectServers } from "./configured.ts";

export async function logIn(context: Context): Promise<number> {
  const { io, options } = context;
  const { name, url, written, store, redact } = await openLogin(context, "mcp login");
  const ports = hostPortsFor(context, await stateDirectory(context));
  const cancelling = cancelOnSignal(io, ports.clock);
  const entered = readEntered(context);
  const show = (page: string): void => {
    void io.stderr.write(
      `Log in to ${name} here:\n\n  ${page}\n\nIf the browser runs on another machine, its last page cannot be loaded. Paste the address of that page here, and press Enter.\n`,
    );
    openInBrowser(page, io, ports.processes);
  };
  try {
    await login({ url, store, show, entered, signal: cancelling.signal });
  } catch (error) {
    throw new CommandError("mcp_login_failed", 1, { message: redact(messageOf(error)), hint: `To try again: assent mcp login ${name}` });
  } finally {
    cancelling.release();
    process.stdin.unref?.(); // waiting for an address must not keep the program alive
  }
  if (options.flag("json")) await printJson(io, { name, url: written });
  else await io.stdout.write(`Logged in to ${name}. To try it: assent mcp test ${name}\n`);
  return 0;
}

export async function logOut(context: Context): Promise<number> {
  const { io, options } = context;
  const { name, url, written, store } = await openLogin(context, "mcp logout");
  await store.write(url, undefined);
  if (options.flag("json")) await printJson(io, { name, url: written });
  else await io.stdout.write(`Forgot the login to ${name}. The server itself may keep it; revoke it there if you want to be sure.\n`);
  return 0;
}

type LoginAddress = {
  readonly name: string;
  readonly url: string;
  /** The address as the configuration has it, for people: the other one may contain secrets. */
  readonly written: string;
  readonly redact: (text: string) => string;
};

async function openLogin(context: Context, command: string): Promise<LoginAddress & { readonly store: CredentialStore }> {
  const [chosen] = selectServers(await findServersHere(context, command), context.operands[0]);
  const directory = await stateDirectory(context);
  const { files } = hostPortsFor(context, directory);
  return { ...addressOf(chosen, context, command), store: createCredentialStore(credentialFile(directory), files) };
}

function addressOf(chosen: ConfiguredServer | undefined, { io }: Context, command: string): LoginAddress {
  if (!chosen || chosen.server.type === "stdio")
    throw usageError(command, `'${chosen?.name}' is a program. Only servers with a "url" have logins.`);
  const expanded = expandServer(chosen.server, io.env);
  const { name, file } = chosen;
  if ("missing" in expanded) {
    const variables = expanded.missing.map(({ key, variable }) => `\${${variable}} in "${key}"`).join(", ");
    throw usageError(command, `the configuration of '${name}' in ${file} uses variables that are not set: ${variables}. Set them first.`);
  }
  const redact = createServerRedactor(chosen.server, expanded.server, { environment: io.env, programEnvironment: {} });
  return { name, url: expanded.server.type === "stdio" ? "" : expanded.server.url, written: chosen.server.url, redact };
}

/** Waits forever if the person enters nothing. */
function readEntered({ io }: Context): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const read = async (): Promise<void> => {
    for await (const line of inputLines(io.stdin(), 20_000)) if ("text" in line && line.text.trim() !== "") return resolve(line.text);
  };
  read().catch(() => undefined); // without a terminal, only the browser can finish the login
  return promise;
}
