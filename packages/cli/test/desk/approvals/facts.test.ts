import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Json } from "@assent/core";
import { factNotes } from "../../../src/desk/approvals/facts.ts";

describe("what a person is shown besides the request itself", () => {
  const rows: readonly [sentence: string, facts: Json | undefined, notes: readonly (readonly [string, string])[]][] = [
    ["nothing was found out", undefined, []],
    ["facts of an unknown form", ["x"], []],
    [
      "a hazard, once",
      {
        hazards: [
          { id: "redirection", text: "writes out.txt" },
          { id: "redirection", text: "writes out.txt" },
        ],
      },
      [["risk", "writes out.txt"]],
    ],
    [
      "what is not known, in words alone",
      { hazards: [{ id: "unmodelled_option", text: "Assent can't predict what git push changes" }] },
      [["risk", "Assent can't predict what git push changes"]],
    ],
    ["a script with its digest", { scripts: [{ file: "a.sh", digest: "sha256:1" }] }, [["runs", "a.sh (sha256:1)"]]],
    [
      "a script that changed shows both digests",
      { scripts: [{ file: "a.sh", digest: "sha256:2", before: "sha256:1" }] },
      [["runs", "a.sh (sha256:2), changed since sha256:1"]],
    ],
    [
      "where a path really leads",
      { paths: [{ lexical: "/w/link/x", real: "/etc/x", inside: false, control: false }] },
      [
        ["leads", "to /etc/x"],
        ["risk", "outside the workspace"],
      ],
    ],
    [
      "a control file has its badge",
      { paths: [{ lexical: "/w/.mcp.json", real: "/w/.mcp.json", inside: true, control: true }] },
      [["risk", "a control file: it can steer agents or run code later"]],
    ],
    [
      "a command that runs confined",
      { containment: { confined: true, network: false } },
      [["sandbox", "confined: writes only in the workspace and a private /tmp, no network"]],
    ],
    [
      "a command that runs confined with network",
      { containment: { confined: true, network: true } },
      [["sandbox", "confined: writes only in the workspace and a private /tmp, with network"]],
    ],
    [
      "a command that runs outside the sandbox",
      { containment: { confined: false, reason: "no bubblewrap" } },
      [["sandbox", "none, it runs with your permissions: no bubblewrap"]],
    ],
    ["an ordinary file", { paths: [{ lexical: "/w/a", real: "/w/a", inside: true, control: false }] }, []],
  ];
  for (const [sentence, facts, notes] of rows) test(sentence, () => assert.deepEqual(factNotes(facts), notes));
});
