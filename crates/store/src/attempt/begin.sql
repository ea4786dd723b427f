-- A worker has taken the job: the attempt of this fence begins.
-- Lock: key share on the job, which the claim holds already. Idempotency key: (export_id, fence). Index: attempts_pkey.
INSERT INTO export.attempts (export_id, fence, worker, state)
VALUES ($1, $2, $3, 'running')
