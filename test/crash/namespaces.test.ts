import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutProgram } from "../support/programs.ts";
import { type ChildOptions, makeScene, type Scene, until } from "./scene.ts";

const PID_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const OTHER_HOST = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"];

/** A call under way: it waits for a person, or hangs in its effect. */
const WAITING = { argv: ["call", "world", "--json"], env: { ASSENT_TEST_PERSON: "1" }, event: "approval.opened" };
const IN_EFFECT = { argv: ["call", "world", "--mode", "yolo", "--json"], failpoint: "effect.before=hang", event: "call.claimed" };

type UnderWay = ChildOptions & { readonly argv: readonly string[]; readonly event: string };
type Holding = { readonly id: string; readonly end: () => Promise<void> };

/** Starts a call, waits until it is under way, and gives its session. */
async function holding(scene: Scene, { argv, event, ...options }: UnderWay): Promise<Holding> {
  assert.equal((await scene.json(["call", "world", "--deny", "world"])).outcome, "denied"); // makes the store
  const child = scene.start(argv, options);
  const ends = scene.finished(child);
  await until(`${event} is on record`, async () => (await scene.events()).some(({ type }) => type === event));
  const sessions: readonly { readonly id: string; readonly state: string }[] = await scene.json(["sessions"]);
  const id = sessions.find(({ state }) => state === "running")?.id;
  assert.ok(id, JSON.stringify(sessions));
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ends;
  };
  return { id, end };
}

async function errorOf(scene: Scene, argv: readonly string[], options: ChildOptions = {}): Promise<string | undefined> {
  const { stdout, stderr } = await scene.child([...argv, "--json"], options);
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout).error?.type;
}

describe("a session whose holder is in another namespace", { skip: withoutProgram("unshare"), concurrency: 2 }, () => {
  const ELSEWHERE: readonly (readonly [title: string, holder: ChildOptions, second: ChildOptions])[] = [
    ["a holder in another PID namespace", { under: PID_NAMESPACE }, {}],
    ["a second process in another PID namespace", {}, { under: PID_NAMESPACE }],
    ["a holder under another host name", { under: OTHER_HOST }, {}],
    ["a second process under another host name", {}, { under: OTHER_HOST }],
  ];
  for (const [title, holder, second] of ELSEWHERE) {
    test(`${title}: a plain resume is refused, and --take-over takes it`, async () => {
      using scene = makeScene();
      const { id, end } = await holding(scene, { ...WAITING, ...holder });
      assert.equal(await errorOf(scene, ["resume", id], second), "session_in_use");
      assert.equal(await errorOf(scene, ["resume", id, "--take-over"], second), undefined);
      await end();
      await scene.rest();
      await scene.holds();
    });
  }

  test("a holder in another PID namespace that is in the middle of an effect is neither ended nor taken over", async () => {
    using scene = makeScene();
    const { id, end } = await holding(scene, { ...IN_EFFECT, under: PID_NAMESPACE });
    assert.equal(await errorOf(scene, ["resume", id, "--take-over"]), "session_busy");
    await end();
    assert.equal(await errorOf(scene, ["resume", id]), "session_in_use", "nobody can tell from here that it is gone");
    assert.equal(await errorOf(scene, ["resume", id, "--take-over"]), undefined);
    assert.deepEqual([(await scene.ended()).at(-1)?.outcome, scene.lines()], ["unknown", []]);
    await scene.holds();
  });

  test("a holder under another host name that has ended leaves its session to a plain resume", async () => {
    using scene = makeScene();
    const { id, end } = await holding(scene, { ...WAITING, under: OTHER_HOST });
    await end();
    assert.equal(await errorOf(scene, ["resume", id]), undefined);
    await scene.holds();
  });
});
