-- A forgotten transaction would be waited for for ever.
SET lock_timeout = '60s'
