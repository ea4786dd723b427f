TRUNCATE export.jobs, outbox.events CASCADE;
