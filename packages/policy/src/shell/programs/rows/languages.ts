import { FORMATTER, type Program, sameRow, TO_OUTPUT } from "../program.ts";

/** Interpreters, and programs that build and format code. */
export const LANGUAGES: Readonly<Record<string, Program>> = {
  python: { version: "--version -V", runs: { how: "code", languages: ["code"], modules: true }, interprets: "code", opaque: true },
  python3: { version: "--version -V" },
  ...sameRow("lua rscript", { runs: { how: "code", languages: ["code"] }, interprets: "code", opaque: true }),
  ...sameRow("pypy ipython luajit", { runs: { how: "code", languages: ["code"] }, opaque: true }),
  node: { version: "--version -v", runs: { how: "code", languages: ["javascript"] }, interprets: "code", opaque: true },
  nodejs: { runs: { how: "code", languages: ["javascript"] }, opaque: true },
  deno: { version: "--version -V", runs: { how: "code", languages: ["javascript"] }, interprets: "code", opaque: true },
  ...sameRow("tsx ts-node", { interprets: "file", opaque: true }),
  osascript: { interprets: "code", opaque: true },
  ...sameRow("raku r java jshell groovy scala kotlin guile erl elixir iex just task rake gradle mvn ant bazel", {
    opaque: true,
  }),
  ruby: {
    version: "--version",
    writes: { operands: "all", options: "-e=", only: "-i" },
    runs: { how: "code", languages: ["code", "quoting"] },
    interprets: "code",
    opaque: true,
  },
  ...sameRow("irb julia", { runs: { how: "code", languages: ["code", "quoting"] }, opaque: true }),
  perl: {
    version: "--version -v",
    writes: { operands: "all", options: "-e= -E=", only: "-i" },
    runs: { how: "code", languages: ["code", "quoting"] },
    interprets: "code",
    opaque: true,
  },
  php: { version: "--version -v", runs: { how: "code", languages: ["code", "quoting"] }, interprets: "code", opaque: true },
  tclsh: { runs: { how: "code", languages: ["expect"] }, interprets: "code", opaque: true },
  expect: { runs: { how: "code", languages: ["expect"] }, opaque: true },
  wish: { runs: { how: "code", languages: ["expect"] } },
  make: {
    version: "--version -v",
    writes: { options: "-C=place --directory=place" },
    match: {
      options: `-C= --directory= -f= --file= --makefile= -I= --include-dir= -o= --old-file= -W= --what-if= -E= --eval= -B -e -i -k -n -q -r -R -s -S -t
      -w --always-make --dry-run --silent`,
      synonyms: ["-f --file --makefile", "-C --directory", "-n --dry-run --just-print --recon"],
    },
    opaque: true,
  },
  gmake: { writes: { options: "-C=place --directory=place" }, opaque: true },
  ninja: { writes: { options: "-C=place" }, opaque: true },
  cmake: { version: "--version", writes: { options: "-B=place --build=place --install=place --prefix=place" } },
  meson: { writes: { operands: "after-first", options: "-C=place --destdir=place", only: "setup", keeps: true } },
  ...sameRow("gcc g++ clang", { version: "--version", writes: TO_OUTPUT }),
  ...sameRow("clang++ cc ld as rustc protoc flex bison", { writes: TO_OUTPUT }),
  javac: { writes: { options: "-d=place -s=place -h=place" } },
  tsc: { version: "--version -v", writes: { options: "--outFile=file --tsBuildInfoFile=file --outDir=place --declarationDir=place" } },
  esbuild: { writes: { options: "--outfile=file --metafile=file --outdir=place" } },
  objcopy: { writes: { operands: "all" } },
  strip: { writes: { operands: "all", options: "-o=file" } },
  ...sameRow("prettier gofmt eslint stylelint biome ruff shfmt goimports clang-format autopep8", { writes: FORMATTER }),
  ...sameRow("black isort rustfmt", { writes: { operands: "all", keeps: true } }),
};
