import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  Client,
  type ClientOptions,
  type ElicitResult,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Io } from "../../src/io/io.ts";
import { main } from "../../src/main.ts";
import type { Place } from "./assent.ts";

export const HOSTILE: string = new URL("../../../mcp/test/servers/hostile.mjs", import.meta.url).pathname;

/** A client of a gateway that runs in this process. */
export type GatewayClient = {
  readonly client: Client;
  /** Sends text as it is. */
  readonly write: (text: string) => void;
  /** What the gateway wrote besides answers to the client. */
  readonly stderr: () => string;
  /** Ends the gateway's input, and resolves with its exit code. */
  readonly end: () => Promise<number>;
  readonly messages: readonly JSONRPCMessage[];
};

export type GatewayOptions = {
  readonly era?: "legacy" | "modern";
  readonly capabilities?: NonNullable<ClientOptions["capabilities"]>;
  /** Answers the approval form. */
  readonly elicit?: (message: string) => ElicitResult | Promise<ElicitResult>;
  readonly name?: string;
  readonly env?: Record<string, string>;
};

/** Connects the SDK's own client to `assent mcp serve` in this process. */
export async function connectGateway(at: Place, args: readonly string[], options: GatewayOptions = {}): Promise<GatewayClient> {
  const { era = "legacy", capabilities = options.elicit ? { elicitation: { form: {} } } : {}, name = "tester" } = options;
  const pipe = openPipe();
  const messages: JSONRPCMessage[] = [];
  let stderr = "";
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => pipe.push(serializeMessage(message)),
    close: async () => pipe.end(),
  };
  const output = (write: (text: string) => void): Io["stdout"] => ({
    isTTY: false,
    columns: () => undefined,
    rows: () => undefined,
    write: async (text) => write(text),
  });
  const never = (): never => {
    throw new Error("not in this process");
  };
  const io: Io = {
    stdout: output((text) => {
      for (const line of text.split("\n").filter(Boolean)) {
        const message = JSON.parse(line) as JSONRPCMessage;
        messages.push(message);
        queueMicrotask(() => transport.onmessage?.(message));
      }
    }),
    stderr: output((text) => {
      stderr += text;
    }),
    stdinIsTTY: false,
    readStdin: never,
    stdin: () => pipe.chunks(),
    keyboard: { open: never },
    env: { ...at.env, ...options.env },
    cwd: at.workspace,
    onSignal: () => () => undefined,
    exitNow: never,
  };
  const exit = main(["mcp", "serve", ...args], io);
  void exit.then(() => transport.onclose?.());
  const client = new Client(
    { name, version: "1" },
    { capabilities, versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
  );
  if (options.elicit)
    client.setRequestHandler("elicitation/create", async ({ params }) => (await options.elicit?.(params.message)) ?? { action: "cancel" });
  try {
    await client.connect(transport);
  } catch (error) {
    throw new Error(`no connection: ${stderr}`, { cause: error });
  }
  return {
    client,
    messages,
    write: pipe.push,
    stderr: () => stderr,
    end: async () => {
      pipe.end();
      return await exit;
    },
  };
}

function openPipe(): { push: (text: string) => void; end: () => void; chunks: () => AsyncIterable<Uint8Array> } {
  const waiting: Uint8Array[] = [];
  let wake = Promise.withResolvers<void>();
  let ended = false;
  const ring = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  return {
    push: (text) => {
      waiting.push(Buffer.from(text));
      ring();
    },
    end: () => {
      ended = true;
      ring();
    },
    chunks: async function* () {
      for (;;) {
        const next = waiting.shift();
        if (next) yield next;
        else if (ended) return;
        else await wake.promise;
      }
    },
  };
}

/** Arguments that serve a misbehaving server as `x`. */
export function serving(at: Place, behavior: string): readonly string[] {
  return ["--name", "x", "--", process.execPath, HOSTILE, behavior, at.root];
}

/** What reached the server. */
export function callsIn(at: Place): readonly string[] {
  const file = join(at.root, "calls.log");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

/** The first approval that waits, once there is one. */
export async function waitForApproval(at: Place): Promise<string> {
  const [first = ""] = await waitForApprovals(at, 1);
  return first;
}

/** The approvals that wait, once there are so many. */
export async function waitForApprovals(at: Place, count: number): Promise<readonly string[]> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await delay(20)) {
    const { value } = await at.hereJson(["approvals"]);
    const ids = (value.approvals ?? value).map(({ id }: { readonly id: string }) => id);
    if (ids.length >= count) return ids;
  }
  throw new Error(`there are not ${count} approvals that wait`);
}
