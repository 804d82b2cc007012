//! The language: definitions of functions, whose bodies are lists.

use cyclewise::refs::Arc;

/// Syntax, with names resolved: a local is how many variables are further in, a global is its place in the program.
pub(crate) enum Expr {
    Int(i64),
    Nil,
    Local(usize),
    Global(usize),
    If(Box<[Expr; 3]>),
    Lambda(Lambda),
    Call { function: Box<Expr>, arguments: Vec<Expr> },
    Apply { operator: Operator, on: Box<[Expr; 2]> },
    Head(Box<Expr>),
    Tail(Box<Expr>),
    IsNull(Box<Expr>),
    Map(Box<Expr>),
    Get(Box<[Expr; 2]>),
    Put(Box<[Expr; 3]>),
}

#[derive(Clone, Copy)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    Mod,
    Equal,
    Cons,
}

/// A lambda before it meets an environment.
#[derive(Clone)]
pub(crate) struct Lambda {
    pub(crate) parameters: usize,
    pub(crate) body: Arc<Expr>,
}

/// The functions that a program defines, each of which may use all of them, and their names.
pub(crate) fn parse(program: &str) -> Vec<(String, Lambda)> {
    let lines = program.lines().filter(|line| !line.starts_with(';'));
    let spaced = lines
        .collect::<Vec<_>>()
        .join(" ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let defined = tokens.windows(3).filter(|w| w[..2] == ["define", "("]);
    let names: Vec<&str> = defined.map(|w| w[2]).collect();
    let mut parser = Parser {
        tokens,
        at: 0,
        names: &names,
        locals: Vec::new(),
    };
    let define = |name: &&str| {
        parser.skip(&["(", "define", "(", *name]);
        let lambda = parser.lambda();
        (name.to_string(), lambda)
    };
    names.iter().map(define).collect()
}

/// Reads expressions. The program is this example's, so a mistake in it is a panic.
struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    names: &'a [&'a str],
    /// Variables in scope, the innermost last.
    locals: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> &'a str {
        self.at += 1;
        self.tokens[self.at - 1]
    }

    fn skip(&mut self, expected: &[&str]) {
        for token in expected {
            assert_eq!(self.next(), *token);
        }
    }

    /// Parameters, body and end of a definition or a lambda.
    fn lambda(&mut self) -> Lambda {
        let outside = self.locals.len();
        while self.tokens[self.at] != ")" {
            let name = self.next();
            self.locals.push(name);
        }
        let parameters = self.locals.len() - outside;
        self.skip(&[")"]);
        let body = self.expr();
        self.skip(&[")"]);
        self.locals.truncate(outside);
        Lambda {
            parameters,
            body: Arc::new(body),
        }
    }

    fn expr(&mut self) -> Expr {
        match self.next() {
            "(" => self.form(),
            token => token.parse().map_or_else(|_| self.name(token), Expr::Int),
        }
    }

    fn name(&self, name: &str) -> Expr {
        if let Some(depth) = self.locals.iter().rev().position(|n| *n == name) {
            return Expr::Local(depth);
        }
        let place = self.names.iter().position(|n| *n == name);
        Expr::Global(place.unwrap_or_else(|| panic!("{name} is not defined")))
    }

    /// What follows an opening parenthesis.
    fn form(&mut self) -> Expr {
        let start = self.at;
        let operator = match self.next() {
            ")" => return Expr::Nil,
            "lambda" => {
                self.skip(&["("]);
                return Expr::Lambda(self.lambda());
            }
            "if" => return Expr::If(Box::new(self.rest())),
            "head" => return Expr::Head(Box::new(self.one())),
            "tail" => return Expr::Tail(Box::new(self.one())),
            "null?" => return Expr::IsNull(Box::new(self.one())),
            "map" => return Expr::Map(Box::new(self.one())),
            "get" => return Expr::Get(Box::new(self.rest())),
            "put" => return Expr::Put(Box::new(self.rest())),
            "+" => Operator::Add,
            "-" => Operator::Sub,
            "*" => Operator::Mul,
            "mod" => Operator::Mod,
            "=" => Operator::Equal,
            "cons" => Operator::Cons,
            _ => {
                self.at = start;
                let function = Box::new(self.expr());
                return Expr::Call {
                    function,
                    arguments: self.list(),
                };
            }
        };
        Expr::Apply {
            operator,
            on: Box::new(self.rest()),
        }
    }

    /// Expressions up to the closing parenthesis.
    fn list(&mut self) -> Vec<Expr> {
        let mut list = Vec::new();
        while self.tokens[self.at] != ")" {
            list.push(self.expr());
        }
        self.skip(&[")"]);
        list
    }

    fn rest<const N: usize>(&mut self) -> [Expr; N] {
        let list: Result<[Expr; N], _> = self.list().try_into();
        list.unwrap_or_else(|l| panic!("{} operands instead of {N}", l.len()))
    }

    fn one(&mut self) -> Expr {
        let [one] = self.rest();
        one
    }
}
