import { useEffect, useState } from "preact/hooks";
import {
  type AnswerResult,
  type CancelTarget,
  type GrantLine,
  MOST_SESSIONS,
  type SessionLine,
  type SessionTimeline,
  TIMELINE_EVENTS,
} from "../src/desk.ts";
import { age, visible } from "./text.ts";
import { download, get, post, WireError } from "./wire.ts";

/** Loads a value again whenever the record changes. A text is the reason why there is no value. */
function useLoaded<T>(path: string, version: number): T | string | undefined {
  const [loaded, setLoaded] = useState<{ readonly path: string; readonly value: T | string } | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    get<T>(path).then(
      (value) => isCurrent && setLoaded({ path, value }),
      (error: unknown) => isCurrent && error instanceof WireError && setLoaded({ path, value: error.message }), // else the page says that it is not connected
    );
    return () => {
      isCurrent = false;
    };
  }, [path, version]);
  return loaded?.path.split("?")[0] === path.split("?")[0] ? loaded?.value : undefined;
}

function Missing({ reason }: { readonly reason: string | undefined }) {
  return reason === undefined ? <p>Loading …</p> : <p role="alert">{reason}</p>;
}

export function Sessions({ version }: { readonly version: number }) {
  const sessions = useLoaded<readonly SessionLine[]>("/api/sessions", version);
  if (typeof sessions !== "object") return <Missing reason={sessions} />;
  return (
    <section aria-label="Sessions">
      <h2>Sessions</h2>
      {sessions.length === 0 && <p class="empty">No sessions yet.</p>}
      {sessions.length >= MOST_SESSIONS && <p class="note">The newest {MOST_SESSIONS}. In a terminal, ‘assent sessions’ lists more.</p>}
      <ul class="lines">
        {sessions.map(({ id, title, agent, directory, state, updatedAt, waiting }) => (
          <li key={id}>
            <a href={`#/session/${id}`}>{visible(title)}</a>
            <span class="about">
              {state}
              {waiting > 0 && `, ${waiting} waiting`} · {visible(agent)} · {ago(updatedAt)} · {visible(directory)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ago(at: string) {
  return (
    <time dateTime={at} title={at}>
      {age(at)} ago
    </time>
  );
}

type ShowResults = (results: readonly AnswerResult[]) => void;

/** Says that a request did not reach the server, or was refused there. */
function failed(showResults: ShowResults): (error: unknown) => void {
  return (error) => showResults([{ id: "", result: "refused", message: error instanceof Error ? error.message : String(error) }]);
}

export function Timeline({
  session,
  version,
  showResults,
}: {
  readonly session: string;
  readonly version: number;
  readonly showResults: ShowResults;
}) {
  const [last, setLast] = useState(TIMELINE_EVENTS);
  const loaded = useLoaded<SessionTimeline>(`/api/sessions/${session}?last=${last}`, version);
  if (typeof loaded !== "object") return <Missing reason={loaded} />;
  const cancel = (target: CancelTarget): void =>
    void post<AnswerResult>(`/api/cancel/${session}`, target ?? {}).then((result) => showResults([result]), failed(showResults));
  return (
    <section aria-label="Timeline">
      <h2>{visible(loaded.title)}</h2>
      <p class="about">
        {session} · {loaded.isRunning ? "running" : loaded.state === "running" ? "open" : loaded.state} ·{" "}
        <button type="button" onClick={() => void download(`/api/export/${session}`, `${session}.md`).catch(failed(showResults))}>
          Export as Markdown
        </button>
        {loaded.isRunning && (
          <button type="button" class="reject" onClick={() => cancel(null)}>
            Cancel all that runs
          </button>
        )}
      </p>
      {loaded.earlier > 0 && (
        <p>
          <button type="button" onClick={() => setLast(last + 5 * TIMELINE_EVENTS)}>
            Show {Math.min(loaded.earlier, 5 * TIMELINE_EVENTS)} of {loaded.earlier} earlier events
          </button>
        </p>
      )}
      <ol class="timeline">
        {loaded.entries.map(({ pos, at, what, text, call, card, undo, cancel: target }, index) => (
          <li key={pos}>
            <time dateTime={at}>{clockTime(at, loaded.entries[index - 1]?.at)}</time> <strong>{what}</strong>{" "}
            {call !== null && <code>{visible(call)}</code>}
            <EntryText text={visible(text)} />
            {card !== null && <a href={`#/card/${card}`}>{card.startsWith("p_") ? "Show the change" : "Show the request"}</a>}
            {undo !== null && (
              <button
                type="button"
                onClick={() => void post<AnswerResult>(`/api/undo/${undo}`).then((result) => showResults([result]), failed(showResults))}
              >
                Undo
              </button>
            )}
            {target !== null && (
              <button type="button" class="reject" onClick={() => cancel(target)}>
                Cancel
              </button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The time, with the date where a day begins. */
function clockTime(at: string, before: string | undefined): string {
  const time = new Date(at);
  const isNewDay = before === undefined || new Date(before).toDateString() !== time.toDateString();
  return isNewDay ? time.toLocaleString() : time.toLocaleTimeString();
}

const SHORT_CHARS = 300;

/** A long text is folded to its beginning. */
function EntryText({ text }: { readonly text: string }) {
  if (text === "") return null;
  const start = text.split("\n", 3).join("\n").slice(0, SHORT_CHARS);
  if (start.length === text.length) return <pre>{text}</pre>;
  return (
    <details>
      <summary>{start.split("\n", 1)[0]} …</summary>
      <pre>{text}</pre>
    </details>
  );
}

export function Grants({ version, showResults }: { readonly version: number; readonly showResults: ShowResults }) {
  const grants = useLoaded<readonly GrantLine[]>("/api/grants", version);
  if (typeof grants !== "object") return <Missing reason={grants} />;
  return (
    <section aria-label="Grants">
      <h2>Remembered answers</h2>
      {grants.length === 0 && <p class="empty">No answer is remembered.</p>}
      <ul class="lines">
        {grants.map(({ id, scope, rule, since, by, expiresAt }) => (
          <li key={id}>
            <code>{visible(rule)}</code>
            <span class="about">
              {scope} · {visible(by)} · {ago(since)}
              {expiresAt !== null && ` · until ${expiresAt}`}
            </span>
            <button
              type="button"
              onClick={() => void post<AnswerResult>(`/api/revoke/${id}`).then((result) => showResults([result]), failed(showResults))}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
