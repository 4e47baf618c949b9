/** A change to one source that breaks a guarantee, and the test file that must fail with it. */
export type PlantedFault = {
  /** A row of the guarantees in SECURITY.md, or a line of those in README.md. */
  readonly guarantee: `SECURITY ${number}` | `README ${number}`;
  readonly fault: string;
  readonly file: string;
  readonly was: string;
  readonly becomes: string;
  readonly test: string;
};

/** Every guarantee of README.md and SECURITY.md, broken on purpose in at least one way. `npm run break` plays them all. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    guarantee: "README 1",
    fault: "an ask wins over a deny",
    file: "packages/core/src/model/decide.ts",
    was: "return SEVERITY[other.verdict] > SEVERITY[one.verdict] ? other : one;",
    becomes: "return SEVERITY[other.verdict] < SEVERITY[one.verdict] ? other : one;",
    test: "packages/core/test/model/decide.test.ts",
  },
  {
    guarantee: "README 2",
    fault: "a grant answers an explicit ask",
    file: "packages/core/src/model/ledger-rules.ts",
    was: 'return judged.explicitAsk && (consent.by === "grant" || consent.by === "hook");',
    becomes: "return false;",
    test: "packages/core/test/model/ledger-rules.test.ts",
  },
  {
    guarantee: "README 3",
    fault: "a call runs although it is not the one that was judged last",
    file: "packages/core/src/model/ledger-rules.ts",
    was: 'if (fingerprint !== call.judged.fingerprint || (fingerprint === undefined && durable)) return "fingerprint_mismatch";',
    becomes: "",
    test: "packages/core/test/model/ledger-rules.test.ts",
  },
  {
    guarantee: "README 4",
    fault: "a safeguard that gives no valid opinion has none",
    file: "packages/core/src/model/decide.ts",
    was: 'return answer.verdict === "none" || Object.hasOwn(SEVERITY, answer.verdict) ? answer : INVALID_ANSWER;',
    becomes: 'return Object.hasOwn(SEVERITY, answer.verdict) ? answer : { verdict: "none" };',
    test: "packages/core/test/model/decide.test.ts",
  },
  {
    guarantee: "README 5",
    fault: "a claimed call is taken for one that never began",
    file: "packages/core/src/model/ledger-rules.ts",
    was: 'if (mayBeUnderWay(call)) return isRetry(call, claimed) ? undefined : "already_claimed";',
    becomes: "",
    test: "packages/core/test/model/ledger-rules.test.ts",
  },
  {
    guarantee: "SECURITY 1",
    fault: "an approval can be used twice",
    file: "packages/core/src/model/ledger-rules.ts",
    was: 'if (facts.approval?.consumed) return "answer_consumed";',
    becomes: "",
    test: "packages/core/test/model/ledger-rules.test.ts",
  },
  {
    guarantee: "SECURITY 1",
    fault: "an approval counts for another request",
    file: "packages/core/src/model/ledger-rules.ts",
    was: 'if (call.state === "approved" && call.consent.covers !== fingerprint) return "fingerprint_mismatch";',
    becomes: "",
    test: "packages/core/test/model/ledger-rules.test.ts",
  },
  {
    guarantee: "SECURITY 1",
    fault: "a call that was only proposed can be claimed",
    file: "packages/core/src/model/ledger-rules.ts",
    was: 'return call.judged.verdict === "deny" || claimed.attempt !== 1 ? "not_claimable" : undefined;',
    becomes: "return undefined;",
    test: "packages/core/test/model/ledger-rules.test.ts",
  },
  {
    guarantee: "SECURITY 2",
    fault: "yolo allows what a rule denies",
    file: "packages/core/src/model/decide.ts",
    was: "tightening ?? // 1, 2",
    becomes: "allowedByMode(mode, request.kind, hint) ?? tightening ??",
    test: "packages/core/test/model/decide.test.ts",
  },
  {
    guarantee: "SECURITY 2",
    fault: "control files can be written unasked",
    file: "packages/policy/src/safeguards/safeguards.ts",
    was: "    controlFileSafeguard(own),\n",
    becomes: "",
    test: "packages/cli/test/protected-files.test.ts",
  },
  {
    guarantee: "SECURITY 2",
    fault: "tools may write Assent's own files",
    file: "packages/policy/src/safeguards/safeguards.ts",
    was: "    ownFilesSafeguard(own),\n",
    becomes: "",
    test: "packages/cli/test/protected-files.test.ts",
  },
  {
    guarantee: "SECURITY 3",
    fault: "a line counts as understood although the two readers differ",
    file: "packages/policy/src/shell/read/agree.ts",
    was: "plain.every((command, i) => isSame(command, top[i]))",
    becomes: "true",
    test: "packages/policy/test/shell/read/agree.test.ts",
  },
  {
    guarantee: "SECURITY 4",
    fault: "recovery says that a call which may have run was cancelled",
    file: "packages/core/src/runtime/recover.ts",
    was: 'return { ...errorEnding("unknown", "execution_unknown", text), evidence };',
    becomes: 'return { ...errorEnding("cancelled", "cancelled", text), evidence };',
    test: "packages/core/test/runtime/recover.test.ts",
  },
  {
    guarantee: "SECURITY 5",
    fault: "a checker that throws has no opinion",
    file: "packages/core/src/model/decide.ts",
    was: 'return { verdict: "error", note:',
    becomes: 'return { verdict: "none", note:',
    test: "packages/core/test/model/decide.test.ts",
  },
  {
    guarantee: "SECURITY 6",
    fault: "an apply overwrites files that changed since the preview",
    file: "packages/host/src/files/changes/changes.ts",
    was: 'if (stale.length > 0) return { state: "stale", files: sortedPaths(stale) };',
    becomes: "",
    test: "packages/host/test/files/changes.test.ts",
  },
  {
    guarantee: "SECURITY 6",
    fault: "a failed apply leaves the files that it had replaced",
    file: "packages/host/src/files/changes/changes.ts",
    was: "const end = await restoreFiles(job, { found, done });",
    becomes: "const end = { restored: 0 };",
    test: "packages/host/test/files/changes.test.ts",
  },
  {
    guarantee: "SECURITY 7",
    fault: "an untrusted project's allow rules count",
    file: "packages/policy/src/settings/layers.ts",
    was: 'return trusted || SETTINGS[list].untrusted === "yes";',
    becomes: "return true;",
    test: "packages/policy/test/settings/layers.test.ts",
  },
  {
    guarantee: "SECURITY 8",
    fault: "a host's answer need not name what was shown",
    file: "packages/cli/src/headless/host/answers.ts",
    was: 'typeof id !== "string" || typeof fingerprint !== "string"',
    becomes: 'typeof id !== "string"',
    test: "packages/cli/test/headless/host/control.test.ts",
  },
];
