// Mouse, touch and keys for something that moves sideways. A touch that moves up or down still
// scrolls the page (`touch-action: pan-y` in the style).
const SMALLEST = 4; // pixels; less is a click
const STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageUp: 10,
  PageDown: -10
};
const ENDS = {
  Home: -Infinity,
  End: Infinity
};

// begin(): a drag begins; drag(pixels): it has come this far; drop(): it ends; step(by): a key;
// click(): chosen, by pointer, key or assistive technology
export function watchHands(element, {begin, drag, drop, step, click = () => {}}) {
  let from, isMoved = false;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    from = event.clientX;
    isMoved = false;
  });
  element.addEventListener("pointermove", (event) => {
    if (from === undefined) return;
    const by = event.clientX - from;
    if (!isMoved && Math.abs(by) < SMALLEST) return;
    if (!isMoved) begin();
    isMoved = true;
    drag(by);
  });
  const end = () => {
    if (from !== undefined && isMoved) drop();
    from = undefined;
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("click", () => {
    if (!isMoved) click();
    isMoved = false;
  });
  element.addEventListener("keydown", (event) => {
    isMoved = false; // Enter follows as a click
    const by = STEPS[event.key] ?? ENDS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  });
}
