// Where the words of a sentence are: `start`, the position of the first, and `gaps`, the number of
// other words before each. `x` is the place of the sentence on the stage, in pixels.
export const LAST = 1000; // the last start

export const clamp = (x, least, most) => Math.max(least, Math.min(most, x));

export const total = (list) => list.reduce((a, b) => a + b, 0);

export function placesOf({start, gaps}) {
  let place = start - 1;
  return gaps.map((gap) => place += 1 + gap);
}

export const copy = ({start, gaps}) => ({start, gaps: [...gaps]});

export const whole = ({start, gaps}) => ({start: Math.round(start), gaps: gaps.map(Math.round)});

export const between = (a, b, share) => ({
  start: a.start + share * (b.start - a.start),
  gaps: a.gaps.map((gap, j) => gap + share * (b.gaps[j] - gap))
});

export const isSame = (a, b) =>
  Math.abs(a.start - b.start) < 1e-9 && a.gaps.every((gap, j) => Math.abs(gap - b.gaps[j]) < 1e-9);

// Lengths on a stage of some width, in pixels: `unit` a position, `room` for all, `spare` the
// largest number of other words between, `slope` how far a position moves the sentence.
export function measure(width, {gaps}) {
  const INSET = 10, SMALLEST = 200; // a hidden stage has no width
  const count = gaps.length, room = Math.max(width, SMALLEST) - 2 * INSET;
  const unit = Math.min(82, room / (count + 1.6)), radius = Math.min(0.46 * unit, 35);
  return {
    inset: INSET,
    width,
    room,
    unit,
    radius,
    top: 32,
    matches: 97 + radius,
    values: 121 + 3 * radius,
    height: 159 + 4 * radius,
    spare: Math.max(1, Math.floor(room / unit) - count),
    slope: clamp((room - (count + total(gaps)) * unit) / 9, 7, unit)
  };
}

// Moves the sentence to a start; on the stage, as far as there is room.
export function moveTo(state, start, size) {
  const next = clamp(start, 0, LAST), taken = (state.gaps.length + total(state.gaps)) * size.unit;
  state.x = clamp(state.x + (next - state.start) * size.slope, 0, Math.max(0, size.room - taken));
  state.start = next;
}

// The largest gap before word j that the stage has room for.
export const widest = ({gaps}, j, {spare}) => Math.max(0, spare - total(gaps) + gaps[j]);
