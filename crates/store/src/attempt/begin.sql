-- A worker has taken the job: the attempt of this fence begins. Its number is the next one of its export, which nobody
-- else can be giving out: the claim holds the job.
-- Lock: key share on the job, which the claim holds already. Idempotency key: (export_id, fence). Index: attempts_pkey,
-- attempts_export_id_number_key.
INSERT INTO export.attempts (export_id, fence, worker, state, number)
SELECT $1, $2, $3, 'running', coalesce(max(attempts.number), 0) + 1
FROM export.attempts
WHERE attempts.export_id = $1
