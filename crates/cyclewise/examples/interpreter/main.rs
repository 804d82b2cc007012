//! An interpreter of a small Lisp, whose one thread pays for atomic counts or, with `--elided`, does not.
//!
//! ```text
//! interpreter [--elided|--locked] [N]
//! ```
//! Runs `visits.lisp`, which takes N thousand steps (1000 unless told) and notes each in a persistent map of 4096 pairs,
//! and prints a checksum of the map. Whatever two parts of the run may share is behind an [`Arc`]: syntax, closures,
//! their environments, pairs, and the nodes of the map, whose versions share what did not change. So there are thousands
//! of shared nodes, and most of the work is to count references up and down.
//!
//! The gain depends on the interpreted program. This one was chosen because a step copies map nodes of many
//! references, one count each: 1.34 times as fast without LOCK on Zen 4 (README). With narrower nodes it was about 1.2,
//! and n-queens, which allocates and compares, gained next to nothing.
//!
//! An interpreter meant as a library has to count atomically, because its user may have threads. This program has none
//! and says so in one call; the interpreter does not know.

mod map;
mod syntax;

use cyclewise::refs::Arc;
use map::{KEYS, Map};
use syntax::{Expr, Lambda, Operator};

fn main() {
    let mut elided = false;
    let mut thousands = 1000;
    for argument in std::env::args().skip(1) {
        match (argument.as_str(), argument.parse()) {
            ("--elided", _) => elided = true,
            ("--locked", _) => elided = false,
            (_, Ok(number @ 1..=5000)) => thousands = number,
            _ => {
                eprintln!("usage: interpreter [--elided|--locked] [N, 1 to 5000]");
                std::process::exit(2);
            }
        }
    }
    if elided {
        // SAFETY: threads come from the C library only, and no atomics are shared with other processes.
        match unsafe { cyclewise::enable_single!() } {
            Ok(()) => eprintln!("LOCK is gone from {} sites", cyclewise::patch::state().elided),
            Err(refusal) => eprintln!("LOCK stays: {refusal}"),
        }
    }
    let machine = Machine::load(include_str!("visits.lisp"));
    let checksum = machine.run("main", Value::Int(thousands));
    println!("{thousands} thousand steps, checksum {checksum:?}");
}

/// What an expression evaluates to. A clone counts a reference, and copies nothing that is behind one.
#[derive(Clone)]
enum Value {
    Int(i64),
    Nil,
    Pair(Arc<Pair>),
    Map(Map<Value>),
    Function(Arc<Function>),
}

struct Pair {
    head: Value,
    tail: Value,
}

/// A lambda and the environment it was made in.
struct Function {
    lambda: Lambda,
    scope: Scope,
}

/// The innermost variable and, behind it, those further out. Closures made in one scope share it.
type Scope = Option<Arc<Variable>>;

struct Variable {
    value: Value,
    outer: Scope,
}

/// A loaded program: its functions, by the place of their definition.
struct Machine {
    names: Vec<String>,
    globals: Vec<Value>,
}

impl Machine {
    fn load(program: &str) -> Self {
        let function = |lambda| Value::Function(Arc::new(Function { lambda, scope: None }));
        let defined = syntax::parse(program).into_iter();
        let (names, globals) = defined.map(|(name, lambda)| (name, function(lambda))).unzip();
        Self { names, globals }
    }

    fn run(&self, name: &str, argument: Value) -> Value {
        let at = self.names.iter().position(|n| n == name);
        let Value::Function(function) = &self.globals[at.expect("a function that is defined")] else {
            unreachable!("definitions are functions");
        };
        self.call(
            function.clone(),
            Some(Arc::new(Variable {
                value: argument,
                outer: None,
            })),
        )
    }

    /// Runs a function whose parameters are in scope. A call in tail position takes its place.
    fn call(&self, mut function: Arc<Function>, mut scope: Scope) -> Value {
        loop {
            let mut expr = &*function.lambda.body;
            while let Expr::If(parts) = expr {
                let [condition, then, otherwise] = &**parts;
                let is_false = matches!(self.evaluate(condition, &scope), Value::Int(0));
                expr = if is_false { otherwise } else { then };
            }
            let Expr::Call {
                function: callee,
                arguments,
            } = expr
            else {
                return self.evaluate(expr, &scope);
            };
            (function, scope) = self.bind(callee, arguments, &scope);
        }
    }

