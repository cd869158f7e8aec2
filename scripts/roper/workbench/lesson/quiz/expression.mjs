// Expressions of numbers in Lua: answers to questions, and the conditions of hints.
const MATH = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  sqrt: Math.sqrt,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: (y, x = 1) => Math.atan2(y, x),
  exp: Math.exp,
  max: Math.max,
  min: Math.min,
  log: (x, base) => base === undefined ? Math.log(x) :
    base === 2                         ? Math.log2(x) :
    base === 10                        ? Math.log10(x) :
                                         Math.log(x) / Math.log(base),
  deg: (angle) => angle * 180 / Math.PI,
  rad: (angle) => angle * Math.PI / 180,
  fmod: (a, b) => a % b,
  pi: Math.PI,
  huge: Infinity
};
const NUMBER = /0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.source;
const TOKEN = new RegExp(
  `\\s*(?:(${NUMBER})(?![\\w.])|([A-Za-z_]\\w*(?:\\.\\w+)*)|(//|[=~<>]=|[-+*/%^()<>,]))`, "y");

const numbers = (f) => (a, b) => {
  if (typeof a !== "number" || typeof b !== "number") throw new TypeError("expected numbers");
  return f(a, b);
};
// Binary operators: their precedence, and what they compute. "^" is right-associative.
const OPERATORS = {
  or: [1, (a, b) => a === false ? b : a],
  and: [2, (a, b) => a === false ? a : b],
  "==": [3, (a, b) => a === b],
  "~=": [3, (a, b) => a !== b],
  "<": [3, numbers((a, b) => a < b)],
  "<=": [3, numbers((a, b) => a <= b)],
  ">": [3, numbers((a, b) => a > b)],
  ">=": [3, numbers((a, b) => a >= b)],
  "+": [4, numbers((a, b) => a + b)],
  "-": [4, numbers((a, b) => a - b)],
  "*": [5, numbers((a, b) => a * b)],
  "/": [5, numbers((a, b) => a / b)],
  "//": [5, numbers((a, b) => Math.floor(a / b))],
  "%": [5, numbers((a, b) => a - Math.floor(a / b) * b)],
  "^": [7, numbers(Math.pow)]
};
const UNARY = 6;

// Evaluates an expression of numbers in Lua. Raises an error if it is anything else.
export function evaluate(source, names) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (source.slice(TOKEN.lastIndex).trim()) {
    const found = TOKEN.exec(source);
    if (!found) throw new SyntaxError(source);
    tokens.push(found);
  }
  let at = 0;
  const next = () => tokens[at] && (tokens[at][2] ?? tokens[at][3]);
  const take = (sign) => {
    if (next() !== sign) throw new SyntaxError(`expected ${sign}`);
    at += 1;
  };

  function named(name) {
    const value = name.startsWith("math.") ? MATH[name.slice(5)] : names[name];
    if (typeof value === "function") {
      const given = [];
      take("(");
      do given.push(expression(1));
      while (next() === "," && (at += 1));
      take(")");
      return value(...given);
    }
    if (value === undefined) throw new ReferenceError(name);
    return value;
  }

  function operand() {
    const token = tokens[at++];
    if (!token) throw new SyntaxError("incomplete");
    if (token[1]) return Number(token[1]);
    const word = token[2] ?? token[3];
    if (word === "-") return -expression(UNARY);
    if (word === "not") return expression(UNARY) === false;
    if (word === "(") {
      const value = expression(1);
      take(")");
      return value;
    }
    if (word === "true" || word === "false") return word === "true";
    if (!token[2] || OPERATORS[word]) throw new SyntaxError(word);
    return named(word);
  }

  function expression(least) {
    let value = operand();
    for (let word = next(); OPERATORS[word]?.[0] >= least; word = next()) {
      const [precedence, compute] = OPERATORS[word];
      at += 1;
      value = compute(value, expression(word === "^" ? UNARY : precedence + 1));
    }
    return value;
  }

  const value = expression(1);
  if (tokens[at]) throw new SyntaxError("expected an operator");
  return value;
}
