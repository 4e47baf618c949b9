import type { LanguageModelV4 } from "@ai-sdk/provider";
import { PROVIDERS, type ProviderRow } from "./provider-table.ts";

/** Why there is no model to talk to: the id names none, or its provider would not let us in. */
export class ModelError extends Error {
  readonly type: "unknown_model" | "provider_auth";
  /** What to do about it. */
  readonly hint: string;
  constructor(type: ModelError["type"], told: { readonly message: string; readonly hint: string; readonly cause?: unknown }) {
    super(told.message, told.cause === undefined ? undefined : { cause: told.cause });
    this.name = "ModelError";
    this.type = type;
    this.hint = told.hint;
  }
}

/** The variables a model's key and address are taken from: the person's own, never a file of the workspace. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a model is looked up with. */
export type ResolveModelOptions = {
  readonly environment: Environment;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
};

/** The model of an id `provider:name`. Its package is loaded now, and nothing is sent yet. Rejects with a `ModelError` that says what to do. */
export async function resolveModel(id: string, { environment, signal, fetch }: ResolveModelOptions): Promise<LanguageModelV4> {
  const { provider, name, row } = readId(id);
  const apiKey = keyOf(id, row, environment);
  const baseURL = baseOf({ id, provider, row, environment });
  signal?.throwIfAborted();
  let model: LanguageModelV4;
  try {
    model = await row.make({ name, apiKey, baseURL, ...(fetch && { fetch }) });
  } catch (error) {
    throw isAbsent(error, row.package) ? absent(id, row, error) : error;
  }
  signal?.throwIfAborted();
  requireV4(model, row);
  return model;
}

type Named = { readonly provider: string; readonly name: string; readonly row: ProviderRow };

/** Only the first colon parts: `ollama:qwen3:8b` is the model `qwen3:8b`. */
function readId(id: string): Named {
  const at = id.indexOf(":");
  const provider = id.slice(0, Math.max(at, 0));
  const name = id.slice(at + 1);
  const row = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  if (!row || name.trim() === "") {
    throw new ModelError("unknown_model", {
      message: `There is no model '${id}'.`,
      hint: `A model is named PROVIDER:NAME. Known providers: ${Object.keys(PROVIDERS).join(", ")}; assent also takes script:FILE.`,
    });
  }
  return { provider, name, row };
}

function keyOf(id: string, { keys, keyless }: ProviderRow, environment: Environment): string {
  const found = keys.map((variable) => environment[variable]?.trim()).find((value) => value !== undefined && value !== "");
  if (found === undefined && !keyless) {
    throw new ModelError("provider_auth", {
      message: `There is no key for '${id}'.`,
      hint: `Set ${keys.join(" or ")} in your environment.`,
    });
  }
  return found ?? "";
}

type Addressing = Omit<Named, "name"> & { readonly id: string; readonly environment: Environment };

function baseOf({ id, provider, row, environment }: Addressing): string {
  const given = environment[row.baseVariable]?.trim();
  const text = given === undefined || given === "" ? row.base : given;
  const refused = (message: string): ModelError =>
    new ModelError("unknown_model", { message, hint: `Set ${row.baseVariable} in your environment, for example to https://host/v1.` });
  if (text === undefined) throw refused(`There is no address for '${id}'.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw refused(`${row.baseVariable} is set, but not to an http or https address.`);
  // The failure of the request would tell it.
  if (url.username !== "" || url.password !== "")
    throw refused(`${row.baseVariable} has a name or password in it, and no request can be made to such an address.`);
  // Other programs take this variable without the version in its path.
  if (provider === "anthropic" && url.pathname === "/") url.pathname = "/v1";
  return url.href.replace(/\/$/, "");
}

function isAbsent(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND") &&
    error.message.includes(name)
  );
}

function absent(id: string, row: ProviderRow, cause: unknown): ModelError {
  return new ModelError("unknown_model", {
    message: `'${id}' needs the package ${row.package}, which is not installed.`,
    hint: `Run npm i ${row.package}@${row.version}`,
    cause,
  });
}

/** A package of another age may make models that only look like ours. */
export function requireV4(model: { readonly specificationVersion: string }, row: Pick<ProviderRow, "package" | "version">): void {
  const found = model.specificationVersion;
  if (found === "v4") return;
  throw new ModelError("unknown_model", {
    message: `The installed ${row.package} makes models of specification ${found}; needed is v4.`,
    hint: `Run npm i ${row.package}@${row.version}`,
  });
}
