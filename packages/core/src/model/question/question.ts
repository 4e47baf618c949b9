/** One choice of a question. */
export type QuestionOption = { readonly label: string; readonly description?: string; readonly preview?: string };

/** A question with normalized texts. */
export type Question = {
  readonly id: string;
  readonly question: string;
  readonly header?: string;
  readonly options: readonly QuestionOption[];
  readonly multi: boolean;
  readonly recommended?: number;
};

/** A person's answer, with labels in the order chosen. */
export type QuestionAnswer = {
  readonly id: string;
  readonly selected: readonly string[];
  readonly custom?: string;
  readonly note?: string;
  /** Time ran out, so the marked choice was kept or the default taken. */
  readonly timedOut?: boolean;
  readonly automatic?: boolean;
};

/** A question as a model asks it. */
export type AskedQuestion = Omit<Question, "multi" | "recommended"> & { readonly multi?: boolean; readonly recommended?: number };

/** The choice to type an answer; reserved as an option label. */
export const OTHER = "Other (type your own)";

/** The choice that ends a multiple selection; reserved as an option label. */
export const DONE = "Done selecting";

const RESERVED: readonly string[] = [OTHER, DONE].map((label) => label.toLowerCase());
const LONGEST_LABEL = 200;

/** Normalizes questions, or says what is wrong. Labels are cleaned before comparing, so that no two look alike. */
export function readQuestions(asked: readonly AskedQuestion[]): { readonly questions: readonly Question[] } | { readonly fault: string } {
  if (asked.length === 0) return { fault: "questions must not be empty" };
  const questions = asked.map(normalizeQuestion);
  const seen = new Set<string>();
  for (const question of questions) {
    if (seen.has(question.id)) return { fault: `Duplicate question id "${question.id}"` };
    seen.add(question.id);
    const fault = optionFault(question);
    if (fault !== undefined) return { fault };
  }
  return { questions };
}

function normalizeQuestion({ id, question, header, options, multi = false, recommended }: AskedQuestion): Question {
  return {
    id,
    question,
    ...(header !== undefined && { header }),
    options: options.map((option) => ({ ...option, label: option.label.replaceAll("\r", "").normalize("NFC").trim() })),
    multi,
    ...(recommended !== undefined && Number.isInteger(recommended) && recommended >= 0 && recommended < options.length && { recommended }),
  };
}

function optionFault({ id, options }: Question): string | undefined {
  const labels = new Set<string>();
  for (const { label } of options) {
    if (label === "" || label.includes("\n") || label.length > LONGEST_LABEL) return `Invalid option label in question ${id}`;
    if (RESERVED.includes(label.toLowerCase())) return `Option "${label}" is reserved in question ${id}; the picker adds it`;
    if (labels.has(label)) return `Duplicate option "${label}" in question ${id}`;
    labels.add(label);
  }
  return undefined;
}

/** Why the answers do not fit the questions; undefined if they do. */
export function answersFault(questions: readonly Question[], answers: readonly QuestionAnswer[]): string | undefined {
  const strange = answers.find(({ id }) => !questions.some((question) => question.id === id));
  if (strange) return `There is no question ${strange.id}.`;
  for (const question of questions) {
    const [answer, ...more] = answers.filter(({ id }) => id === question.id);
    if (!answer) return `Question ${question.id} has no answer.`;
    if (more.length > 0) return `Question ${question.id} is answered twice.`;
    const fault = answerFault(question, answer);
    if (fault !== undefined) return `Question ${question.id}: ${fault}.`;
  }
  return undefined;
}

function answerFault({ options, multi }: Question, { selected, custom }: QuestionAnswer): string | undefined {
  const unknown = selected.find((label) => !options.some((option) => option.label === label));
  if (unknown !== undefined) return `there is no option "${unknown}"; a text of your own goes into custom`;
  if (new Set(selected).size < selected.length) return "an option is chosen twice";
  if (!multi && selected.length > 1) return "only one option can be chosen";
  return !multi && selected.length > 0 && custom !== undefined ? "it is one option or a text of your own" : undefined;
}

/** The answer when time runs out: the choice so far, else the recommended option, else the first. */
export function expiredAnswer({ id, options, recommended }: Question, soFar: QuestionAnswer | undefined): QuestionAnswer {
  if (soFar && isAnswered(soFar)) return { ...soFar, timedOut: true };
  const taken = options[recommended ?? 0];
  return { ...soFar, id, selected: taken ? [taken.label] : [], timedOut: true, ...(taken && { automatic: true }) };
}

/** True if something was chosen or typed. */
export function isAnswered({ selected, custom }: Pick<QuestionAnswer, "selected" | "custom">): boolean {
  return selected.length > 0 || custom !== undefined;
}
