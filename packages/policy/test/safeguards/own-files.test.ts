import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Kind, Request } from "@assent/core";
import { createPathUnit } from "../../src/facts/units.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { controlFileSafeguard } from "../../src/safeguards/control-files.ts";
import { createOwnFilesDoubt, type OwnFiles, ownFilesSafeguard, resolveOwnPlaces } from "../../src/safeguards/own-files.ts";
import { findTouchedPaths } from "../../src/shell/effects/touched-paths.ts";
import { scratch } from "../scratch.ts";
import { type Sureness, shellRequest, shellUnits } from "../seen-line.ts";

function ownFiles(root: string): OwnFiles {
  return {
    stateDirectory: join(root, "home/state/assent"),
    settingsFiles: [join(root, "home/.config/assent/settings.json")],
    workspace: join(root, "ws"),
    home: join(root, "home"),
    commands: COMMANDS,
  };
}

/** Some that look, and some that act. */
const COMMANDS: NonNullable<OwnFiles["commands"]> = [
  { name: "log", looks: true },
  { name: "explain", looks: true },
  { name: "grants", looks: true },
  { name: "grants revoke" },
  { name: "approvals show", looks: true },
  { name: "approve" },
];

type Judged = { readonly request: Request; readonly unit: Request["units"][number] };

function opinions(root: string, judged: readonly Judged[]): readonly string[] {
  const files = ownFiles(root);
  const own = resolveOwnPlaces(files);
  const [safeguards, doubt] = [[ownFilesSafeguard(own), controlFileSafeguard(files)], createOwnFilesDoubt(own)];
  return judged.flatMap(({ request, unit }) => {
    const said = safeguards
      .map(({ id, check }) => ({ id, verdict: check(request, unit).verdict }))
      .filter(({ verdict }) => verdict !== "none");
    return [...said.map(({ id, verdict }) => `${id} ${verdict}`), ...(doubt(request, unit) === undefined ? [] : ["deny-in-doubt ask"])];
  });
}

function judgePath(root: string, kind: Kind, path: string): readonly string[] {
  const look = createPathLookup({
    workspace: join(root, "ws"),
    home: join(root, "home"),
    readable: [join(root, "home/state/assent/output/s_1")],
  });
  const unit = createPathUnit(look(path, join(root, "ws")));
  return opinions(root, [
    { unit, request: { tool: "t", toolDigest: "", kind, input: {}, cwd: join(root, "ws"), binds: {}, units: [unit] } },
  ]);
}

type Line = { readonly cwd?: string; readonly sure?: Sureness; readonly looked?: boolean };

/** What is said about a line, denies alone where there are some; `looked`: its paths were resolved on the disk. */
function judgeLine(root: string, text: string, { cwd = "ws", sure = "plain", looked = true }: Line = {}): readonly string[] {
  const look = createPathLookup({ workspace: join(root, "ws"), home: join(root, "home") });
  const units = shellUnits(text.replaceAll("R/", `${root}/`), join(root, cwd), sure);
  const seen = looked ? units.map((unit) => ({ ...unit, touched: findTouchedPaths(unit, { home: join(root, "home"), look }) })) : units;
  const said = [...new Set(opinions(root, seen.map(shellRequest)))];
  const denies = said.filter((one) => one.endsWith("deny"));
  return denies.length > 0 ? denies : said;
}

function makePlace(root: string): void {
  for (const directory of ["ws/.assent/plans", "home/state/assent/output/s_1", "home/.config/assent"])
    mkdirSync(join(root, directory), { recursive: true });
  symlinkSync(".assent", join(root, "ws/alias"));
  symlinkSync("../home/state/assent", join(root, "ws/elsewhere"));
  symlinkSync("..", join(root, "ws/.assent/plans/up"));
  symlinkSync("loop", join(root, "ws/loop"));
  mkdirSync(join(root, "ws/linked"));
  symlinkSync("../../home", join(root, "ws/linked/.assent"));
}

