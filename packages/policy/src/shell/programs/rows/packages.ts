import { clientReads } from "../client-reads.ts";
import { type Match, type Program, sameRow, type Wrapper, type Writes } from "../program.ts";
import { type CommandEffects, effectsByTable, NO_EFFECTS, type OptionReading, type ReadTable, withHazard } from "../reads.ts";
import { isHarmlessJq } from "./text.ts";

const NPM_EXEC: Wrapper = {
  options: `-p= --package= -w= --workspace= --prefix= --registry= --cache= --userconfig= --loglevel= --script-shell= -y -n -q --yes --no
      --no-install --quiet --ignore-existing --workspaces --include-workspace-root --offline --prefer-offline --prefer-online -c=script
      --call=script`,
  moves: "-w --workspace --workspaces --prefix",
};

const DLX: Wrapper = {
  options: "-p= --package= --allow-build= --reporter= -C= --dir= -F= --filter= -q --quiet --silent -s",
  scriptFlags: "-c --shell-mode",
  moves: "-C --dir -F --filter",
};

const BUNX: Wrapper = { options: "-p= --package= --bun --verbose --silent --no-install" };

const UV: Wrapper = {
  options: `--from= --with= --with-editable= --with-requirements= -p= --python= --index= --index-url= --default-index= --extra-index-url=
      --directory= --project= --env-file= --extra= --group= --package= -w= -i= -f= --find-links= -q -v -n -U --quiet --verbose --isolated
      --no-cache --offline --refresh --upgrade --frozen --locked --no-sync --no-project --active --all-extras --dev --no-dev`,
  moves: "--directory",
};

/** Packages are installed in the working directory, or in one that an option names. */
const INSTALLS: Writes = { options: "--prefix=place -C=place --dir=place --cwd=place", makes: true };

const PIP: Match = {
  options: "--python= --log= --proxy= --cert= --cache-dir= --timeout= --retries=",
  synonyms: ["-y --yes", "-U --upgrade", "-r --requirement", "-i --index-url"],
  subcommands: true,
};

const GH_OPTIONS = "-R= --repo= --json= -q= --jq=";
const GH_LIST: ReadTable = {
  operands: "none",
  options: `${GH_OPTIONS} -L= --limit= -s= --state= -l= --label= -a= --assignee= -A= --author= -B= --base= -H= --head= -S= --search= -d --draft -b= --branch=
  -u= --user= -e= --event= -m= --milestone= --status= --sort= --order= -O= --all`,
  refine: onlyOnGitHub,
};
const GH_VIEW: ReadTable = { operands: "data", options: `${GH_OPTIONS} -c --comments`, refine: onlyOnGitHub };

