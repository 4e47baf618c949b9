import { type Program, sameRow, TO_OUTPUT } from "../program.ts";
import type { ReadTable } from "../reads.ts";
import { onlyPlainNames } from "./text.ts";

/** Without a terminal, a pager only prints. */
const PAGER: ReadTable = { operands: "files", options: "-F -i -I -M -m -N -n -R -r -S -s -X --version", refine: onlyPlainNames };

/** Editors, pagers, databases and media. */
export const TOOLS: Readonly<Record<string, Program>> = {
  ...sameRow("vim nvim emacs", {
    version: "--version",
    writes: { operands: "all", keeps: true },
    runs: { how: "code", languages: ["escapes"] },
  }),
  ...sameRow("vi view ex ed", { writes: { operands: "all", keeps: true }, runs: { how: "code", languages: ["escapes"] } }),
  nano: { writes: { operands: "all", keeps: true } },
  less: {
    reads: PAGER,
    writes: { options: "-o=file -O=file --log-file=file --LOG-FILE=file" },
    runs: { how: "code", languages: ["escapes"] },
  },
  more: { reads: PAGER, runs: { how: "code", languages: ["escapes"] } },
  ...sameRow("mysql mariadb dc bc gnuplot", { runs: { how: "code", languages: ["escapes"] } }),
  man: { runs: { how: "options", options: "-P=script --pager=script -H=script --html=script" } },
  ...sameRow("bat delta", { runs: { how: "options", options: "--pager=script" } }),
  "redis-cli": { version: "--version -v" },
  psql: { writes: { options: "-o=file --output=file -L=file --log-file=file" }, runs: { how: "code", languages: ["escapes"] } },
  sqlite3: {
    writes: { operands: "first", script: /(?:\.(?:output|once|backup|save|log|clone|cd)|\binto)\s+["']?([^\s"']+)/gi },
    runs: { how: "code", languages: ["escapes"] },
  },
  pg_dump: { writes: { options: "-f=file --file=file" } },
  mysqldump: { writes: { options: "-r=file --result-file=file" } },
  ...sameRow("dot pv", { writes: TO_OUTPUT }),
  ffmpeg: { writes: { operands: "last", options: "-i=" } },
  ...sameRow("convert magick", { writes: { operands: "last" } }),
  kill: { match: { options: "-s= --signal= -n=", synonyms: ["-9 -KILL -SIGKILL", "-15 -TERM -SIGTERM", "-s --signal"] } },
  pkill: { match: { options: "-s= --signal= -u= -t= -g=", synonyms: ["-9 -KILL -SIGKILL", "-f --full"] } },
  killall: { match: { options: "-s= --signal= -u=", synonyms: ["-9 -KILL -SIGKILL"] } },
};
