import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AnswerResult, InboxAnswer, InboxCard, WaitingRow } from "../src/desk.ts";
import { groupResults, listedRows, moveTo, NO_FILTER, stillThere } from "../src/list.ts";
import { Card } from "./card.tsx";
import { followLive } from "./live.ts";
import { Grants, Sessions, Timeline } from "./record.tsx";
import { Review } from "./review.tsx";
import { visible } from "./text.ts";
import { Waiting } from "./waiting.tsx";
import { get, linkToken, login, sendAnswers, WireError } from "./wire.ts";

const KEYS: readonly (readonly [key: string, does: string])[] = [
  ["j, k", "next, previous"],
  ["x", "select the current one"],
  ["y", "approve the card"],
  ["n", "write a reason, then Tab to Reject"],
  ["e", "edit the input"],
  ["c", "approve only a part"],
  ["s", "diff side by side, or one column"],
  ["/", "search"],
  ["Escape", "back to the list"],
  ["?", "this help"],
];

const VIEWS: readonly string[] = ["card", "review", "sessions", "session", "grants"];

/** The page behind the part of the address after `#`; the list for an unknown one. */
function readRoute(): { readonly view: string; readonly id: string } {
  const [, view = "", id = ""] = location.hash.split("/");
  return { view: VIEWS.includes(view) ? view : "", id };
}

function App() {
  const [rows, setRows] = useState<readonly WaitingRow[]>([]);
  const [version, setVersion] = useState(0);
  const [isConnected, setConnected] = useState(true);
  const [needsLogin, setNeedsLogin] = useState("");
  const [filter, setFilter] = useState(NO_FILTER);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [route, setRoute] = useState(readRoute());
  const [notices, setNotices] = useState<readonly AnswerResult[]>([]);
  const [saving, setSaving] = useState(0);
  const [split, setSplit] = useState(matchMedia("(min-width: 1400px)").matches);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [, setNow] = useState(0);
  const searchField = useRef<HTMLInputElement>(null);
  const sending = useRef(new Set<string>());
  const cardKeys = useRef(new Set<(key: string) => void>());
  const shown = useMemo(() => listedRows(rows, filter), [rows, filter]);
  const current = route.view === "card" ? route.id : undefined;

  const askForLogin = (message: string): void => setNeedsLogin((before) => before || message);
  useEffect(() => {
    const refresh = coalesce(async () => {
      try {
        const next = await get<readonly WaitingRow[]>("/api/waiting");
        setNeedsLogin(""); // another tab may have logged in
        setRows(next);
        setSelected((before) => stillThere(before, next));
        setVersion((before) => before + 1);
        setConnected(true);
      } catch (error) {
        if (error instanceof WireError && error.status === 401) askForLogin(error.message);
        else setConnected(false);
      }
    });
    void login()
      .catch((error: unknown) => setNeedsLogin(error instanceof Error ? error.message : String(error)))
      .then(() => {
        refresh(); // also after a used link: an earlier login may still count
        followLive({
          connected: setConnected,
          changed: refresh,
          loginNeeded: () => askForLogin("Open the link that 'assent inbox' printed."),
        });
      });
    const follow = (): void => {
      if (linkToken() === null) setRoute(readRoute());
      else location.reload(); // a new link was opened in this tab
    };
    addEventListener("hashchange", follow);
    const clock = setInterval(() => setNow(Date.now()), 10_000); // draws again, because requests show their age
    return () => {
      removeEventListener("hashchange", follow);
      clearInterval(clock);
    };
  }, []);

  const answer = (all: readonly InboxAnswer[]): void => {
    const answers = all.filter(({ id }) => !sending.current.has(id)); // a double click or a held key
    if (answers.length === 0) return;
    for (const { id } of answers) sending.current.add(id);
    setNotices([]);
    setSaving(sending.current.size);
    const from = location.hash;
    sendAnswers(answers)
      .then((results) => {
        setNotices(groupResults(results.map((one) => nameBySubject(one, rows))));
        const gone = new Set(results.filter(({ result }) => result !== "changed" && result !== "refused").map(({ id }) => id));
        setRows((before) => before.filter(({ id }) => !gone.has(id))); // the next key must not open them again
        if (gone.size === results.length && location.hash === from) location.hash = "#/";
      })
      .catch((error: unknown) =>
        setNotices([
          { id: "", result: "refused", message: error instanceof WireError ? `Not saved: ${error.message} Try again.` : NO_REPLY },
        ]),
      )
      .finally(() => {
        for (const { id } of answers) sending.current.delete(id);
        setSaving(sending.current.size);
      });
  };

  useEffect(() => {
    document.title = rows.length === 0 ? "Assent inbox" : `(${rows.length}) Assent inbox`;
  }, [rows.length]);
  useEffect(() => document.querySelector(".group li.current")?.scrollIntoView({ block: "nearest" }), [current]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || needsLogin !== "") return;
      const isTyping = event.target instanceof Element && event.target.matches("input:not([type=checkbox]), textarea, select");
      if (event.key === "Escape") {
        if (isTyping) (event.target as HTMLElement).blur();
        else if (isHelpOpen) setHelpOpen(false);
        else location.hash = "#/";
        return;
      }
      if (isTyping) return;
      const ids = shown.map(({ id }) => id);
      if (event.key === "j" || event.key === "k") {
        const next = moveTo(ids, current, event.key === "j" ? 1 : -1);
        if (next !== undefined) location.hash = `#/card/${next}`;
      } else if (event.key === "x" && current !== undefined) {
        const next = new Set(selected);
        if (!next.delete(current)) next.add(current);
        setSelected(next);
      } else if (event.key === "/") {
        location.hash = "#/";
        searchField.current?.focus();
      } else if (event.key === "s") setSplit(!split);
      else if (event.key === "?") setHelpOpen(!isHelpOpen);
      else {
        for (const listener of cardKeys.current) listener(event.key);
        if (!["y", "n", "e", "c"].includes(event.key)) return;
      }
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });

  return (
    <>
      {needsLogin !== "" && (
        <main class="login">
          <h1>Assent inbox</h1>
          <p role="alert">{needsLogin}</p>
        </main>
      )}
      <div hidden={needsLogin !== ""}>
        <header>
          <h1>
            <a href="#/">Inbox</a> <span aria-live="polite">{rows.length === 0 ? "" : `${rows.length} waiting`}</span>
          </h1>
          <nav>
            <a href="#/sessions">Sessions</a> <a href="#/grants">Grants</a>{" "}
            <button type="button" aria-label="Help: keys" onClick={() => setHelpOpen(!isHelpOpen)}>
              ?
            </button>
          </nav>
        </header>
        <div class="status" role="status">
          {!isConnected && <p class="offline">Not connected. This page may be out of date. Is ‘assent inbox’ still running?</p>}
          {saving > 0 && <p class="notice">Saving {saving === 1 ? "the answer" : `${saving} answers`} …</p>}
          {notices.map(({ id, result, message }) => (
            <p class={`notice ${result}`} key={id}>
              {visible(message)}{" "}
              <button type="button" aria-label="Dismiss" onClick={() => setNotices(notices.filter((one) => one.id !== id))}>
                ×
              </button>
            </p>
          ))}
        </div>
        {isHelpOpen && (
          <aside aria-label="Keys">
            <dl class="help">
              {KEYS.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </aside>
        )}
        <main class={`view-${route.view === "" ? "list" : route.view}`}>
          {["", "card", "review"].includes(route.view) && (
            <Waiting {...{ all: rows, rows: shown, filter, setFilter, current, selected, searchField }} select={setSelected} />
          )}
          {current !== undefined && (
            <CardView
              key={current}
              id={current}
              version={version}
              split={split}
              answer={(one) => {
                if (readRoute().id === current) answer([one]); // the person may have left this card already
              }}
              onKey={(listener) => {
                cardKeys.current.add(listener);
                return () => cardKeys.current.delete(listener);
              }}
            />
          )}
          {route.view === "review" && <Review ids={[...selected]} answer={answer} />}
          {route.view === "sessions" && <Sessions version={version} />}
          {route.view === "session" && <Timeline session={route.id} version={version} showResults={setNotices} />}
          {route.view === "grants" && <Grants version={version} showResults={setNotices} />}
        </main>
      </div>
    </>
  );
}