const DENY = ["own-files deny"];
const NONE: readonly string[] = [];
const PATHS: readonly (readonly [name: string, kind: Kind, path: string, opinions: readonly string[]])[] = [
  ["editing the project's settings", "edit", ".assent/settings.json", DENY],
  ["in another case", "edit", ".Assent/Settings.json", DENY],
  ["with trailing dots", "edit", ".assent./settings.json", DENY],
  ["a file of .assent that does not exist yet", "edit", ".assent/hooks/new.sh", DENY],
  ["a nested .assent", "edit", "sub/.assent/settings.json", DENY],
  [".assent as a whole", "delete", ".assent", DENY],
  ["through a link", "edit", "alias/settings.json", DENY],
  ["a .assent that is a link to somewhere else", "edit", "linked/.assent/settings.json", DENY],
  ["a plan", "edit", ".assent/plans/today.md", NONE],
  ["the directory of plans as a whole", "delete", ".assent/plans", DENY],
  ["out of the plans by dots", "edit", ".assent/plans/../settings.json", DENY],
  ["out of the plans by a link", "edit", ".assent/plans/up/settings.json", DENY],
  ["a .assent among the plans", "edit", ".assent/plans/.assent/settings.json", DENY],
  ["a plan below another .assent", "edit", ".assent/x/.assent/plans/a.md", DENY],
  ["reading the project's settings", "read", ".assent/settings.json", NONE],
  ["a name that only looks alike", "edit", ".assent-notes/a.md", NONE],
  ["editing the user's settings", "edit", "../home/.config/assent/settings.json", DENY],
  ["reading the user's settings", "read", "../home/.config/assent/settings.json", NONE],
  ["editing the ledger", "edit", "../home/state/assent/ledger.db", DENY],
  ["reading the ledger", "read", "../home/state/assent/ledger.db", DENY],
  ["searching the state directory", "search", "../home/STATE/assent", DENY],
  ["the state directory through a link", "read", "elsewhere/ledger.db", DENY],
  ["a tool of unknown kind", "other", "elsewhere/trust.json", DENY],
  ["reading the session's own output", "read", "../home/state/assent/output/s_1/c1.txt", NONE],
  ["writing to the session's own output", "edit", "../home/state/assent/output/s_1/c1.txt", DENY],
  ["reading another session's output", "read", "../home/state/assent/output/s_2/c1.txt", DENY],
  ["writing through an unresolvable path", "edit", "loop/x", ["deny-in-doubt ask"]],
  ["reading through an unresolvable path", "read", "loop/x", NONE],
  ["deleting a directory above the user's settings", "delete", "../home/.config", DENY],
  ["moving the workspace away", "move", ".", DENY],
  ["a tool that works somewhere in the workspace", "other", ".", NONE],
  ["deleting another directory", "delete", "../home/.config/other", NONE],
  ["an ordinary file", "edit", "src/a.ts", NONE],
];
for (const [name, kind, path, opinions] of PATHS) {
  test(`${name} (${kind}): ${opinions[0] ?? "no opinion"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.deepEqual(judgePath(root, kind, path), opinions);
  });
}

const DOUBT = ["deny-in-doubt ask"];
const CONTROL = ["control-file ask"];
const BOTH = ["control-file ask", "deny-in-doubt ask"];

/** `R` is the directory around the workspace `ws` and the home `home`; lines run in the workspace. */
const LINES: readonly (readonly [line: string, opinions: readonly string[]])[] = [
  ["echo x > .assent/settings.json", DENY],
  ["npm test > .assent/settings.json", DENY],
  ["echo x >> .ASSENT/settings.json", DENY],
  ["echo x > ./sub/../.assent/settings.json", DENY],
  ["echo x > R/ws/.assent/settings.json", DENY],
  ["echo x > sub/.assent/new", DENY],
  ["echo x > alias/settings.json", DENY],
  ["tee .assent/settings.json", DENY],
  ["sed -i s/x/y/ .assent/settings.json", DENY],
  ["cp x .assent/settings.json", DENY],
  ["cp settings.json .assent", DENY],
  ["mv .assent x", DENY],
  ["rm -rf .assent", DENY],
  ["rm .assent/settings.json", DENY],
  ["ln .assent/settings.json x", DENY],
  ["ln -s .assent x", DENY],
  ["ln -s ../settings.json .assent/plans/l", DENY],
  ["ln -s ../tools/x.ts .assent/plans/", DENY],
  ["ln -s ../settings.json .assent/plans", DENY],
  ["ln -t .assent/plans -s ../settings.json", DENY],
  ["dd if=x of=.assent/settings.json", DENY],
  ["tar xf a.tar -C .assent", DENY],
  ["git checkout -- .assent/settings.json", DENY],
  ["touch .assent/$X", DENY],
  ["rm .assent/hooks/*", DENY],
  ["echo x > .assent/plans/today.md", NONE],
  ["echo x > .assent/plans/$X", NONE],
  ["echo x > ~/.config/assent/settings.json", DENY],
  ["echo x > $HOME/.config/assent/settings.json", DENY],
  ["rm -rf ~/.config", DENY],
  ["rm -rf ~/state", DENY],
  ["rm -rf R/home/state", DENY],
  ["cat ~/state/assent/ledger.db", DENY],
  ["cat ~/'state'/assent/ledger.db", DENY],
  ['cat "$HOME"/state/ass"ent"/ledger.db', DENY],
  ["cat ~/state/assent/*", DENY],
  ["grep -f~/x --file=~/state/assent/$F y", DENY],
  ["cat ../home/state/assent/ledger.db", DENY],
  ["sqlite3 -readonly ../home/state/ASSENT/ledger.db", DENY],
  ["dd if=R/home/state/assent/ledger.db", DENY],
  ["cp -r ~/state x", DENY],
  ["cp -r ~/ x", DENY],
  ["cat < R/home/state/assent/ledger.db", DENY],
  ["ls ../home/state", NONE],
  ["python3 -c open('~/state/assent/ledger.db')", DENY],
  ["assent trust", DENY],
  ["mv ../.config{,.bak}", DOUBT],
  ["mv {.assent,x}", DOUBT],
  ["mv $X", DOUBT],
  ["cp *", DOUBT],
  ["cp $X build/", NONE],
  ["assent approve a_1", DENY],
  ["../clone/packages/cli/bin/assent.js trust", DENY],
  ["node ../clone/packages/cli/bin/assent.js approve a_1", DENY],
  ["node --no-warnings assent.js trust", DENY],
  ["node assent.js log", NONE],
  ["cat assent.js trust", NONE],
  ["/usr/local/bin/assent grants revoke g_1", DENY],
  ["assent grants", NONE],
  ["assent grants g_1", NONE],
  ["assent grants --limit 5 revoke g_1", DENY],
  ["assent approvals show a_1", NONE],
  ["assent approvals", DENY],
  ["assent imagined", DENY],
  ["assent log", NONE],
  ["assent log approve", NONE],
  ["assent --json explain", NONE],
  ["cat .assent/settings.json", NONE],
  ["git add .assent/settings.json", NONE],
  ["echo x > $F", DOUBT],
  ["echo x > $HOME/$F", DOUBT],
  ["echo x > $HOME/src/$F", NONE],
  ['echo x > "$HOME/.config/assent/settings.json"', DENY],
  ['echo x > "$HOME"/.config/assent/settings.json', DENY],
  [`echo x > "\${HOME}/.config"/assent/settings.json`, DENY],
  ["echo x > $PWD/.assent/x", DENY],
  ['echo x > "$PWD/.assent"/$F', DENY],
  ["echo x > $HOMEX/.config/assent/settings.json", DOUBT],
  ['echo x > ".assent/$F"', DENY],
  ["echo x > '.ass'ent/$F", DENY],
  ["echo x > .ass\\ent/$F", DENY],
  ['echo x > "src/$F"', NONE],
  ['echo x > "$F"', DOUBT],
  ["mkdir -p {src,test}", NONE],
  ["mkdir -p {src,.assent}/x", DENY],
  ["mkdir -p a{b,c{d,e}}", NONE],
  ["touch {a,$F}", DOUBT],
  ["echo x > ~root/x", DOUBT],
  ["echo x > build/$F", NONE],
  ["echo x > log-$F", NONE],
  ["echo x > .as$F", DOUBT],
  ["rm -rf .*", BOTH],
  ["rm -rf *", NONE],
  ["git clone https://example.test/x ~/.config", BOTH],
  ["cat ~/sta*/assent/ledger.db", DOUBT],
  ["cat ~/sta*/*/ledger.db", DOUBT],
  ["cat ~/s?ate/assent/x", DOUBT],
  ["cat ~/state/ass$X", DOUBT],
  ["cat < ~/state/*/ledger.db", DOUBT],
  ["grep --file=$HOME/st*/assent/x y", DOUBT],
  ["cat $XDG_STATE_HOME/assent/ledger.db", DENY],
  ["ls ~/st*", NONE],
  ["cat ~/*.md", NONE],
  ["cat ~/no*/assent/x", NONE],
  ["ls $X", NONE],
  ["cat ~/$X", NONE],
  ["rm -f *.log", NONE],
  ["cp $F dist/", NONE],
  ["cp $F .", DOUBT],
  ["ls $X", NONE],
  ["cat $X", NONE],
  ["rm -rf .", DENY],
  ["rm -rf R/ws", DENY],
  ["chmod -R u+w .", BOTH],
  ["tar xf a.tar", BOTH],
  ["git clean -fdx", BOTH],
  ["rm -rf build", NONE],
  ["rm -rf sub/", NONE],
  ["find . -name x -delete", BOTH],
  ["echo x > loop/x", DOUBT],
  ["echo x > src/a.ts", NONE],
  ["echo x > /dev/null", NONE],
  ["cd .assent; cd ..; echo x > src/a.ts", NONE],
  ["echo x > .git/hooks/pre-commit", CONTROL],
];
for (const [line, said] of LINES) {
  test(`the line "${line}": ${said.join(", ") || "no opinion"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.deepEqual(judgeLine(root, line), said);
  });
}

