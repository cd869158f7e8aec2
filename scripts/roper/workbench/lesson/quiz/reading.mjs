// Reads answers to questions for a number as they are written at school, as reading.lua does:
// translates them to Lua. An answer that can mean two numbers has two readings.
const ONE_ARGUMENT = new Set([
  "sqrt", "exp", "ln", "abs", "sin", "cos", "tan", "asin", "acos", "arcsin", "arccos", "arctan",
  "floor", "ceil"
]);
const OTHERS = new Set(["log", "atan", "max", "min", "deg", "rad", "fmod"]);
const NAMES = {
  ln: "log",
  arcsin: "asin",
  arccos: "acos",
  arctan: "atan"
};
const OF_ANGLES = new Set(["sin", "cos", "tan"]);
const TO_ANGLES = new Set(["asin", "acos", "atan", "arcsin", "arccos", "arctan"]);
const SIGNS = new Map([
  ["−", "-"], ["·", "*"], ["×", "*"], ["⋅", "*"], ["÷", "/"], ["√", "sqrt "], ["π", "pi"],
  ["²", "^2"], ["³", "^3"], ["½", "(1/2)"], ["\u{A0}", " "]
]);
const UNITS = new Map([
  ["°", "degrees"], ["degree", "degrees"], ["degrees", "degrees"], ["deg", "degrees"],
  ["radian", "radians"], ["radians", "radians"], ["rad", "radians"], ["%", "percent"]
]);
const TOKENS = /[ \t]+|0[xX][\da-fA-F]+|\d+\.?\d*[eE][+-]?\d+|\d+\.?\d*|\.\d+|[A-Za-z_]\w*|[^]/gu;

const isNumber = (token) => /^\.?\d/.test(token ?? "");
const isSpace = (token) => /^\s/.test(token ?? "");

class Reader {
  hasGroups = true; // 1,000 is a thousand
  inDegrees = false; // angles without a unit are degrees
  hasThousands = false; // found: 1,000
  hasAngles = false; // found: an angle without a unit

  constructor(tokens, isKnown) {
    Object.assign(this, {tokens, isKnown});
  }

  // Is the token at i a function of school, and neither a number of the lesson nor a field?
  isFunction(i) {
    const token = this.tokens[i];
    return (ONE_ARGUMENT.has(token) || OTHERS.has(token)) && this.tokens[i - 1] !== "."
      && !this.isKnown(token);
  }

  // The index of the bracket that closes the one at `from`, or nothing.
  closing(from, last) {
    for (let i = from, depth = 0; i <= last; i++) {
      depth += {"(": 1, ")": -1}[this.tokens[i]] ?? 0;
      if (depth === 0) return i;
    }
    return undefined;
  }

  // Decimal commas: the number at i with what follows, and the index after it.
  decimal(i) {
    const [whole, comma, part] = this.tokens.slice(i, i + 3);
    if (comma !== "," || !/^\d+$/.test(part ?? "") || !/^\d+$/.test(whole)) return [whole, i + 1];
    if (part.length === 3 && /^[1-9]\d?\d?$/.test(whole)) {
      this.hasThousands = true;
      return [this.hasGroups ? whole + part : `${whole}.${part}`, i + 3];
    }
    return [`${whole}.${part}`, i + 3];
  }

