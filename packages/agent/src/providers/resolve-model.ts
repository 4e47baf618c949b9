import type { LanguageModelV4 } from "@ai-sdk/provider";
import { PROVIDERS, type ProviderRow } from "./provider-table.ts";

/** A model could not be loaded: the id is unknown, or access was refused. */
export class ModelError extends Error {
  readonly type: "unknown_model" | "provider_auth";
  readonly hint: string;
  constructor(type: ModelError["type"], details: { readonly message: string; readonly hint: string; readonly cause?: unknown }) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "ModelError";
    this.type = type;
    this.hint = details.hint;
  }
}

/** The environment variables for keys and addresses. They are the user's own, never a file of the workspace. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Options of `resolveModel`. */
export type ResolveModelOptions = {
  readonly environment: Environment;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof globalThis.fetch;
};

/** Loads the model with the id `provider:name`. Sends nothing yet. Rejects with a `ModelError` that says what to do. */
export async function resolveModel(id: string, { environment, signal, fetch }: ResolveModelOptions): Promise<LanguageModelV4> {
  const { provider, name, row } = readId(id);
  const apiKey = keyOf(id, row, environment);
  const baseURL = baseOf({ id, provider, row, environment });
  signal?.throwIfAborted();
  let model: LanguageModelV4;
  try {
    model = await row.make({ name, apiKey, baseURL, ...(fetch && { fetch }) });
  } catch (error) {
    throw isMissingPackage(error, row.package) ? missingPackage(id, row, error) : error;
  }
  signal?.throwIfAborted();
  requireV4(model, row);
  return model;
}

type ParsedModelId = { readonly provider: string; readonly name: string; readonly row: ProviderRow };

/** Splits at the first colon: `ollama:qwen3:8b` is the model `qwen3:8b`. */
function readId(id: string): ParsedModelId {
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

type AddressLookup = Omit<ParsedModelId, "name"> & { readonly id: string; readonly environment: Environment };

function baseOf({ id, provider, row, environment }: AddressLookup): string {
  const given = environment[row.baseVariable]?.trim();
  const text = given === undefined || given === "" ? row.base : given;
  const refused = (message: string): ModelError =>
    new ModelError("unknown_model", { message, hint: `Set ${row.baseVariable} in your environment, for example to https://host/v1.` });
  if (text === undefined) throw refused(`There is no address for '${id}'.`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw refused(`${row.baseVariable} is set, but not to an http or https address.`);
  // A failed request would print it.
  if (url.username !== "" || url.password !== "")
    throw refused(`${row.baseVariable} contains a user name or password, which is not supported.`);
  // Other programs expect this variable without the version in its path.
  if (provider === "anthropic" && url.pathname === "/") url.pathname = "/v1";
  return url.href.replace(/\/$/, "");
}

function isMissingPackage(error: unknown, name: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND") &&
    error.message.includes(name)
  );
}

function missingPackage(id: string, row: ProviderRow, cause: unknown): ModelError {
  return new ModelError("unknown_model", {
    message: `'${id}' needs the package ${row.package}, which is not installed.`,
    hint: `Run npm i ${row.package}@${row.version}`,
    cause,
  });
}

/** Refuses models of another specification version. */
export function requireV4(model: { readonly specificationVersion: string }, row: Pick<ProviderRow, "package" | "version">): void {
  const found = model.specificationVersion;
  if (found === "v4") return;
  throw new ModelError("unknown_model", {
    message: `The installed ${row.package} makes models of specification ${found}, but v4 is required.`,
    hint: `Run npm i ${row.package}@${row.version}`,
  });
}
