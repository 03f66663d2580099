-- A forgotten transaction would be waited for for a day.
SET SESSION lock_wait_timeout = 60