    /// The function to call, and its scope with the arguments in it.
    fn bind(&self, callee: &Expr, arguments: &[Expr], scope: &Scope) -> (Arc<Function>, Scope) {
        let function = match self.evaluate(callee, scope) {
            Value::Function(function) => function,
            other => panic!("{other:?} is not a function"),
        };
        assert_eq!(arguments.len(), function.lambda.parameters, "arguments of a call");
        let mut inner = function.scope.clone();
        for argument in arguments {
            let value = self.evaluate(argument, scope);
            inner = Some(Arc::new(Variable { value, outer: inner }));
        }
        (function, inner)
    }

    fn evaluate(&self, expr: &Expr, scope: &Scope) -> Value {
        match expr {
            Expr::Int(number) => Value::Int(*number),
            Expr::Nil => Value::Nil,
            Expr::Local(depth) => {
                let mut variables = std::iter::successors(scope.as_deref(), |v| v.outer.as_deref());
                let variable = variables.nth(*depth);
                variable.expect("a variable that the parser saw").value.clone()
            }
            Expr::Global(at) => self.globals[*at].clone(),
            Expr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.evaluate(condition, scope) {
                    Value::Int(0) => self.evaluate(otherwise, scope),
                    _ => self.evaluate(then, scope),
                }
            }
            Expr::Lambda(lambda) => Value::Function(Arc::new(Function {
                lambda: lambda.clone(),
                scope: scope.clone(),
            })),
            Expr::Call { function, arguments } => {
                let (function, scope) = self.bind(function, arguments, scope);
                self.call(function, scope)
            }
            Expr::Apply { operator, on } => {
                let [left, right] = &**on;
                operator.apply(self.evaluate(left, scope), self.evaluate(right, scope))
            }
            Expr::Head(list) => self.pair(list, scope).head.clone(),
            Expr::Tail(list) => self.pair(list, scope).tail.clone(),
            Expr::Map(value) => Value::Map(Map::filled_with(&self.evaluate(value, scope))),
            Expr::Get(parts) => {
                let [map, key] = &**parts;
                self.map(map, scope).get(self.key(key, scope)).clone()
            }
            Expr::Put(parts) => {
                let [map, key, value] = &**parts;
                let (map, key) = (self.map(map, scope), self.key(key, scope));
                Value::Map(map.put(key, self.evaluate(value, scope)))
            }
            Expr::IsNull(list) => Value::Int(i64::from(matches!(self.evaluate(list, scope), Value::Nil))),
        }
    }

    fn pair(&self, expr: &Expr, scope: &Scope) -> Arc<Pair> {
        match self.evaluate(expr, scope) {
            Value::Pair(pair) => pair,
            other => panic!("{other:?} is not a pair"),
        }
    }

    fn map(&self, expr: &Expr, scope: &Scope) -> Map<Value> {
        match self.evaluate(expr, scope) {
            Value::Map(map) => map,
            other => panic!("{other:?} is not a map"),
        }
    }

    fn key(&self, expr: &Expr, scope: &Scope) -> usize {
        match self.evaluate(expr, scope) {
            Value::Int(key) if (0..KEYS as i64).contains(&key) => key as usize,
            other => panic!("{other:?} is not a key"),
        }
    }
}

impl Operator {
    fn apply(self, left: Value, right: Value) -> Value {
        match (self, left, right) {
            (Self::Cons, head, tail) => Value::Pair(Arc::new(Pair { head, tail })),
            (Self::Add, Value::Int(a), Value::Int(b)) => Value::Int(a + b),
            (Self::Sub, Value::Int(a), Value::Int(b)) => Value::Int(a - b),
            (Self::Mul, Value::Int(a), Value::Int(b)) => Value::Int(a * b),
            (Self::Mod, Value::Int(a), Value::Int(b)) => Value::Int(a % b),
            (Self::Equal, Value::Int(a), Value::Int(b)) => Value::Int(i64::from(a == b)),
            (_, left, right) => panic!("{left:?} and {right:?} are not two numbers"),
        }
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Nil => f.write_str("()"),
            Self::Pair(pair) => write!(f, "({:?} . {:?})", pair.head, pair.tail),
            Self::Map(_) => f.write_str("a map"),
            Self::Function(function) => write!(f, "a function of {}", function.lambda.parameters),
        }
    }
}
