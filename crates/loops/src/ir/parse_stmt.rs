//! Reading statements.

use einlang_index::Quasi;
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::Value;
use einlang_tir::types::Ident;

use super::parse::Reader;
use super::{
    Access, Block, BufferId, Combine, Condition, Fold, FoldStart, Key, Loop, Operand, Own, Range,
    Role, Stmt, Subscript, UntilLoop,
};
use crate::text::{Cursor, Parsed};

impl Reader<'_> {
    pub(super) fn braced(&mut self) -> Parsed<Block> {
        self.cursor.expect("{")?;
        self.block()
    }

    /// Statements up to the closing brace.
    fn block(&mut self) -> Parsed<Block> {
        let mut block = Block::default();
        while !self.cursor.eat("}") {
            if self.cursor.eat_word("yield") {
                while !self.cursor.eat(";") {
                    block.results.push(self.operand()?);
                    self.cursor.eat(",");
                }
                continue;
            }
            block.stmts.push(self.deeper()?);
        }
        Ok(block)
    }

    fn deeper(&mut self) -> Parsed<Stmt> {
        // The cursor counts, and lends itself for the time of the statement.
        let mut cursor = std::mem::replace(&mut self.cursor, crate::text::Cursor::new(""));
        let result = cursor.nested(|inner| {
            std::mem::swap(&mut self.cursor, inner);
            let stmt = self.stmt();
            std::mem::swap(&mut self.cursor, inner);
            stmt
        });
        self.cursor = cursor;
        result
    }

    fn operand(&mut self) -> Parsed<Operand> {
        if self.cursor.eat("%") {
            let number = self.small()?;
            return match self.elems.get(&number) {
                Some(elem) => Ok(Value { number, elem: *elem }.into()),
                None => self.cursor.fail(format!("%{number} is not defined")),
            };
        }
        let text = self.cursor.raw(&[',', ';', ')', ']', ' ', '{'])?;
        match Const::parse_typed(text) {
            Some(constant) => Ok(constant.into()),
            None => self.cursor.fail(format!("`{text}` is no operand")),
        }
    }

    fn operands(&mut self) -> Parsed<Vec<Operand>> {
        let mut found = vec![self.operand()?];
        while self.cursor.eat(",") {
            found.push(self.operand()?);
        }
        Ok(found)
    }

    fn defined(&mut self) -> Parsed<Vec<Value>> {
        let mut values = Vec::new();
        while self.cursor.eat("%") {
            let number = self.small()?;
            self.cursor.expect(":")?;
            let elem = self.elem()?;
            values.push(Value { number, elem });
            if !self.cursor.eat(",") {
                break;
            }
        }
        Ok(values)
    }

    fn declare(&mut self, values: &[Value]) {
        self.elems.extend(values.iter().map(|value| (value.number, value.elem)));
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        let results = self.defined()?;
        if !results.is_empty() {
            self.cursor.expect("=")?;
        }
        let word = self.cursor.name()?;
        let one = results.first().copied();
        let stmt = match (&word[..], one) {
            ("if", _) => self.branch(results.clone())?,
            ("fold", _) => self.fold(results.clone())?,
            ("call", _) => {
                let function = Ident::new(&self.cursor.name()?);
                self.cursor.expect("(")?;
                let args = if self.cursor.eat(")") {
                    Vec::new()
                } else {
                    let args = self.operands()?;
                    self.cursor.expect(")")?;
                    args
                };
                let site = self.site()?;
                self.ended(Stmt::Call { results: results.clone(), function, args, site })?
            }
            ("index", Some(result)) => {
                let expr = self.quasi()?;
                self.ended(Stmt::Index { result, expr })?
            }
            ("load", Some(result)) => {
                let (buffer, at) = self.place()?;
                let access = match self.cursor.eat_word("proved") {
                    true => self.ahead()?,
                    false => Access::Site(self.site()?, self.cursor.eat_word("marked")),
                };
                self.ended(Stmt::Load { result, buffer, at, access })?
            }
            ("probe", Some(result)) => {
                let (buffer, at) = self.place()?;
                let marked = self.cursor.eat_word("marked");
                self.ended(Stmt::Probe { result, buffer, at, marked })?
            }
            (name, Some(result)) => match Op::parse(name) {
                Some(op) => {
                    let args = self.operands()?;
                    let site = match self.cursor.peek_word() {
                        "site" => Some(self.site()?),
                        _ => None,
                    };
                    self.ended(Stmt::Op { result, op, args, site })?
                }
                None => return self.cursor.fail(format!("`{name}` is no operation")),
            },
            (name, None) => self.effect(name)?,
        };
        self.declare(&results);
        Ok(stmt)
    }

    fn ended(&mut self, stmt: Stmt) -> Parsed<Stmt> {
        self.cursor.expect(";")?;
        Ok(stmt)
    }

    /// A statement that defines no value.
    fn effect(&mut self, word: &str) -> Parsed<Stmt> {
        let stmt = match word {
            "loop" => return self.looped(),
            "team" => return Ok(Stmt::Team(self.braced()?)),
            "barrier" => Stmt::Barrier,
            "bind" => {
                let var = self.var()?;
                self.cursor.expect("=")?;
                self.cursor.expect("(")?;
                let expr = self.bound(')')?;
                self.cursor.expect(")")?;
                Stmt::Bind { var, expr }
            }
            "param" => {
                let var = self.var()?;
                self.cursor.expect("=")?;
                Stmt::Param { var, value: self.operand()?, site: self.site()? }
            }
            "store" => {
                let (buffer, at) = self.place()?;
                let index = |subscript: Subscript| match subscript {
                    Subscript::Index(expr) => Some(expr),
                    Subscript::Value(_) => None,
                };
                let Some(at) = at.into_iter().map(index).collect::<Option<Vec<Quasi>>>() else {
                    return self.cursor.fail("a store has index expressions only");
                };
                self.cursor.expect("=")?;
                Stmt::Store { buffer, at, value: self.operand()? }
            }
            "check_shape" => Stmt::CheckShape(self.buffer_id()?, self.site()?),
            "alloc" => Stmt::Alloc(self.buffer_id()?),
            "free" => Stmt::Free(self.buffer_id()?),
            "copy" => {
                let to = self.buffer_id()?;
                self.cursor.expect_word("from")?;
                Stmt::Copy { to, from: self.buffer_id()? }
            }
            "assert" => Stmt::Assert { condition: self.condition()?, site: self.site()? },
            "trap" => Stmt::Trap(super::SiteId(self.small()?)),
            other => return self.cursor.fail(format!("`{other}` is no statement")),
        };
        self.ended(stmt)
    }

    /// How a load that was proved goes on.
    fn ahead(&mut self) -> Parsed<Access> {
        match self.cursor.eat_word("ahead") {
            true => Ok(Access::Ahead(self.small()?)),
            false => Ok(Access::Proved),
        }
    }

    fn place(&mut self) -> Parsed<(BufferId, Vec<Subscript>)> {
        let buffer = self.buffer_id()?;
        self.cursor.expect("[")?;
        let mut at = Vec::new();
        while !self.cursor.eat("]") {
            let is_index = self.cursor.eat("(");
            at.push(match is_index {
                true => {
                    let text = self.cursor.raw(&[')'])?;
                    let parsed = Quasi::parse(text, &mut self.kernel.vars);
                    self.cursor.expect(")")?;
                    match parsed {
                        Ok(expr) => Subscript::Index(expr),
                        Err(error) => return self.cursor.fail(error.to_string()),
                    }
                }
                false => Subscript::Value(self.operand()?),
            });
            self.cursor.eat(",");
        }
        Ok((buffer, at))
    }

    fn condition(&mut self) -> Parsed<Condition> {
        match self.cursor.eat_word("within") {
            true => Ok(Condition::Within(self.domain()?)),
            false => Ok(Condition::Value(self.operand()?)),
        }
    }

    fn branch(&mut self, results: Vec<Value>) -> Parsed<Stmt> {
        let condition = self.condition()?;
        let then = self.braced()?;
        let otherwise = match self.cursor.eat_word("else") {
            true => self.braced()?,
            false => Block::default(),
        };
        Ok(Stmt::If { results, condition, then, otherwise })
    }

    fn range(&mut self) -> Parsed<Range> {
        let var = self.var()?;
        self.cursor.expect_word("in")?;
        self.cursor.expect("(")?;
        let lo = self.bound(',')?;
        self.cursor.expect(",")?;
        let hi = self.bound(')')?;
        self.cursor.expect(")")?;
        Ok(Range { var, lo, hi, down: self.cursor.eat_word("down") })
    }

    fn looped(&mut self) -> Parsed<Stmt> {
        let range = self.range()?;
        let role = parse_role(&mut self.cursor)?;
        let own = match self.cursor.eat_word("own") {
            true => Own::Part,
            false if self.cursor.eat_word("taken") => Own::Taken,
            false => Own::All,
        };
        let body = self.braced()?;
        let mut until = None;
        if self.cursor.eat_word("until") {
            let extent = self.var()?;
            self.cursor.expect_word("from")?;
            self.cursor.expect("(")?;
            let first = self.bound(')')?;
            self.cursor.expect(")")?;
            self.cursor.expect_word("gives")?;
            let values = self.defined()?;
            let [converged] = values[..] else { return self.cursor.fail("expected one value") };
            self.cursor.expect_word("grows")?;
            self.cursor.expect("(")?;
            let mut buffers = Vec::new();
            while !self.cursor.eat(")") {
                buffers.push(self.buffer_id()?);
                self.cursor.eat(",");
            }
            let condition = self.braced()?;
            self.declare(&values);
            until = Some(UntilLoop { extent, first, condition, converged, buffers });
        }
        Ok(Stmt::Loop(Box::new(Loop { range, role, own, until, body })))
    }

    fn fold(&mut self, results: Vec<Value>) -> Parsed<Stmt> {
        let how = self.cursor.name()?;
        let mut combine = match (&how[..], Op::parse(&how)) {
            ("block", _) => Combine::Block { left: vec![], right: vec![], block: Block::default() },
            (_, Some(op)) if self.cursor.eat_word("pairs") => Combine::Pairs(op),
            (_, Some(op)) => Combine::Op(op),
            _ => return self.cursor.fail(format!("`{how}` is no way to combine")),
        };
        let start = match &self.cursor.name()?[..] {
            "from" => {
                self.cursor.expect("(")?;
                let operands = self.operands()?;
                self.cursor.expect(")")?;
                FoldStart::From(operands)
            }
            "first" => FoldStart::First(self.site()?),
            _ => return self.cursor.fail("expected `from` or `first`"),
        };
        self.cursor.expect_word("over")?;
        self.cursor.expect("(")?;
        let mut ranges = Vec::new();
        while !self.cursor.eat(")") {
            ranges.push(self.range()?);
            self.cursor.eat(",");
        }
        let within = match self.cursor.eat_word("within") {
            true => Some(self.domain()?),
            false => None,
        };
        let resume = match self.cursor.eat_word("resume") {
            true => Some(self.var()?),
            false => None,
        };
        // The guard comes first, because the body may use what it defines.
        let (mut guard, mut key) = (None, None);
        let mut body = self.braced()?;
        if self.cursor.eat_word("guards") {
            guard = Some(std::mem::replace(&mut body, self.braced()?));
        }
        if self.cursor.eat_word("key") {
            let bin = self.operand()?;
            key = Some(Key { block: self.braced()?, bin });
        }
        if let Combine::Block { left, right, block } = &mut combine {
            self.cursor.expect_word("combine")?;
            for side in [left, right] {
                self.cursor.expect("(")?;
                *side = self.defined()?;
                self.declare(side);
                self.cursor.expect(")")?;
            }
            *block = self.braced()?;
        }
        let fold = Fold { results, ranges, within, guard, body, combine, start, resume, key };
        Ok(Stmt::Fold(Box::new(fold)))
    }
}

/// The most rounds of a loop that run at once.
const MOST_AT_ONCE: i64 = 64;

/// The most terms of a block.
const MOST_TERMS: i64 = 1 << 16;

/// Reads a role.
pub(crate) fn parse_role(cursor: &mut Cursor<'_>) -> Parsed<Role> {
    match &cursor.name()?[..] {
        "seq" => Ok(Role::Seq),
        "par" => Ok(Role::Par),
        "wave" => Ok(Role::Wave),
        what @ ("lane" | "unroll") => match (cursor.number()?, what) {
            (width @ 2..=MOST_AT_ONCE, "lane") => Ok(Role::Lane(width as u32)),
            (rounds @ 2..=MOST_AT_ONCE, _) => Ok(Role::Unroll(rounds as u32)),
            _ => cursor.fail("2 to 64 rounds can run at once"),
        },
        "terms" => match cursor.number()? {
            block @ 1..=MOST_TERMS => Ok(Role::Terms(block as u32)),
            _ => cursor.fail("a block has 1 to 65536 terms"),
        },
        _ => cursor.fail("expected `seq`, `par`, `lane`, `unroll`, `terms` or `wave`"),
    }
}
