'use strict';
// The page is complete without this script. It reads attributes, and writes what others wrote as text only.
(() => {
  const all = (root, what) => [...root.querySelectorAll(what)];
  const two = number => String(number).padStart(2, '0');
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const percent = (part, whole) => `${(part / whole) * 100}%`;
  const make = (parent, tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (tag === 'button') made.type = 'button';
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  };

  // Times in the zone of the reader; the title has them in UTC. The zone is told as its distance from UTC, which no reader takes for another.
  const local = at => {
    const ahead = -at.getTimezoneOffset();
    const minutes = Math.abs(ahead) % 60 ? `:${two(Math.abs(ahead) % 60)}` : '';
    const zone = ahead ? `${ahead > 0 ? '+' : '−'}${Math.floor(Math.abs(ahead) / 60)}${minutes}` : '';
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
    return `${day} ${two(at.getHours())}:${two(at.getMinutes())} UTC${zone}`;
  };
  all(document, 'time').forEach(time => {
    const at = new Date(time.dateTime);
    if (Number.isFinite(at.getTime())) time.textContent = local(at);
  });

  // `1.2–3.4 ms` of figures with units; each has its own where they differ.
  const joined = pairs => {
    const unit = pairs.at(-1)[1];
    const all = pairs.every(pair => pair[1] === unit) ? [[pairs.map(pair => pair[0]).join('–'), unit]] : pairs;
    return all.map(pair => pair.join(' ').trim()).join('–');
  };

  // Seconds as the axis of time has them: `90 s`, `2:05 min`, `2:00:05 h`.
  const clock = seconds => {
    if (120 > seconds) return `${Math.round(seconds * 10) / 10} s`;
    const whole = Math.round(seconds);
    const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60)];
    if (7200 > seconds) return `${minutes}:${two(whole % 60)} min`;
    return `${hours}:${two(minutes % 60)}:${two(whole % 60)} h`;
  };
  const STEPS = [.1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];

  // What chart/readings.rs wrote; its first lines say how.
  const runs = text => text.split(' ').flatMap(run => {
    const [one, count] = run.split('*');
    return Array(Number(count ?? 1)).fill(one);
  });
  const printed = (values, named) => {
    let unit = '';
    return runs(values).map(run => {
      if (run === '-') return '–';
      return joined(run.split(':').map(text => {
        const [figure, ...own] = text.split('_');
        if (own.length) unit = own.join(' ');
        return [figure, unit || named];
      }));
    });
  };

  // Moves a shape to where the places of the whole drawing are now.
  const mover = (shape, mark) => {
    const [get, set] = [name => shape.getAttribute(name), (name, value) => shape.setAttribute(name, value)];
    if (get('points')) {
      const points = get('points').trim().split(/\s+/).map(point => point.split(','));
      return place => set('points', points.map(([x, y]) => `${place(Number(x))},${y}`).join(' '));
    }
    if (shape.localName === 'rect') {
      const [x, width] = [Number(get('x')), Number(get('width'))];
      // The least width of a mark is for the eye, and no time.
      return place => { set('x', place(x)); set('width', width > 8 ? place(x + width) - place(x) : width); };
    }
    if (mark) {
      const beside = Number(get('x')) - mark;
      return place => set('x', place(mark) + beside);
    }
    const given = ['x', 'x1', 'x2', 'cx'].filter(get).map(name => [name, Number(get(name))]);
    return place => given.forEach(([name, at]) => set(name, place(at)));
  };

  const chart = svg => {
    const figure = svg.closest('figure');
    const plots = all(svg, '[data-plot]');
    const edges = plots.map(plot => plot.dataset.plot.split(' ').map(Number));
    const [left, top, right, , end] = edges[0];
    const bottom = edges.at(-1)[3];
    const { width, height } = svg.viewBox.baseVal;
    let sum = 0;
    const times = runs(plots[0].dataset.times).map(step => (sum = Math.round((sum + Number(step)) * 100) / 100));
    const isColumn = 'columns' in plots[0].dataset;
    const series = all(svg, '[data-name]').map(group => {
      const { name, ink, unit, values } = group.dataset;
      return { name, ink, group, texts: printed(values, unit ?? ''), shown: true };
    });

    const plot = document.createElement('div');
    plot.className = 'plot';
    svg.replaceWith(plot);
    plot.append(svg);
    const area = make(plot, 'div', 'area');
    Object.assign(area.style, {
      left: percent(left, width), width: percent(right - left, width), top: percent(top, height), height: percent(bottom - top, height),
    });
    const [cursor, picked] = [make(area, 'div', 'cursor'), make(area, 'div', 'picked')];
    const [box, reset] = [make(plot, 'div', 'readout'), make(plot, 'button', 'reset', 'Reset zoom')];
    [cursor, picked, box, reset].forEach(part => { part.hidden = true; });
    const heading = figure.querySelector('h4').textContent;
    const role = {
      role: 'slider', tabindex: 0, 'aria-valuemin': 0, 'aria-valuemax': Math.round(end), 'aria-valuenow': 0, 'aria-valuetext': 'no time chosen',
      'aria-label': `${heading}: arrow keys read values, plus and minus zoom, 0 resets the zoom`,
    };
    Object.entries(role).forEach(([name, value]) => area.setAttribute(name, value));

    // A cursor at one of the times, and a box with the values there.
    let [from, to] = [0, end];
    let now = null;
    let byKey = false;
    const hide = () => {
      now = null;
      cursor.hidden = box.hidden = true;
    };
    const show = index => {
      now = index;
      const when = joined((isColumn ? [times[index - 1] ?? 0, times[index]] : [times[index]]).map(time => clock(time).split(' ')));
      const shown = series.filter(one => one.shown).map(one => [one, one.texts[index]]);
      const share = (times[index] - from) / (to - from);
      const x = left + share * (right - left);
      cursor.hidden = box.hidden = false;
      cursor.style.left = percent(share, 1);
      box.style.left = share > .5 ? 'auto' : `calc(${percent(x, width)} + .6rem)`;
      box.style.right = share > .5 ? `calc(${percent(width - x, width)} + .6rem)` : 'auto';
      box.style.top = percent(top, height);
      box.replaceChildren();
      make(box, 'b', '', when);
      shown.forEach(([one, text]) => {
        const row = make(box, 'span', '');
        make(row, 'i', 'key').style.background = `var(--${one.ink})`;
        row.append(`${one.name} `);
        make(row, 'strong', '', text);
      });
      make(box, 'small', '', byKey ? '← → read, + − zoom' : 'Drag to zoom');
      area.setAttribute('aria-valuenow', Math.round(times[index]));
      area.setAttribute('aria-valuetext', [when, ...shown.map(([one, text]) => `${one.name} ${text}`)].join(', '));
    };
    const inView = () => [...times.keys()].filter(index => times[index] >= from && to >= times[index]);
    // A column has the seconds before its end; a second is taken by who points near it.
    const point = time => {
      const far = index => isColumn ? (times[index] >= time ? times[index] - time : end) : Math.abs(times[index] - time);
      const choice = inView();
      if (choice.length) show(choice.reduce((best, index) => far(best) > far(index) ? index : best));
      else hide();
    };

    // A part of the time.
    const ticks = svg.querySelector('[data-ticks]');
    const given = [...ticks.children].slice(1);
    const models = ['line', 'text'].map(kind => given.find(mark => mark.localName === kind)).filter(model => model);
    let [moved, own, movers] = [[], [], null];
    const draw = () => {
      const isWhole = from === 0 && to === end;
      const at = time => left + ((time - from) / (to - from)) * (right - left);
      const place = x => Math.round(at(((x - left) / (right - left)) * end) * 10) / 10;
      moved = moved.length ? moved : all(svg, '[data-plot], [data-name], [data-marks]');
      movers ??= moved.flatMap(group => [...group.children].map(shape => mover(shape, Number(group.dataset.marks))));
      movers.forEach(move => move(place));
      moved.forEach(group => { group.style.clipPath = isWhole ? '' : `inset(0 ${width - right}px 0 ${left}px) view-box`; });
      own.forEach(mark => mark.remove());
      given.forEach(mark => { mark.style.display = isWhole ? '' : 'none'; });
      const step = STEPS.find(step => step * 4 >= to - from && (step >= 1 || 120 > to)) ?? STEPS.at(-1);
      const first = Math.ceil(from / step);
      const count = isWhole ? 0 : Math.floor(to / step) - first + 1;
      own = [...Array(count).keys()].flatMap(index => models.map(model => {
        const [mark, x] = [model.cloneNode(true), at((first + index) * step)];
        mark.style.display = '';
        ['x', 'x1', 'x2'].filter(name => mark.hasAttribute(name)).forEach(name => mark.setAttribute(name, x));
        if (mark.localName === 'text') mark.textContent = x > width - 120 ? '' : clock((first + index) * step);
        ticks.append(mark);
        return mark;
      }));
      reset.hidden = isWhole;
      if (now !== null && times[now] >= from && to >= times[now]) show(now);
      else hide();
    };
    const zoom = (begin, finish) => {
      const span = clamp(finish - begin, Math.min(end, (4 * end) / times.length), end);
      from = clamp(begin, 0, end - span);
      to = span === end ? end : from + span;
      draw();
    };
    const scale = factor => {
      const centre = now === null ? (from + to) / 2 : times[now];
      zoom(centre - (centre - from) * factor, centre + (to - centre) * factor);
    };
    reset.addEventListener('click', () => {
      zoom(0, end);
      area.focus();
    });

    // The pointer reads; dragged, it picks a part of the time.
    const timeAt = event => {
      const { left: edge, width: wide } = area.getBoundingClientRect();
      return from + clamp((event.clientX - edge) / wide, 0, 1) * (to - from);
    };
    let begun = null;
    const drop = () => {
      begun = null;
      picked.hidden = true;
    };
    const move = event => {
      const time = timeAt(event);
      byKey = false;
      point(time);
      picked.hidden = begun === null;
      picked.style.left = percent(Math.min(begun, time) - from, to - from);
      picked.style.width = percent(Math.abs(begun - time), to - from);
    };
    const on = (names, handle) => names.split(' ').forEach(name => area.addEventListener(name, handle));
    on('pointermove', move);
    on('pointerdown', event => {
      if (event.button) return;
      begun = timeAt(event);
      move(event);
      area.setPointerCapture(event.pointerId);
    });
    on('pointerup', event => {
      const ends = [begun, timeAt(event)].sort((a, b) => a - b);
      const isPicked = begun !== null && (ends[1] - ends[0]) * 40 > to - from;
      drop();
      if (!isPicked) return;
      zoom(...ends);
      move(event);
    });
    on('pointercancel', drop);
    on('pointerleave', () => { if (document.activeElement !== area) hide(); });
    on('blur', hide);
    on('focus', () => {
      byKey = area.matches(':focus-visible');
      if (byKey && now === null) point(from);
    });
    const step = by => {
      const choice = inView();
      const index = clamp(now === null ? 0 : choice.indexOf(now) + by, 0, choice.length - 1);
      if (choice.length) show(choice[index]);
    };
    const keys = {
      ArrowLeft: () => step(-1), ArrowRight: () => step(1), PageUp: () => step(-10), PageDown: () => step(10), Home: () => step(-Infinity),
      End: () => step(Infinity), '+': () => scale(.5), '=': () => scale(.5), '-': () => scale(2), 0: () => zoom(0, end), Escape: hide,
    };
    on('keydown', event => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      byKey = true;
      keys[event.key]();
    });

    // A button for each of several series, in its entry of the legend; a series without an entry gets one, in a list of its plot: the plots
    // of a chart share colours. A band and a line may share one too.
    const added = plots.map(() => null);
    const entryOf = ({ name, ink, group }) => {
      const entry = all(figure, '.legend li').find(entry => entry.textContent === name);
      if (entry) return entry;
      const at = plots.findLastIndex(plot => plot.compareDocumentPosition(group) & Node.DOCUMENT_POSITION_FOLLOWING);
      if (!added[at]) (added.findLast(list => list) ?? plot).after(added[at] = document.createElement('ul'));
      added[at].className = 'legend added';
      const made = make(added[at], 'li', '');
      make(made, 'span', group.querySelector('polygon, rect') ? 'key' : 'key line').style.background = `var(--${ink})`;
      made.append(name);
      return made;
    };
    if (series.length > 1) series.forEach(one => {
      const entry = entryOf(one);
      const parts = [...entry.childNodes];
      const button = make(entry, 'button', '');
      button.append(...parts);
      const label = all(svg, '[data-labels] text').find(label => label.textContent.trim() === one.name);
      const look = () => {
        button.setAttribute('aria-pressed', one.shown);
        [one.group, label].forEach(part => part?.classList.toggle('off', !one.shown));
        if (now !== null) show(now);
      };
      look();
      button.addEventListener('click', () => {
        one.shown = !one.shown;
        look();
      });
    });

    let kept;
    addEventListener('beforeprint', () => {
      kept = [from, to];
      zoom(0, end);
    });
    addEventListener('afterprint', () => zoom(...kept));
  };
  new Set(all(document, '[data-plot]').map(plot => plot.ownerSVGElement)).forEach(chart);
})();