/** An address or another host would send the request elsewhere. */
function onlyOnGitHub({ found, operands }: OptionReading, plain: CommandEffects): CommandEffects {
  const repositories = [...(found.get("-R") ?? []), ...(found.get("--repo") ?? [])];
  const programs = [...(found.get("-q") ?? []), ...(found.get("--jq") ?? [])];
  if (!repositories.every((name) => /^[\w.-]+\/[\w.-]+$/.test(name)) || !operands.every((name) => /^#?[\w.-]+(?:\/[\w.-]+)?$/.test(name)))
    return withHazard(plain, "unmodelled_option", "gh might ask another server than the one of this repository");
  return programs.every(isHarmlessJq) ? plain : withHazard(plain, "unmodelled_option", "The jq program may do more than read its input");
}

/** Package managers, and programs that run what they find in packages. */
export const PACKAGES: Readonly<Record<string, Program>> = {
  npm: {
    reads: npmReads,
    runs: { how: "runner", after: { exec: NPM_EXEC, x: NPM_EXEC } },
    match: {
      options: `--prefix= -C= -w= --workspace= --loglevel= --registry= --userconfig= --globalconfig= --cache= --tag= --otp= --access= --script-shell=
      -g --global -s --silent -d -dd -ddd -q --quiet -y --yes -f --force -D -S -O -E --workspaces --ignore-scripts --no-audit --no-fund`,
      synonyms: ["-g --global", "-f --force", "-D --save-dev", "-S --save", "-y --yes", "-w --workspace"],
      subcommands: true,
      subcommandSynonyms: [
        "install, i, add, in, ins, inst, insta, instal, isnt, isnta, isntal, isntall",
        "uninstall, un, unlink, remove, rm, r",
        "update, up, upgrade, udpate",
        "run, run-script, rum, urn",
        "test, t, tst",
        "exec, x",
        "ci, clean-install, ic, install-clean, isntall-clean",
        "config, c",
        "install-test, it",
        "install-ci-test, cit, clean-install-test, sit",
      ],
      shortens: true,
    },
    opaque: { except: "ls list ll la -v --version" },
    subcommands: {
      config: { writes: { only: "set delete edit fix", fixed: ["~/.npmrc"] } },
      set: { writes: { fixed: ["~/.npmrc"] } },
      pack: { writes: { options: "--pack-destination=place" } },
      ...sameRow("install i ci add update init uninstall", { writes: INSTALLS }),
    },
  },
  pnpm: {
    runs: { how: "runner", after: { dlx: DLX, exec: DLX } },
    match: {
      options: `-C= --dir= -F= --filter= --reporter= --loglevel= --config.registry= -r --recursive -w --workspace-root -s --silent`,
      synonyms: ["-g --global", "-f --force", "-r --recursive", "-D --save-dev"],
      subcommands: true,
      subcommandSynonyms: ["install, i", "remove, rm, uninstall, un", "update, up, upgrade", "exec, x", "run, run-script"],
      shortens: true,
    },
    opaque: true,
    subcommands: {
      config: { writes: { only: "set delete", fixed: ["~/.npmrc"] } },
      pack: { writes: { options: "--out=file --pack-destination=place" } },
      deploy: { writes: { operands: "all" } },
      ...sameRow("install i add update init remove", { writes: INSTALLS }),
    },
  },
  yarn: {
    runs: { how: "runner", after: { dlx: DLX, exec: {} } },
    match: {
      options: "--cwd= --registry= --cache-folder= --modules-folder= -s --silent --offline",
      synonyms: ["-f --force"],
      subcommands: true,
      shortens: true,
    },
    opaque: true,
    subcommands: {
      config: { writes: { only: "set unset", fixed: [".yarnrc.yml"] } },
      pack: { writes: { options: "-o=file --out=file --filename=file -f=file" } },
      ...sameRow("install add init remove", { writes: INSTALLS }),
    },
  },
  bun: {
    runs: { how: "runner", after: { x: BUNX }, languages: ["javascript"] },
    interprets: "code",
    opaque: true,
    subcommands: {
      build: { writes: { options: "--outfile=file --outdir=place" } },
      ...sameRow("install i add init", { writes: INSTALLS }),
    },
  },
  npx: { runs: { how: "runner", after: { "": NPM_EXEC } }, opaque: true },
  pnpx: { runs: { how: "runner", after: { "": DLX } }, opaque: true },
  bunx: { runs: { how: "runner", after: { "": BUNX } }, opaque: true },
  uvx: { runs: { how: "runner", after: { "": UV } }, opaque: true },
  uv: { runs: { how: "runner", after: { "tool run": UV, run: UV } }, opaque: { only: "run" } },
  ...sameRow("pip pip3", {
    match: PIP,
    subcommands: {
      install: { writes: { options: "--log=file --report=file -t=place --target=place --prefix=place --root=place --src=place" } },
      download: { writes: { options: "-d=place --dest=place" } },
      wheel: { writes: { options: "-w=place --wheel-dir=place" } },
    },
  }),
  pipx: {
    runs: {
      how: "runner",
      after: { run: { options: "--spec= --python= --pip-args= --index-url= -i= -q -v --no-cache --pypackages --quiet --verbose" } },
    },
    opaque: true,
  },
  poetry: { runs: { how: "runner", after: { run: {} } }, opaque: { only: "run" } },
  pipenv: { runs: { how: "runner", after: { run: {} } } },
  ...sameRow("bundle asdf rbenv pyenv nodenv fnm", { runs: { how: "runner", after: { exec: {} } } }),
  cargo: {
    match: {
      options: `--color= --config= -Z= -C= --manifest-path= --target-dir= --explain= -q --quiet -v --verbose -vv --locked --offline --frozen`,
      synonyms: ["-p --package", "-r --release", "-j --jobs"],
      subcommands: true,
      subcommandSynonyms: ["run, r", "build, b", "test, t", "check, c", "remove, rm", "doc, d"],
    },
    opaque: { only: "run" },
    subcommands: {
      new: { writes: { operands: "all" } },
      init: { writes: { operands: "all", keeps: true, makes: true } },
      install: { writes: { options: "--root=place --target-dir=place" } },
      build: { writes: { options: "--target-dir=place --out-dir=place --artifact-dir=place" } },
      test: { writes: { options: "--target-dir=place" } },
    },
  },
  go: {
    runs: {
      how: "options",
      options: `-run= -o= -tags= -C= -exec=script -toolexec=script -vettool=script --exec=script --toolexec=script --vettool=script`,
      text: /^--?(?:exec|toolexec|vettool)=([\s\S]*)$/,
    },
    match: { options: "-C=", subcommands: true },
    opaque: { only: "run generate" },
    subcommands: {
      build: { writes: { options: "-o=file" } },
      test: { writes: { options: "-o=file -coverprofile=file -cpuprofile=file -memprofile=file -outputdir=place" } },
    },
  },
  gh: {
    version: "--version version",
    reads: clientReads({
      ...Object.fromEntries(
        ["pr", "issue"].flatMap((kind) => [
          [`${kind} list`, GH_LIST],
          [`${kind} view`, GH_VIEW],
          [`${kind} status`, { ...GH_LIST, operands: "none" }],
        ]),
      ),
      "pr diff": { ...GH_VIEW, options: `${GH_VIEW.options} --name-only --patch --color=` },
      "pr checks": { ...GH_VIEW, options: `${GH_VIEW.options} --required` },
      "run list": { ...GH_LIST, options: `${GH_LIST.options} -w= --workflow=` },
      "run view": { ...GH_VIEW, options: `${GH_VIEW.options} -a= --attempt= -v --verbose --exit-status` },
      "workflow list": GH_LIST,
      "release list": GH_LIST,
      "release view": GH_VIEW,
      "label list": GH_LIST,
      "repo view": { ...GH_VIEW, options: "--json= -q= --jq= -b= --branch=" },
    }),
    match: {
      options: "-R= --repo= --hostname=",
      synonyms: ["-R --repo", "-X --method", "-f --raw-field", "-F --field", "-y --yes"],
      subcommands: true,
      subcommandSynonyms: ["pr create, pr new", "repo create, repo new", "repo delete, repo rm", "issue create, issue new"],
    },
  },
  brew: { match: { synonyms: ["-f --force"], subcommands: true, subcommandSynonyms: ["uninstall, remove, rm", "install, instal"] } },
  ...sameRow("apt apt-get", {
    runs: { how: "options", text: /-Invoke[\w:-]*=([\s\S]+)$/ },
    match: {
      options: "-c= --config-file= -o= --option= -t= --target-release= --default-release=",
      synonyms: ["-y --yes --assume-yes", "-q --quiet", "-s --simulate --dry-run"],
      subcommands: true,
    },
  }),
  ...sameRow("dnf yum", { match: { options: "-c= --config= -x= --exclude= --installroot= --releasever=", synonyms: ["-y --assumeyes"] } }),
  ...sameRow("conda mamba micromamba", {
    runs: {
      how: "runner",
      after: { run: { options: "-n= --name= -p= --prefix= --cwd= -v --no-capture-output --live-stream --dev", moves: "--cwd" } },
    },
  }),
  nix: { runs: { how: "words" }, opaque: true },
  "nix-shell": {
    runs: { how: "options", options: "-p= --packages= -A= --attr= -I= -i= --keep= --arg= --argstr= --run=script --command=script" },
    opaque: true,
  },
  ...sameRow("guix consul teller tox", { runs: { how: "words" } }),
  ...sameRow("direnv nvm aws-vault chamber", { runs: { how: "runner", after: { exec: { operands: 1 } } } }),
  mise: {
    runs: { how: "runner", after: { exec: { options: "-c=script --command=script" }, x: { options: "-c=script --command=script" } } },
  },
  ...sameRow("pixi pdm rye hatch op doppler infisical devbox volta honcho foreman toolbox", {
    runs: { how: "runner", after: { run: { options: "--command=script" } } },
  }),
  distrobox: { runs: { how: "runner", after: { enter: {} } } },
  sops: { runs: { how: "runner", after: { "exec-env": { operands: 1, rest: "script" }, "exec-file": { operands: 1, rest: "script" } } } },
  dotnet: { opaque: { only: "run" } },
};

/** What npm lists from files. Assent keeps it from the network, the cache and logs. */
const NPM_LISTS: Readonly<Record<string, ReadTable>> = {
  ...Object.fromEntries(
    ["ls", "list", "ll", "la"].map((name) => [
      name,
      {
        operands: "data",
        options: "-a --all --depth= --json -l --long -p --parseable --omit= --include= --link --prod --production --dev",
      } as const,
    ]),
  ),
  ...Object.fromEntries(["explain", "why"].map((name) => [name, { operands: "data", options: "--json" } as const])),
  ...Object.fromEntries(["root", "prefix", "run", "-v", "--version"].map((name) => [name, { operands: "none" } as const])),
};

/** Only lists, versions, and tests, whose script is bound to the approval. */
function npmReads(args: readonly string[]): CommandEffects {
  const [word = "", ...more] = args;
  const table = Object.hasOwn(NPM_LISTS, word) ? NPM_LISTS[word] : undefined;
  const listed = table && effectsByTable(more, table);
  if (listed && listed.hazards.length === 0 && more.every((name) => /^[\w@./=-]+$/.test(name))) return listed;
  const tests = word === "test" && more.length === 0;
  const hazards = tests ? [] : [{ id: "opaque_program", text: "npm runs scripts from packages, which Assent doesn't inspect" } as const];
  return { ...NO_EFFECTS, class: "opaque", hazards };
}