/** People know a request by what it does, not by its id. */
function nameBySubject(result: AnswerResult, rows: readonly WaitingRow[]): AnswerResult {
  const subject = rows.find(({ id }) => id === result.id)?.subject;
  if (subject === undefined) return result;
  const short = subject.length > LONGEST_SUBJECT ? `${subject.slice(0, LONGEST_SUBJECT)}…` : subject;
  return { ...result, message: result.message.replace(result.id, () => short) };
}

const LONGEST_SUBJECT = 80;
const NO_REPLY = "No reply came, so the answer may not be saved. Look again when the page is connected.";

type CardViewProps = {
  readonly id: string;
  readonly version: number;
  readonly split: boolean;
  readonly answer: (answer: InboxAnswer) => void;
  readonly onKey: (listener: (key: string) => void) => () => void;
};

/** Keeps a card current. What a person types stays while the card shows the same request. */
function CardView({ id, version, split, answer, onKey }: CardViewProps) {
  const [card, setCard] = useState<InboxCard | string | undefined>(undefined);
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isCurrent = true;
    get<InboxCard>(`/api/cards/${id}`).then(
      (next) => isCurrent && setCard(next),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (isCurrent) setCard((before) => (error instanceof WireError || typeof before !== "object" ? message : before));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [id, version]);
  const isLoaded = card !== undefined;
  useEffect(() => view.current?.querySelector<HTMLElement>("h2")?.focus(), [isLoaded]); // never a button
  return (
    <div class="card-view" ref={view}>
      <p class="back">
        <a href="#/">← Back to the list</a>
      </p>
      {card === undefined && <p>Loading …</p>}
      {typeof card === "string" && <p role="alert">{card}</p>}
      {typeof card === "object" && (
        <Card key={`${card.fingerprint} ${card.effect?.write}`} card={card} split={split} answer={answer} onKey={onKey} />
      )}
    </div>
  );
}

/** Runs `act` now, and once more afterwards if it was wanted meanwhile. */
function coalesce(act: () => Promise<void>): () => void {
  let state: "idle" | "running" | "again" = "idle";
  const run = async (): Promise<void> => {
    do {
      state = "running";
      await act();
    } while (isWanted());
    state = "idle";
  };
  const isWanted = (): boolean => state === "again";
  return () => {
    if (state === "idle") void run();
    else state = "again";
  };
}

const place = document.getElementById("app");
if (place) {
  place.replaceChildren();
  render(<App />, place);
}
