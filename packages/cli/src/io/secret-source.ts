import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode, messageOf } from "@assent/core";
import { userHome } from "../store/location.ts";
import type { Io } from "./io.ts";

const MOST_BYTES = 65_536;

type FoundSecret = { readonly secret: string } | { readonly problem: string };

/** The secret that `env:NAME` or `file:PATH` names, or why there is none. The reason contains no secret. */
export function readSecretSource(source: string, env: Io["env"]): FoundSecret {
  const found = readSource(source, env);
  if ("problem" in found || !/[^\x20-\x7e]/.test(found.secret)) return found;
  return { problem: `${source} must hold one line of plain characters` }; // it becomes a header, and errors about those show it
}

/** A text of a receiver, which may repeat what it was sent, without these secrets. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "[redacted: secret]"), text);
}

function readSource(source: string, env: Io["env"]): FoundSecret {
  const name = source.slice(source.indexOf(":") + 1);
  if (source.startsWith("env:")) {
    const secret = env[name]?.trim();
    return secret ? { secret } : { problem: `the environment variable ${name} is not set` };
  }
  const file = name.startsWith("~/") ? join(userHome(env), name.slice(2)) : name;
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size > MOST_BYTES) return { problem: `${file} is not a file with a secret` };
    if ((found.mode & 0o077) !== 0) return { problem: `other users can read the secret. Run: chmod 600 ${file}` };
    const secret = readFileSync(file, "utf8").trim();
    return secret === "" ? { problem: `${file} is empty` } : { secret };
  } catch (error) {
    return { problem: errorCode(error) === "ENOENT" ? `there is no file ${file}` : messageOf(error) };
  }
}
