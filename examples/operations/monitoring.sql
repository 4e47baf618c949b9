set search_path to assent;

-- Approvals and questions that wait, and since when
select 'approvals' as list, count(*), min(row::json ->> 'requestedAt') as oldest from approvals where open = 1
union all
select 'questions', count(*), min(row::json ->> 'askedAt') from questions where open = 1;

-- Sessions whose process stopped renewing its lease: killed, stopped or cut off. `assent resume SESSION` continues them
select l.session, l.held_until, l.busy
from leases l join sessions s on s.session = l.session and s.epoch = l.epoch
where s.closed = 0 and s.pruned = 0 and l.held_until < clock_timestamp() - interval '1 minute';

-- Calls among the newest 100,000 events whose outcome is unknown
select session, call, at from events
where pos > (select pos - 100000 from counter) and type = 'call.ended' and body like '%"outcome":"unknown"%';

-- Events per hour of the last day, by the newest 100,000 events
select left(at, 13) as hour, count(*) from events
where pos > (select pos - 100000 from counter) and at > to_char(now() at time zone 'UTC' - interval '1 day', 'YYYY-MM-DD"T"HH24')
group by 1 order by 1;

-- Size by table
select relname, pg_size_pretty(pg_total_relation_size(c.oid)) as size
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = 'assent' and relkind = 'r' order by pg_total_relation_size(c.oid) desc limit 5;

-- Processes of Assent, and how many wait for another one's commit (`pg_monitor` sees all)
select count(*) as connections, count(*) filter (where wait_event_type = 'Lock') as waiting
from pg_stat_activity where application_name = 'assent';
