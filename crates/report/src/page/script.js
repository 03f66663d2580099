'use strict';
// The page is complete without this script. It reads attributes, and writes what others wrote as text only.
(() => {
  const all = (root, what) => [...root.querySelectorAll(what)];
  const two = number => String(number).padStart(2, '0');

  // Times in the zone of the reader; the title has them in UTC. The zone is its distance from UTC, which is the same word for all.
  const local = at => {
    const ahead = -at.getTimezoneOffset();
    const minutes = Math.abs(ahead) % 60;
    const zone = ahead === 0 ? '' : `${ahead > 0 ? '+' : '−'}${Math.floor(Math.abs(ahead) / 60)}${minutes ? `:${two(minutes)}` : ''}`;
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
    return `${day} ${two(at.getHours())}:${two(at.getMinutes())} UTC${zone}`;
  };
  all(document, 'time').forEach(time => {
    const at = new Date(time.dateTime);
    if (Number.isFinite(at.getTime())) time.textContent = local(at);
  });
})();
