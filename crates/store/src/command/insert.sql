-- Records a command that was written into the outbox in this transaction.
-- Lock: key share on the job's row. Idempotency key: command_id, unique. Index: commands_pkey, commands_command_id_key.
INSERT INTO export.commands (export_id, command_id, reason, outbox_seq)
VALUES ($1, $2, $3, $4);