type Scene = "there" | "absent" | "link";

/** What is at `~/.config`: a directory with settings in it, nothing, or a link to such a directory. */
function makeScene(root: string, scene: Scene): void {
  makePlace(root);
  for (const directory of ["ws/evil/assent", "ws/sub", "ws/.config/assent", "home/.config/foo"])
    mkdirSync(join(root, directory), { recursive: true });
  const config = join(root, "home/.config");
  if (scene === "absent") rmSync(config, { recursive: true });
  if (scene !== "link") return;
  mkdirSync(join(root, "home/dotfiles"));
  renameSync(config, join(root, "home/dotfiles/config"));
  symlinkSync("dotfiles/config", config);
}

/** Directories above Assent's own files. */
const ABOVE: readonly (readonly [scene: Scene, line: string, opinions: readonly string[]])[] = [
  ["there", "cp -r evil/assent ~/.config/", DENY],
  ["there", "cp -r evil/assent ../home/.config", DENY],
  ["there", "cp -r evil/assent/ $HOME/.config", DENY],
  ["there", "cp -r -t ~/.config evil/assent", DENY],
  ["there", "cp --parents -r .config/assent ~", DENY],
  ["there", "cp --parents .config/assent/settings.json ~", DENY],
  ["there", "rsync -aR .config/assent/settings.json ~", DENY],
  ["there", "rsync -a evil/assent ~/.config", DENY],
  ["there", "scp -r host:assent ~/.config", DENY],
  ["there", "mv evil/assent ~/.config", DENY],
  ["there", "mv evil ~/.config/assent", DENY],
  ["there", "cp -rT evil/assent ~/.config/assent", DENY],
  ["there", "ln -sfn $PWD/evil/assent ../home/.config/assent", DENY],
  ["there", "ln -sfT $PWD/evil ~/.config", DENY],
  ["there", "ln -s $PWD/evil/assent ~/.config", DENY],
  ["there", "mv -T evil ~/.config", DENY],
  ["there", "mv ~/.config x", DENY],
  ["there", "rmdir ~/.config/assent", DENY],
  ["there", "mv evil ~/state", NONE],
  ["there", "cp -r evil/assent ~/state", DENY],
  ["there", "mv ../ws ../old", DENY],
  ["there", "ln -sfn $PWD/evil ../ws", DENY],
  ["there", "echo x > ~/.config", DENY],
  ["there", "cp -rT evil ~/.config", BOTH],
  ["there", "cp -r evil/. ~/.config", BOTH],
  ["there", "cp -r evil/* ~/.config", DOUBT],
  ["there", "cp -r $X ~/.config", DOUBT],
  ["there", "rsync -a evil/ ~/.config/", BOTH],
  ["there", "tar -C ~/.config -xf a.tar", BOTH],
  ["there", "unzip a.zip -d ~/.config", BOTH],
  ["there", "7z x a.7z -o../home/.config", BOTH],
  ["there", "ln -s ~/.config x", BOTH],
  ["there", "mv evil ~/.config", NONE],
  ["there", "cp -r evil ../home/.config", NONE],
  ["there", "cp a.txt ~/.config/", NONE],
  ["there", "cp a.txt ~", NONE],
  ["there", "cp -r evil ~", NONE],
  ["there", "mv a.txt ..", NONE],
  ["there", "mkdir -p ~/.config/foo", NONE],
  ["there", "mkdir -p ~/.config/assent", NONE],
  ["there", "install -d ~/.config/assent", NONE],
  ["there", "touch ~/x", NONE],
  ["there", "touch ~/.config", NONE],
  ["there", "chmod 755 .", NONE],
  ["there", "rm ~/.config/foo", NONE],
  ["there", "rm -rf ~/.config/foo", NONE],
  ["there", "mv ~/.config/foo ~/.config/bar", NONE],
  ["there", "ln -s $PWD/evil ~/.config/evil", NONE],
  ["there", "mktemp -p ~/.config", NONE],
  ["absent", "ln -s $PWD/evil ~/.config", DENY],
  ["absent", "mv evil ../home/.config", DENY],
  ["absent", "cp -r evil ../home/.config", DENY],
  ["absent", "cp -r evil ~/.config/", DENY],
  ["absent", "mkdir -p ~/.config; cp -r evil ~/.config/", DOUBT],
  ["absent", "mkdir ~/.config", NONE],
  ["absent", "mkdir -p ~/.config/foo", NONE],
  ["absent", "cp a.txt ~/.config/foo/", NONE],
  ["link", "ln -sfn $PWD/evil ../home/.config", DENY],
  ["link", "rm ../home/.config", DENY],
  ["link", "unlink ../home/.config", DENY],
  ["link", "cp -r evil/assent ~/.config/", DENY],
  ["link", "cp -r evil/assent ~/dotfiles/config", DENY],
  ["link", "mv ~/dotfiles ~/old", DENY],
  ["link", "rm ~/.config/foo", NONE],
  ["link", "cp a.txt ~/.config/", NONE],
];
for (const [scene, line, said] of ABOVE) {
  test(`with ~/.config ${scene}, "${line}": ${said.join(", ") || "no opinion"}`, (t) => {
    const root = scratch(t);
    makeScene(root, scene);
    assert.deepEqual(judgeLine(root, line), said);
  });
}

