import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { errorCode, messageOf } from "@assent/core";
import { createHostPorts, httpFetch, nodeDigest } from "@assent/host";
import { isSafeAddress, SettingsError, settingsLocations } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { openPolicy } from "../../compose/policy.ts";
import { versionOf } from "../../guard/policy-status.ts";
import { CommandError, fileProblem, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";

/** `assent policy fetch`: stores a policy file whose digest is known. Decisions read only the stored file, never the network. */
export async function fetchPolicy(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const [source = ""] = operands;
  const digest = readDigest(options.text("digest"));
  const { teamFile } = settingsLocations(io.env);
  const target = resolve(io.cwd, options.text("to") ?? teamFile);
  const bytes = /^[a-z][a-z0-9+.-]*:\/\//i.test(source) ? await download(source) : readBundle(resolve(io.cwd, source));
  const actual = nodeDigest.sha256Bytes(bytes);
  if (actual !== digest)
    throw new CommandError("policy_digest_mismatch", 1, {
      message: `${source} has the digest sha256:${actual}, not sha256:${digest}. Nothing was changed.`,
      hint: "Ask the publisher which digest is right. Do not use the one above without asking.",
    });
  const version = await checkBundle(context, source, bytes);
  const before = readExisting(target);
  const known = before && versionOf(before.toString("utf8"));
  if (before && known === null && !options.flag("replace"))
    throw new CommandError("policy_not_replaced", 1, {
      message: `${target} names no policyVersion, so it was written by hand. Nothing was changed.`,
      hint: "Move its rules into the bundle, or replace it: --replace",
    });
  const isSame = before?.equals(bytes) === true;
  if (!isSame) await store(target, bytes);
  const result = { version, digest: `sha256:${digest}`, file: target, previous: known ?? null, changed: !isSame };
  const had = result.previous === null ? "" : `; it had version ${result.previous}`;
  const text = isSame ? `${target} already has version ${version}.` : `Stored version ${version} in ${target}${had}.`;
  if (options.flag("json")) await printJson(io, result);
  else await io.stdout.write(`${oneLine(text)}\n`);
  return 0;
}

function readDigest(given: string | undefined): string {
  const [, hex] = /^sha256:([0-9a-f]{64})$/i.exec(given ?? "") ?? [];
  if (hex !== undefined) return hex.toLowerCase();
  throw usageError(
    "policy fetch",
    "option '--digest' must be sha256: and 64 hexadecimal digits, which the publisher of the policy gives you.",
  );
}

const MOST_BYTES = 1_048_576;
const LIMIT_MS = 30_000;
const MOST_REDIRECTS = 3;

async function download(address: string): Promise<Buffer> {
  if (!isSafeAddress(address))
    throw usageError("policy fetch", "the URL must be https://, or http:// on this machine, without a user name and password.");
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    let url = new URL(address);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const answer = await httpFetch(url.href, { redirect: "manual", signal });
      const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
      if (location === null) return await readAnswer(answer);
      const next = new URL(location, url);
      if (next.origin !== url.origin) throw new Error(`it redirects to another host (${next.origin})`);
      url = next;
    }
    throw new Error("it redirects too often");
  } catch (error) {
    const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
    const why = signal.aborted ? `no answer within ${LIMIT_MS / 1000} s` : messageOf(cause);
    throw fetchFailed(address, why);
  }
}

function fetchFailed(source: string, why: string): CommandError {
  return new CommandError("policy_fetch_failed", 1, { message: `${source} could not be read: ${why}. Nothing was changed.` });
}

async function readAnswer(answer: Response): Promise<Buffer> {
  if (!answer.ok || !answer.body) throw new Error(`it answered ${answer.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_BYTES) throw new Error("it is larger than 1 MiB");
  }
  return Buffer.concat(chunks);
}

/** A file, or the `settings.json` of a directory. */
function readBundle(path: string): Buffer {
  try {
    const file = statSync(path).isDirectory() ? join(path, "settings.json") : path;
    const found = statSync(file);
    if (!found.isFile()) throw new Error("it is not a file");
    if (found.size > MOST_BYTES) throw new Error("it is larger than 1 MiB");
    return readFileSync(file);
  } catch (error) {
    throw fetchFailed(path, fileProblem(error));
  }
}

/** Loads the file as a policy, so that a file with problems is never stored. Returns its version. */
async function checkBundle(context: Context, source: string, bytes: Buffer): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "assent-policy-"));
  try {
    const policyFile = join(directory, "settings.json");
    writeFileSync(policyFile, bytes, { mode: 0o600 });
    const { loaded } = await openPolicy(context, { workspace: directory, policyFile });
    const { policyVersion } = loaded.settings;
    if (policyVersion !== undefined) return policyVersion;
    throw new CommandError("policy_without_version", 2, {
      message: "The file names no policyVersion. Nothing was changed.",
      hint: 'Its publisher adds one: "policyVersion": "2026-11-03"',
    });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const said = (text: string): string => text.replaceAll(join(directory, "settings.json"), source);
    throw new SettingsError(error.problems.map((problem) => ({ ...problem, file: said(problem.file), message: said(problem.message) })));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function readExisting(target: string): Buffer | undefined {
  try {
    return readFileSync(target);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw notStored(target, error);
  }
}

async function store(target: string, bytes: Buffer): Promise<void> {
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    await createHostPorts({ stateDirectory: dirname(target) }).files.replace(target, bytes, { mode: 0o644 });
  } catch (error) {
    throw notStored(target, error);
  }
}

function notStored(target: string, error: unknown): CommandError {
  const hint =
    errorCode(error) === "EACCES" || errorCode(error) === "EPERM" ? "Run it as root, or store it elsewhere: --to FILE" : "Check the path.";
  return new CommandError("policy_not_stored", 1, { message: `${target} could not be replaced: ${messageOf(error)}`, hint });
}
