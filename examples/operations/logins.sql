create role build_agent login password 'change me 1' in role assent_agent;
create role alice login password 'change me 2' in role assent_agent, assent_approver;
create role on_call login password 'change me 3' in role assent_approver;
create role reporting login password 'change me 4' in role assent_auditor;