test("where links lead on to links, each directory between them counts", (t) => {
  const root = scratch(t);
  makeScene(root, "link");
  renameSync(join(root, "home/dotfiles/config/assent"), join(root, "home/real"));
  symlinkSync("../../real", join(root, "home/dotfiles/config/assent"));
  for (const line of ["mv ~/dotfiles x", "rm -rf ~/dotfiles/config", "rm ~/dotfiles/config/assent", "rm -r ~/real"])
    assert.deepEqual(judgeLine(root, line), DENY, line);
});

/** Writers that are not asked for a file by its name alone. */
const WRITERS: readonly string[] = [
  "ln -s x/.assent",
  "install -d .assent/x",
  "git init --separate-git-dir=.assent",
  "git init --separate-git-dir .assent x",
  "git --git-dir=.assent init",
  "git -C .assent init",
  "git init .assent",
  "git clone https://example.test/x/.assent.git",
  "git checkout-index -a --prefix=.assent/",
  "make -C .assent",
  "make -j4 --directory=.assent all",
  "time -o .assent/settings.json true",
  "strace -f -o .assent/settings.json true",
  "tree -o .assent/settings.json",
  "flock .assent/settings.json true",
  "flock -w 1 .assent/settings.json true",
  "mktemp -p .assent",
  "mktemp --tmpdir=.assent",
  "mktemp .assent/XXXXXX",
  "npm pack --pack-destination .assent",
  "npm --prefix .assent install",
  "npm install --prefix .assent",
  "pip install -t .assent x",
  "go build -o .assent/settings.json",
  "tsc --outDir .assent",
  "docker cp c:/settings.json .assent",
  "shuf -o .assent/settings.json a",
  "sqlite3 a.db .once@.assent/settings.json",
  "socat - CREATE:.assent/settings.json",
  "7z x a.7z -o.assent",
];
for (const line of WRITERS) {
  test(`7: the line "${line}" is denied`, (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.deepEqual(judgeLine(root, line), DENY);
  });
}