  // A function and its argument, in brackets or a single number: its Lua and the index after it;
  // nothing if no argument follows.
  call(i, last) {
    const {tokens} = this, name = tokens[i], first = isSpace(tokens[i + 1]) ? i + 2 : i + 1;
    let stop, inner;
    if (tokens[first] === "(") {
      stop = this.closing(first, last);
      if (stop !== undefined) inner = this.translate(first + 1, stop - 1, ONE_ARGUMENT.has(name));
    } else if (first <= last && this.isFunction(first)) {
      const found = this.call(first, last);
      if (found) [inner, stop] = [found[0], found[1] - 1];
    } else if (first <= last && (isNumber(tokens[first]) || tokens[first] === "pi")) {
      stop = UNITS.get(tokens[first + 1]) === "degrees" ? first + 1 : first;
      stop = Math.max(stop, this.decimal(first)[1] - 1);
      inner = this.translate(first, stop, true);
    }
    if (inner === undefined) return undefined;
    const hasUnit =
      tokens.slice(first, stop + 1)
        .some((token) => UNITS.get(token) === "degrees" || token === "pi" || token === "rad");
    if (OF_ANGLES.has(name) && !hasUnit || TO_ANGLES.has(name)) this.hasAngles = true;
    if (OF_ANGLES.has(name) && !hasUnit && this.inDegrees) inner = `math.rad(${inner})`;
    const lua = `math.${NAMES[name] ?? name}(${inner})`;
    return [TO_ANGLES.has(name) && this.inDegrees ? `math.deg(${lua})` : lua, stop + 1];
  }

  // The Lua of the tokens from `first` to `last`.
  translate(first, last, hasCommas) {
    const {tokens} = this, parts = [];
    for (let i = first, depth = 0; i <= last;) {
      const token = tokens[i];
      let lua, after = i + 1;
      depth += {"(": 1, ")": -1}[token] ?? 0;
      const isFactor = isNumber(parts.at(-1)) || parts.at(-1) === ")";
      if (this.isFunction(i)) [lua, after] = this.call(i, last) ?? [token, after];
      else if (token === "pi" && tokens[i - 1] !== "." && !this.isKnown("pi")) lua = "math.pi";
      else if (isNumber(token) && hasCommas && (depth === 0 || tokens[i - 2] !== ","))
        [lua, after] = this.decimal(i);
      if (lua?.startsWith("math") && isFactor) parts.push("*");
      if (lua === undefined && token === "°") parts.push(`math.rad(${parts.pop() ?? ""})`);
      else parts.push(lua ?? token);
      i = after;
      if (isSpace(tokens[i]) && isNumber(parts.at(-1))
        && (tokens[i + 1] === "pi" || this.isFunction(i + 1)))
        i += 1; // 2 sqrt(3)
    }
    return parts.join("");
  }
}

// Splits a unit from the end of an answer: the index of the last token before it, and the unit.
function split(tokens) {
  let last = tokens.length - 1;
  const unit = UNITS.get(tokens[last]);
  if (!unit || tokens[last] === "°" && tokens.some((token) => OF_ANGLES.has(token))) return [last];
  do last -= 1;
  while (isSpace(tokens[last]));
  const before = tokens[last];
  return isNumber(before) || before === ")" || before === "pi" ? [last, unit] : [tokens.length - 1];
}

// What an answer with a unit can mean.
function withUnit(lua, unit) {
  if (unit === "percent") return [`(${lua})/100`];
  if (unit === "degrees") return [lua, `math.rad(${lua})`];
  return unit === "radians" ? [lua, `math.deg(${lua})`] : [lua];
}

// The readings of an answer, as Lua: the first is what it most likely means. An answer in Lua, or
// one that is not understood, is its own and only reading.
export function readings(text, isKnown = () => false) {
  if (/[={}"'>\n]/.test(text)) return [text];
  const plain = text.trim().replace(/[^]/gu, (sign) => SIGNS.get(sign) ?? sign);
  const tokens = plain.match(TOKENS) ?? [], reader = new Reader(tokens, isKnown);
  const [last, unit] = split(tokens), found = new Set();
  const add = () => {
    for (const source of withUnit(reader.translate(0, last, true), unit)) found.add(source);
  };
  add();
  if (reader.hasAngles) {
    reader.inDegrees = true;
    add();
  }
  if (reader.hasThousands) {
    reader.hasGroups = false;
    add();
  }
  return found.size === 1 && found.has(text.trim()) ? [text] : [...found];
}
