import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const policyFetch: Command = {
  name: "policy fetch",
  group: "maintain",
  decides: true,
  summary: "store a policy file with a known digest as your team's settings",
  details:
    "SOURCE is an https URL, a file, or a directory with a settings.json. The file must name its policyVersion, which is recorded with each decision. Nothing changes if the digest differs or the file has problems.",
  guide: "settings.md#policy-bundles",
  operands: [{ name: "SOURCE", required: true }],
  options: [
    { name: "digest", takes: "text", value: "sha256:HEX", help: "the SHA-256 that the file must have (required)" },
    { name: "to", takes: "text", value: "FILE", help: "where to store it (default: /etc/assent/settings.json)" },
    { name: "replace", takes: "nothing", help: "also replace a file that names no policyVersion" },
    ...COMMON,
  ],
  exits: {
    0: "stored, or already there",
    1: "it could not be fetched or stored, or the digest differs",
    2: "wrong usage, or the file has problems",
  },
  examples: ["assent policy fetch https://policies.example/assent.json --digest sha256:9f86d081…"],
  run: async (context) => (await import("../desk/policy/fetch.ts")).fetchPolicy(context),
};