/** Lines of every day. */
const EVERYDAY: readonly string[] = [
  ...[
    "npm install",
    "npm ci",
    "npm install --save-dev x",
    "npm run build > build.log",
    "npm test 2> /dev/null",
    "make -C sub",
    "make -C .",
  ],
  ...["cp src/a.ts src/b.ts", "cp -r src dist", "cp a.txt .", "cp -r ../other .", "cp -r sub ..", "cp ~/notes.txt ."],
  ...["rm -rf dist node_modules", "rm -rf ./build/", "rm -f *.log", "rm -rf /tmp/some-build", "mkdir -p out/x", "mv a b", "mv a sub/"],
  ...["tar xf a.tgz -C vendor", "tar czf a.tgz src", "unzip a.zip -d vendor", "git commit -m x", "git checkout .", "git checkout -b x"],
  ...[
    "git restore .",
    "git init",
    "git init .",
    "git clone https://example.test/x.git",
    "git clone https://example.test/x.git .",
    "git add .",
  ],
  ...[
    "sed -i s/a/b/ src/a.ts",
    "echo x >> notes.txt",
    "echo x > /tmp/x.txt",
    "prettier --write .",
    "gofmt -w .",
    "eslint --fix .",
    "vim .",
  ],
  ...["chmod +x run.sh", "touch .", "ln -s ../lib/x y", "ln -s $PWD/bin/x ~/bin/x", "mktemp", "mktemp -d", "flock /tmp/lock true", "tsc"],
  ...[
    "gzip -r sub",
    "install -m 755 a bin/a",
    "time ls",
    "tsc --outDir dist",
    "find . -name x -print",
    "patch -p1 -d sub",
    "docker build .",
  ],
];
for (const line of EVERYDAY) {
  test(`the everyday line "${line}" does not concern these safeguards`, (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.deepEqual(judgeLine(root, line), NONE);
  });
}

