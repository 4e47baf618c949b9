import type { Block } from "./block.ts";

/** The unfinished part of a streamed answer. */
export type AnswerStream = {
  readonly open: readonly string[];
  readonly line: string;
  readonly fence: { readonly mark: string; readonly language: string } | undefined;
  /** No part of this answer is settled yet. */
  readonly first: boolean;
};

export const EMPTY_STREAM: AnswerStream = { open: [], line: "", fence: undefined, first: true };

/** Adds a delta; returns the blocks it completes. */
export function appendDelta(stream: AnswerStream, delta: string): { readonly stream: AnswerStream; readonly settled: readonly Block[] } {
  const lines = `${stream.line}${delta}`.split("\n");
  const line = lines.pop() ?? "";
  const state = { ...stream, open: [...stream.open] };
  const settled: Block[] = [];
  for (const each of lines) takeLine(state, each, settled);
  return { stream: { ...state, line }, settled };
}

export function endStream(stream: AnswerStream): readonly Block[] {
  const { settled, stream: rest } = appendDelta(stream, stream.line === "" ? "" : "\n");
  const state = { ...rest, open: [...rest.open] };
  const last: Block[] = [];
  settle(state, last);
  return [...settled, ...last];
}

export function openBlocks(stream: AnswerStream): readonly Block[] {
  const { open, line, fence, first } = stream;
  const lines = line === "" ? open : [...open, line];
  if (lines.length === 0) return [];
  if (fence) return [{ type: "code", language: fence.language, lines, first: false }];
  return [{ type: "answer", text: lines.join("\n"), first }];
}

type StreamState = { open: string[]; fence: AnswerStream["fence"]; first: boolean };

const FENCE = /^\s*(`{3,}|~{3,})\s*([^`\s]*)/;

function takeLine(state: StreamState, line: string, settled: Block[]): void {
  const fence = state.fence ? undefined : FENCE.exec(line);
  if (state.fence) takeCode(state, line, settled);
  else if (fence) {
    settle(state, settled);
    state.fence = { mark: fence[1] ?? "```", language: fence[2] ?? "" };
    settled.push({ type: "code", language: state.fence.language, lines: [], first: true });
  } else takeText(state, line, settled);
}

function takeText(state: StreamState, line: string, settled: Block[]): void {
  const isNewPart = state.open.at(-1) === "" && line !== "" && !/^\s/.test(line);
  if (isNewPart) settle(state, settled);
  if (line !== "" || state.open.length > 0) state.open.push(line);
}

function takeCode(state: StreamState, line: string, settled: Block[]): void {
  const mark = state.fence?.mark ?? "";
  if (line.trim().startsWith(mark) && line.trim().replaceAll(mark.charAt(0), "") === "") {
    state.fence = undefined;
    return;
  }
  settled.push({ type: "code", language: state.fence?.language ?? "", lines: [line], first: false });
  state.first = false;
}

function settle(state: StreamState, settled: Block[]): void {
  const text = state.open.join("\n").trimEnd();
  state.open = [];
  if (text === "") return;
  settled.push({ type: "answer", text, first: state.first });
  state.first = false;
}
