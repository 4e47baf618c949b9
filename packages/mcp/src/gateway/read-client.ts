import { isObject } from "@assent/core";
import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, type JSONRPCMessage } from "@modelcontextprotocol/server";
import type { ConnectedClient } from "./desk.ts";

/** Who sent a message, if it says so: `initialize` of the older protocol, or any request of the newer one. */
export function readClient(message: JSONRPCMessage | unknown): ConnectedClient | undefined {
  const { method, params } = isObject(message) ? message : {};
  if (!isObject(params)) return undefined;
  if (method === "initialize") return describeClient(params["clientInfo"], params["capabilities"], "legacy");
  const meta = params["_meta"];
  if (!isObject(meta) || meta[CLIENT_INFO_META_KEY] === undefined) return undefined;
  return describeClient(meta[CLIENT_INFO_META_KEY], meta[CLIENT_CAPABILITIES_META_KEY], "modern");
}

function describeClient(info: unknown, given: unknown, era: ConnectedClient["era"]): ConnectedClient {
  const { name, title, version } = isObject(info) ? info : {};
  const capabilities = isObject(given) ? given : {};
  const shown = text(name) || "unnamed client";
  const pick = (key: "elicitation" | "sampling" | "roots"): object => (isObject(capabilities[key]) ? { [key]: capabilities[key] } : {});
  return {
    name: shown,
    title: text(title) || shown,
    version: text(version),
    era,
    capabilities: { ...pick("elicitation"), ...pick("sampling"), ...pick("roots") },
  };
}

/** Clients choose their names, so these are cut and cleaned before people see them. */
function text(value: unknown): string {
  return typeof value === "string"
    ? value
        .replace(/[^\p{L}\p{N} ._()/@-]/gu, "")
        .trim()
        .slice(0, 60)
    : "";
}