/** Lines of which nobody could tell where their commands run. */
const MOVING: readonly (readonly [line: string, opinions: readonly string[]])[] = [
  ["cd .assent; echo x > settings.json", DOUBT],
  ["cd sub; echo x > settings.json", NONE],
  ["cd $X; echo x > settings.json", DOUBT],
  ["cd $X; echo x > /tmp/settings.json", NONE],
  ["cd; echo x > notes", NONE],
  ["cd; echo x > .config/assent/settings.json", DOUBT],
  ["cd -; echo x > notes", NONE],
  ["pushd .assent; touch a", DOUBT],
  ['cd "$HOME/.config"; touch assent/settings.json', DOUBT],
];
for (const [line, said] of MOVING) {
  test(`in an unknown directory, "${line}": ${said.join(", ") || "no opinion"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    assert.deepEqual(judgeLine(root, line, { sure: "unknown" }), said);
    assert.deepEqual(judgeLine(root, line, { sure: "inside" }), said);
  });
}

test("a line that runs in .assent or in the state directory is denied", (t) => {
  const root = scratch(t);
  makePlace(root);
  assert.deepEqual(judgeLine(root, "touch a", { cwd: "ws/.assent" }), DENY);
  assert.deepEqual(judgeLine(root, "ls", { cwd: "home/state/assent" }), DENY);
});

test("without a look at the disk paths still count as they are written", (t) => {
  const root = scratch(t);
  makePlace(root);
  assert.deepEqual(judgeLine(root, "echo x > .assent/settings.json", { looked: false }), DENY);
  assert.deepEqual(judgeLine(root, "echo x > alias/settings.json", { looked: false }), NONE);
});

test("a shell line that spells out the state directory anywhere, in any case, is denied", (t) => {
  const root = scratch(t);
  makePlace(root);
  const state = join(root, "home/state/assent");
  const line = (input: Request["input"]): readonly string[] => {
    const unit = { subject: "sh" };
    return opinions(root, [{ unit, request: { tool: "t", toolDigest: "", kind: "execute", input, cwd: root, binds: {}, units: [unit] } }]);
  };
  assert.deepEqual(line({ command: `ls; cat '${state}/ledger.db'` }), DENY);
  assert.deepEqual(line({ command: `cat ${state.toUpperCase()}` }), DENY);
  assert.deepEqual(line({ command: "ls", cwd: state }), DENY);
  assert.deepEqual(line({ command: "cat ~/state/assent/ledger.db" }), DENY);
  assert.deepEqual(line({ command: "ls /home" }), NONE);
});

test("a tool that runs nothing may speak of the state directory", (t) => {
  const root = scratch(t);
  makePlace(root);
  const unit = { subject: "note" };
  const input = { text: join(root, "home/state/assent") };
  const said = (["execute", "other", "think", "edit", "fetch"] as const).map((kind) => {
    const request = { tool: "t", toolDigest: "", kind, input, cwd: root, binds: {}, units: [unit] };
    return opinions(root, [{ unit, request }]);
  });
  assert.deepEqual(said, [DENY, NONE, NONE, NONE, NONE]);
});

test("a name of which only the start is known may lead to the team's settings, or cannot", (t) => {
  const root = scratch(t);
  makePlace(root);
  const doubt = createOwnFilesDoubt(resolveOwnPlaces({ ...ownFiles(root), settingsFiles: ["/etc/assent/settings.json"] }));
  const asked = (path: string): boolean =>
    shellUnits(`echo x > ${path}`, join(root, "ws"))
      .map(shellRequest)
      .some(({ request, unit }) => doubt(request, unit) !== undefined);
  assert.deepEqual(["/e$X", "/et$X", "/etc/$X", "/etc/a$X", "/etc/assent/s$X", "/ex$X", "/etc/b$X", "/etc/assent/t$X"].map(asked), [
    true,
    true,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("a plan in the state directory may be written and read, and nothing else there", (t) => {
  const root = scratch(t);
  makePlace(root);
  const plan = join(root, "home/state/assent/plans/s_1.md");
  const look = createPathLookup({ workspace: join(root, "ws"), home: join(root, "home"), planFile: () => plan });
  const said = (kind: Kind, path: string): readonly string[] => {
    const unit = createPathUnit(look(path, join(root, "ws")));
    const request = { tool: "t", toolDigest: "", kind, input: {}, cwd: join(root, "ws"), binds: {}, units: [unit] };
    return opinions(root, [{ unit, request }]);
  };
  assert.deepEqual([said("edit", plan), said("read", plan)], [[], []]);
  assert.deepEqual([said("delete", plan), said("move", plan)], [["own-files deny"], ["own-files deny"]]);
  assert.deepEqual(said("edit", join(root, "home/state/assent/plans/s_2.md")), ["own-files deny"]);
});
