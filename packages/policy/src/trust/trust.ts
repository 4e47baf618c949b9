import { type By, type Draft, type EventBodies, type Ledger, namedSession, parseEvent } from "@assent/core";
import { type ConfigurationFile, type ProjectConfiguration, readProjectConfiguration } from "./project-configuration.ts";

/** A record of trust, with its time. */
export type TrustRecord = EventBodies["trust.granted"] & { readonly at: string };

/** Whether a workspace is trusted. */
export type TrustState = {
  readonly configuration: ProjectConfiguration;
  /** The newest record, unless revoked. */
  readonly record: TrustRecord | undefined;
  /** True if the record matches the current content. */
  readonly trusted: boolean;
};

/** Reads whether a workspace is trusted, from the ledger and its configuration files. */
export async function readTrustState(ledger: Ledger, workspace: string): Promise<TrustState> {
  const configuration = readProjectConfiguration(workspace);
  const record = await readTrustRecord(ledger, workspace);
  return { configuration, record, trusted: isTrusted(record, configuration) };
}

/** Files may be references; `ledger.resolve` reads them. */
async function readTrustRecord(ledger: Ledger, workspace: string): Promise<TrustRecord | undefined> {
  const key = namedSession({ type: "trust.revoked", body: { workspace } });
  let record: TrustRecord | undefined;
  if (key === undefined) return undefined;
  for await (const stored of ledger.read({ pos: 0 }, { naming: key })) {
    const event = parseEvent(stored);
    record = event?.type === "trust.granted" ? { ...event.body, at: event.at } : undefined;
  }
  return record;
}

/** Trust covers these bytes in this directory; any unreadable entry voids it. */
export function isTrusted(record: TrustRecord | undefined, configuration: ProjectConfiguration): boolean {
  const { workspace, device, inode, digest, problems } = configuration;
  if (!record || problems.length > 0) return false;
  return record.workspace === workspace && record.device === device && record.inode === inode && record.digest === digest;
}

/** True if these are the trusted bytes of this file. */
export function isTrustedFile({ trusted, configuration }: TrustState, name: string, bytes: Uint8Array): boolean {
  const file = configuration.files.find((one) => one.name === name);
  return trusted && file !== undefined && Buffer.from(file.bytes).equals(bytes);
}

/** The event that records trust in this configuration. */
export function createTrustGranted(configuration: ProjectConfiguration, by: By, at: string): Draft<"trust.granted"> {
  const { workspace, device, inode, digest } = configuration;
  return { type: "trust.granted", v: 1, at, body: { workspace, device, inode, digest, files: configuration.files.map(recordFile), by } };
}

/** The event that revokes trust. */
export function createTrustRevoked(workspace: string, by: By, at: string): Draft<"trust.revoked"> {
  return { type: "trust.revoked", v: 1, at, body: { workspace, by } };
}

type RecordedFile = EventBodies["trust.granted"]["files"][number];

function recordFile({ name, bytes }: ConfigurationFile): RecordedFile {
  const text = decodeText(bytes);
  return text === undefined ? { name, base64: Buffer.from(bytes).toString("base64") } : { name, text };
}

/** Undefined for binary data. Keeps a byte order mark. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (_noText) {
    return undefined;
  }
}

/** A changed file. Null: absent. Binary data is shown by size. */
export type ConfigurationChange = { readonly name: string; readonly before: string | null; readonly after: string | null };

/** The changes since the trusted content; `files` come from the record. */
export function diffConfiguration(
  files: EventBodies["trust.granted"]["files"],
  configuration: ProjectConfiguration,
): readonly ConfigurationChange[] {
  const before = new Map(files.map((file) => [file.name, file]));
  const after = new Map(configuration.files.map((file) => [file.name, recordFile(file)]));
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old && now && fileContent(old) === fileContent(now)) return [];
    return [{ name, before: showFile(old), after: showFile(now) }];
  });
}

function fileContent(file: RecordedFile): string {
  return "text" in file ? `text:${file.text}` : `base64:${file.base64}`;
}

function showFile(file: RecordedFile | undefined): string | null {
  if (!file) return null;
  return "text" in file ? file.text : `[${Buffer.from(file.base64, "base64").length} bytes of binary data: ${file.base64.slice(0, 32)}…]\n`;
}

/** A warning for an untrusted workspace; undefined if there is nothing to say. */
export function describeUntrusted({ trusted, record, configuration }: TrustState): string | undefined {
  if (trusted || !(record || needsTrust(configuration))) return undefined;
  const why = record ? "changed since it was trusted" : "is not trusted";
  return `The configuration of ${configuration.workspace} ${why}, so only its stricter settings apply. To review and trust it, run: assent trust`;
}

function needsTrust({ files, problems }: ProjectConfiguration): boolean {
  return problems.length > 0 || files.some(({ name }) => name === ".mcp.json" || /^\.assent\/(?:tools|agents)\//.test(name));
}
