import { isObject } from "@assent/core";
import { PROVIDERS } from "./provider-table.ts";
import type { Environment } from "./resolve-model.ts";

/** Local model servers in order of preference, and where each lists its models. */
const SERVERS: readonly { readonly provider: string; readonly path: string; readonly list: string; readonly name: string }[] = [
  { provider: "ollama", path: "/api/tags", list: "models", name: "name" },
  { provider: "lmstudio", path: "/v1/models", list: "data", name: "id" },
  { provider: "vllm", path: "/v1/models", list: "data", name: "id" },
];
const PATIENCE_MS = 500;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Options of `detectLocalModel`. */
export type DetectOptions = { readonly fetch?: typeof globalThis.fetch; readonly signal?: AbortSignal };

/** Finds a model on a server of this machine; undefined if none answers soon. Nothing leaves the machine. */
export async function detectLocalModel(
  environment: Environment,
  { fetch = globalThis.fetch, signal }: DetectOptions = {},
): Promise<string | undefined> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const until = signal ? AbortSignal.any([signal, patience]) : patience;
  const found = await Promise.all(
    SERVERS.map(async (server) => {
      const origin = localOrigin(server.provider, environment);
      const name = origin === undefined ? undefined : await firstModel(`${origin}${server.path}`, server, { fetch, signal: until });
      return name === undefined ? undefined : `${server.provider}:${name}`;
    }),
  );
  return found.find((id) => id !== undefined);
}

function localOrigin(provider: string, environment: Environment): string | undefined {
  const row = PROVIDERS[provider];
  const text = row && (environment[row.baseVariable]?.trim() || row.base);
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { hostname, origin } = new URL(text);
  return LOOPBACK.has(hostname) ? origin : undefined;
}

type Listing = Pick<(typeof SERVERS)[number], "list" | "name">;

/** Returns undefined if the answer is not a list of models. */
async function firstModel(url: string, { list, name }: Listing, options: Required<DetectOptions>): Promise<string | undefined> {
  try {
    const response = await options.fetch(url, { signal: options.signal, redirect: "error" });
    const body: unknown = response.ok ? await response.json() : undefined;
    const models = isObject(body) ? body[list] : undefined;
    if (!Array.isArray(models)) return undefined;
    const names = models.map((model) => (isObject(model) ? model[name] : undefined)).filter((found) => typeof found === "string");
    return names.find((found) => found !== "" && !/embed/i.test(found));
  } catch {
    return undefined; // no server, too slow, or not JSON
  }
}
