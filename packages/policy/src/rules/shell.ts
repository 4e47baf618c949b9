import type { Request, Unit } from "@assent/core";
import { getShellUnit } from "../facts/units.ts";
import { type BroadMatch, compileBroad } from "../shell/match/broad-match.ts";
import { scanLongText } from "../shell/match/long-text.ts";
import { type RuleWords, readRuleWords } from "../shell/match/rule-words.ts";
import type { ShellLine } from "../shell/plan/shell-unit.ts";
import { runsOf } from "../shell/programs/table.ts";
import { commandName } from "../shell/read/command-name.ts";
import type { MatchAnswer, SeenCommand } from "../shell/walk/seen-command.ts";
import { isGlobProblem, type RuleFault, syntaxFault } from "./fault.ts";
import { describeRisk } from "./prefixes.ts";
import type { RuleOptions, RuleTest, WrittenRule } from "./rule.ts";
import { type AllowAnswer, matchCommand, sameScript } from "./shell-allow.ts";

/** Reads a command's words: `git log`, or `git *` with a tail. */
export function readShellRule(specifier: string, { verdict, bind }: WrittenRule, options: RuleOptions): RuleTest | RuleFault {
  const read = readRuleWords(specifier);
  if ("problem" in read) return wordsFault(read);
  const { words, tail } = read;
  if (words[0]?.text === "" || words.length === 0)
    return syntaxFault("a command rule starts with the command's name", "Write Shell(git log).");
  const record = { words: words.map(({ text, glob }) => (glob ? { glob: text } : text)), tail };
  if (verdict !== "allow") return { record, ...createBroadTest(read) };
  const isBound = bind?.script !== undefined || !tail; // the risk of a star includes that scripts change
  const rule = {
    words: words.map(({ text, glob }) => glob ?? text),
    tail,
    sameScript: isBound ? sameScript(bind?.script, options.scripts) : () => true,
  };
  const answer = (unit: Unit): AllowAnswer => {
    const shell = getShellUnit(unit);
    return shell ? matchCommand(rule, shell) : "no";
  };
  const lead = words.findIndex(({ glob }) => glob);
  const literal = words.slice(0, lead === -1 ? words.length : lead).map(({ text }) => text);
  const risk = tail || lead !== -1 ? describeRisk(literal) : undefined;
  return {
    record,
    test: (_: Request, unit: Unit): MatchAnswer => (answer(unit) === "yes" ? "yes" : "no"),
    whyNot: (unit) => {
      const said = answer(unit);
      return typeof said === "object" ? said : undefined;
    },
    ...(lead === -1 && { samples: [literal.map(quoteWord).join(" ")] }),
    ...(risk !== undefined && { risk }),
  };
}

function wordsFault({ problem, column }: { readonly problem: string; readonly column: number }): RuleFault {
  if (isGlobProblem(problem)) {
    return {
      type: "rule_bad_glob",
      message: problem,
      hint: "Close every [ with ]. To match a special character literally, put it in quotes.",
      column,
    };
  }
  return syntaxFault(problem, "Write plain words, as in Shell(git log). More complex commands always ask.", column);
}

export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_./:=@+,%^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Matches broadly if the line was parsed, by plain words if it is too long. */
function createBroadTest({ words }: RuleWords): Pick<RuleTest, "test" | "plainWords"> {
  let broad: BroadMatch | undefined; // compiled when the first command is tested, because it needs the table of programs
  const plain = words.some(({ glob }) => glob) ? undefined : words.map(({ text }) => text);
  const scan = createLongTest(plain);
  return {
    ...(plain && { plainWords: plain }),
    test: (request, unit) => {
      const shell = getShellUnit(unit);
      if (!shell) return testUnreadInput(scan, request);
      const { line, seen } = shell;
      if (line.tooLong) return scan(line);
      if (!seen) return answerWithoutCommand(line);
      broad ??= compileBroad(words);
      return matchBroadly(broad, seen);
    },
  };
}

function matchBroadly(broad: BroadMatch, seen: SeenCommand): MatchAnswer {
  const one = broad(seen);
  const bare = one === "yes" ? undefined : withoutVariables(seen);
  const other = bare ? broad(bare) : "no";
  return other === "no" ? one : other;
}

/** A wrapper without the `NAME=value` words before its command; undefined if there are none. */
function withoutVariables(seen: SeenCommand): SeenCommand | undefined {
  const [first] = seen.argv;
  const runs = first && !first.dynamic ? runsOf(commandName(first.text)) : undefined;
  if (!(runs && "assignments" in runs && runs.assignments)) return undefined;
  const argv = seen.argv.filter(({ text }, i) => i === 0 || text.startsWith("-") || !text.includes("="));
  return argv.length === seen.argv.length ? undefined : { ...seen, argv };
}

function answerWithoutCommand({ parsed, malformed }: ShellLine): MatchAnswer {
  return parsed || malformed ? "no" : "doubt";
}

type LineText = Pick<ShellLine, "text">;

function createLongTest(plain: readonly string[] | undefined): (line: LineText) => MatchAnswer {
  if (!plain) return () => "no";
  const denies = [plain];
  return ({ text }) => (scanLongText(text, denies) === undefined ? "no" : "yes");
}

/** An uninspected command: a textual match counts, everything else is in doubt. */
function testUnreadInput(scan: (line: LineText) => MatchAnswer, { input }: Request): MatchAnswer {
  const isHit = Object.values(input).some((value) => typeof value === "string" && scan({ text: value }) === "yes");
  return isHit ? "yes" : "doubt";
}
