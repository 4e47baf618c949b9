import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EventBodies } from "@assent/core";
import { readNeeds, whyNoWorker } from "../../src/worker/requirements.ts";

const RUN: EventBodies["session.created"] = {
  ...{
    cwd: "/p/sub",
    workspace: "/p",
    door: "run",
    mode: "default",
    model: null,
    version: "",
    parent: null,
    agent: null,
    policy: "",
    title: "",
  },
  options: { command: "run", detached: { prompt: "go", labels: { gpu: "yes" } } },
};

describe("which sessions a worker may continue", () => {
  const ROWS: readonly (readonly [sentence: string, created: EventBodies["session.created"] | undefined, expected: object | undefined])[] =
    [
      ["a detached run, with its labels", RUN, { workspace: "/p", labels: { gpu: "yes" } }],
      ["a call", { ...RUN, door: "call", options: {} }, { workspace: "/p", labels: {} }],
      ["no conversation in a terminal", { ...RUN, door: "tui" }, undefined],
      ["no run of a program that controls it", { ...RUN, options: { host: true } }, undefined],
      ["no session of an application", { ...RUN, door: "gate" }, undefined],
      ["no call that another agent runs", { ...RUN, door: "call", group: { client: "claude", title: "Claude Code", id: "1" } }, undefined],
      ["no background agent by itself", { ...RUN, parent: { session: "s_1", call: "c", task: "t" } }, undefined],
      ["no session without a beginning", undefined, undefined],
    ];
  for (const [sentence, created, expected] of ROWS) test(sentence, () => assert.deepEqual(readNeeds(created), expected));
});

describe("why no worker takes a session", () => {
  const needs = { workspace: "/p/a", labels: { gpu: "yes" } };
  const ROWS: readonly (readonly [sentence: string, workers: Parameters<typeof whyNoWorker>[0], expected: string | undefined])[] = [
    ["none runs", [], "no worker is running"],
    ["one has its workspace and its label", [{ workspaces: ["/p/a"], labels: { gpu: "yes", os: "linux" } }], undefined],
    ["one has the directory above", [{ workspaces: ["/p"], labels: { gpu: "yes" } }], undefined],
    ["one has the root directory", [{ workspaces: ["/"], labels: { gpu: "yes" } }], undefined],
    [
      "one has a directory with a similar name",
      [{ workspaces: ["/p/ab", "/p/a/b"], labels: { gpu: "yes" } }],
      "no worker has the workspace /p/a",
    ],
    [
      "one has the workspace with another label",
      [
        { workspaces: ["/p/a"], labels: { gpu: "no" } },
        { workspaces: ["/q"], labels: { gpu: "yes" } },
      ],
      "no worker with the workspace /p/a has the labels gpu=yes",
    ],
  ];
  for (const [sentence, workers, expected] of ROWS) test(sentence, () => assert.equal(whyNoWorker(workers, needs), expected));
});
