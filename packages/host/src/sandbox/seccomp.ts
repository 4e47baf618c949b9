import { CHECKED_CALLS, MISSING_CALLS, MODE_CALLS, REFUSED_CALLS } from "./system-calls.ts";

/** One instruction of a classic BPF program. `yes` and `no` count instructions to skip. */
type Instruction = { readonly code: number; readonly yes: number; readonly no: number; readonly value: number };

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in the kernel's `seccomp_data`; arguments are read as their lower 32 bits. */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const argumentAt = (index: number): number => 16 + 8 * index;

const ALLOW = 0x7fff0000;
const fail = (errno: number): number => 0x00050000 | errno;
const NOT_PERMITTED = fail(1);
const NO_SUCH_CALL = fail(38);
const NO_SUCH_FAMILY = fail(97);

const PROCESSORS = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
} as const;

/** Calls of the x32 interface start here. Its numbers would pass the table. */
const X32_START = 0x40000000;

/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. In `clone`, the lowest byte is a signal instead of NEWTIME. */
const NEW_NAMESPACE = 0x7e020000;
const NEW_TIME = 0x80;

/** They put keys into the input of a terminal. */
const TERMINAL_INJECTIONS = [0x5412, 0x541c];

/** Other users of the machine could run a setuid file with your permissions. */
const SETUID = 0o4000;
/** O_CREAT and O_TMPFILE. Without them the mode is ignored and may be anything. */
const CREATES = 0o20000100;

/** Unix, IPv4, IPv6, netlink. Others, such as vsock, are not part of the network namespace or are never needed. */
const FAMILIES = [1, 2, 10, 16];

/** The filter for a processor as `--seccomp` of bubblewrap reads it, or undefined where we have no table. */
export function createSystemCallFilter(processor: string): Uint8Array | undefined {
  if (processor !== "x64" && processor !== "arm64") return undefined;
  const { audit, column } = PROCESSORS[processor];
  const program: Instruction[] = [
    load(ARCHITECTURE),
    { code: IF_EQUAL, yes: 1, no: 0, value: audit },
    end(NOT_PERMITTED),
    load(CALL_NUMBER),
    ...(processor === "x64" ? [{ code: IF_AT_LEAST, yes: 0, no: 1, value: X32_START }, end(NO_SUCH_CALL)] : []),
    ...listed(REFUSED_CALLS, column, NOT_PERMITTED),
    ...listed(MISSING_CALLS, column, NO_SUCH_CALL),
    ...checked(CHECKED_CALLS.clone[column], 0, [...ifAnyBit(NEW_NAMESPACE, NOT_PERMITTED)]),
    ...checked(CHECKED_CALLS.unshare[column], 0, [...ifAnyBit(NEW_NAMESPACE | NEW_TIME, NOT_PERMITTED)]),
    ...checked(
      CHECKED_CALLS.ioctl[column],
      1,
      TERMINAL_INJECTIONS.flatMap((request) => ifEqual(request, NOT_PERMITTED)),
    ),
    ...checked(CHECKED_CALLS.socket[column], 0, [...FAMILIES.flatMap((family) => ifEqual(family, ALLOW)), end(NO_SUCH_FAMILY)]),
    ...Object.values(MODE_CALLS).flatMap(({ numbers, mode, flags }) =>
      checked(numbers[column], mode, [
        ...(flags === undefined ? [] : [load(argumentAt(flags)), ...unlessAnyBit(CREATES, ALLOW), load(argumentAt(mode))]),
        ...ifAnyBit(SETUID, NOT_PERMITTED),
      ]),
    ),
    end(ALLOW),
  ];
  return encode(program);
}

function listed(calls: Readonly<Record<string, readonly [number, number]>>, column: 0 | 1, result: number): readonly Instruction[] {
  const numbers = Object.values(calls).map((call) => call[column]);
  return numbers.filter((number) => number >= 0).flatMap((number) => ifEqual(number, result));
}

/** Looks at an argument of one call. What `body` does not decide is allowed. */
function checked(number: number, argument: number, body: readonly Instruction[]): readonly Instruction[] {
  if (number < 0) return [];
  const inner = [load(argumentAt(argument)), ...body, end(ALLOW)];
  return [{ code: IF_EQUAL, yes: 0, no: inner.length, value: number }, ...inner];
}

function ifEqual(value: number, result: number): readonly Instruction[] {
  return [{ code: IF_EQUAL, yes: 0, no: 1, value }, end(result)];
}

function ifAnyBit(value: number, result: number): readonly Instruction[] {
  return [{ code: IF_ANY_BIT, yes: 0, no: 1, value }, end(result)];
}

function unlessAnyBit(value: number, result: number): readonly Instruction[] {
  return [{ code: IF_ANY_BIT, yes: 1, no: 0, value }, end(result)];
}

function load(offset: number): Instruction {
  return { code: LOAD, yes: 0, no: 0, value: offset };
}

function end(result: number): Instruction {
  return { code: RETURN, yes: 0, no: 0, value: result };
}

/** Both processors are little-endian. */
function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [at, { code, yes, no, value }] of program.entries()) {
    view.setUint16(at * 8, code, true);
    view.setUint8(at * 8 + 2, yes);
    view.setUint8(at * 8 + 3, no);
    view.setUint32(at * 8 + 4, value >>> 0, true);
  }
  return bytes;
}
