//! Reading regions and instructions.

use super::parse::Parser;
use super::{Parsed, Token};
use crate::message::{Message, MessagePart};
use crate::op::{Op, Trap};
use crate::region::{
    Arg, Combiner, Def, Inst, InstKind, Place, Read, ReduceFlags, Reduction, Region, Start,
    Subscript, Value,
};
use crate::types::{Elem, Ident, Loc};

impl Parser<'_> {
    pub(super) fn guard(&mut self) -> Parsed<Option<Region>> {
        if self.cursor.eat_word("where") { self.region().map(Some) } else { Ok(None) }
    }

    pub(super) fn region(&mut self) -> Parsed<Region> {
        self.cursor.enter()?;
        self.cursor.expect("{")?;
        let mut region = Region::default();
        if self.cursor.eat("|") {
            region.params = self.defs()?;
            self.cursor.expect("|")?;
        }
        while !self.cursor.eat_word("yield") {
            let inst = self.inst()?;
            region.insts.push(inst);
        }
        if !self.cursor.sees(";") {
            region.results = self.args()?;
        }
        self.cursor.expect(";")?;
        self.cursor.expect("}")?;
        self.cursor.leave();
        Ok(region)
    }

    fn defs(&mut self) -> Parsed<Vec<Def>> {
        let mut defs = vec![self.def()?];
        while self.cursor.eat(",") {
            defs.push(self.def()?);
        }
        Ok(defs)
    }

    fn def(&mut self) -> Parsed<Def> {
        let Some(Token::Value(number)) = self.cursor.peek() else {
            return Ok(Def::Tensor(self.tensor()?));
        };
        let number = *number;
        self.cursor.skip(1);
        self.cursor.expect(":")?;
        let elem = self.cursor.elem()?;
        if self.values.insert(number, elem).is_some() {
            return self.cursor.fail(format!("`%{number}` is defined twice"));
        }
        self.module.supply.skip(number);
        Ok(Def::Scalar(Value { number, elem }))
    }

    fn inst(&mut self) -> Parsed<Inst> {
        let loc = Loc::default();
        if self.cursor.sees_word("binding") || self.cursor.sees_word("group") {
            let kind = InstKind::Group(Box::new(self.group()?));
            return Ok(Inst { results: Vec::new(), kind, loc });
        }
        let defines = matches!(self.cursor.peek(), Some(Token::Value(_)))
            || matches!(self.cursor.peek_at(1), Some(Token::Sign(":")));
        let results = if defines { self.defs()? } else { Vec::new() };
        if defines {
            self.cursor.expect("=")?;
        }
        let kind = self.kind()?;
        self.cursor.expect(";")?;
        Ok(Inst { results, kind, loc })
    }

    fn kind(&mut self) -> Parsed<InstKind> {
        let word = self.cursor.word()?;
        if let Some(op) = Op::parse(word) {
            return Ok(InstKind::Op(op, self.args()?));
        }
        match word {
            "index" => Ok(InstKind::Index(self.quasi()?)),
            "read" => self.read(),
            "if" => self.conditional(),
            "switch" => self.switch(),
            "reduce" => Ok(InstKind::Reduce(Box::new(self.reduction()?))),
            "call" => {
                let (function, args) = self.call()?;
                Ok(InstKind::Call { function, args })
            }
            "host_call" => {
                let (function, args) = self.call()?;
                Ok(InstKind::HostCall { function, args })
            }
            "deriv" => {
                let of = self.place()?;
                self.cursor.expect("/")?;
                Ok(InstKind::Deriv { of, by: self.place()? })
            }
            "param" => {
                let var = self.symbol_use()?;
                self.cursor.expect("=")?;
                Ok(InstKind::Param { var, value: self.arg()? })
            }
            "converged" => Ok(InstKind::Converged(self.symbol_use()?)),
            "assert" => Ok(InstKind::Assert { condition: self.arg()?, message: self.message()? }),
            "trap" => self.trap(),
            _ => self.cursor.fail(format!("`{word}` is not an instruction")),
        }
    }

    fn read(&mut self) -> Parsed<InstKind> {
        let place = self.place()?;
        let proved = self.cursor.eat_word("proved");
        let default = if self.cursor.eat_word("else") { Some(self.region()?) } else { None };
        Ok(InstKind::Read(Read { place, default, proved }))
    }

    fn place(&mut self) -> Parsed<Place> {
        let tensor = self.cursor.ident()?;
        let at = self.bracketed(|p| match p.cursor.peek() {
            Some(Token::Value(_)) => Ok(Subscript::Value(p.arg()?)),
            _ => match p.cursor.constant() {
                Some(constant) => Ok(Subscript::Value(constant.into())),
                None => Ok(Subscript::Index(p.quasi()?)),
            },
        })?;
        Ok(Place { tensor, at })
    }

    fn conditional(&mut self) -> Parsed<InstKind> {
        let condition = self.arg()?;
        let then = self.region()?;
        self.cursor.expect_word("else")?;
        Ok(InstKind::If { condition, then, otherwise: self.region()? })
    }

    fn switch(&mut self) -> Parsed<InstKind> {
        let on = self.arg()?;
        self.cursor.expect("{")?;
        let mut cases = Vec::new();
        while !self.cursor.eat_word("else") {
            cases.push((self.cursor.number()?, self.region()?));
        }
        let otherwise = self.region()?;
        self.cursor.expect("}")?;
        Ok(InstKind::Switch { on, cases, otherwise })
    }

    fn call(&mut self) -> Parsed<(Ident, Vec<Arg>)> {
        let function = self.cursor.ident()?;
        self.cursor.expect("(")?;
        let args = if self.cursor.sees(")") { Vec::new() } else { self.args()? };
        self.cursor.expect(")")?;
        Ok((function, args))
    }

    fn trap(&mut self) -> Parsed<InstKind> {
        match Trap::parse(self.cursor.word()?) {
            Some(trap) => Ok(InstKind::Trap { trap, message: self.message()? }),
            None => self.cursor.fail("expected the name of a trap"),
        }
    }

    fn message(&mut self) -> Parsed<Message> {
        let mut parts = Vec::new();
        loop {
            parts.push(match self.cursor.peek() {
                Some(Token::Text(_)) => MessagePart::Text(self.cursor.string()?),
                _ => {
                    let arg = self.arg()?;
                    self.cursor.expect_word("as")?;
                    MessagePart::Value(arg, self.cursor.string()?)
                }
            });
            if !self.cursor.eat(",") {
                return Ok(Message(parts));
            }
        }
    }

    fn reduction(&mut self) -> Parsed<Reduction> {
        let combine = match self.cursor.sees("{") {
            true => Combiner::Region(self.region()?),
            false => match Op::parse(self.cursor.word()?) {
                Some(op) => Combiner::Op(op),
                None => return self.cursor.fail("expected an operation"),
            },
        };
        let start = match self.cursor.word()? {
            "identity" => Start::Identity(self.args()?),
            "init" => Start::Init(self.args()?),
            "first" => Start::First,
            _ => return self.cursor.fail("expected `identity`, `init` or `first`"),
        };
        let flags = self.flags()?;
        let domain = self.domain()?.into();
        let guard = self.guard()?;
        self.cursor.expect_word("do")?;
        Ok(Reduction { domain, guard, body: self.region()?, combine, start, flags })
    }

    fn flags(&mut self) -> Parsed<ReduceFlags> {
        let mut flags = ReduceFlags::default();
        loop {
            match self.cursor.word()? {
                "commutative" => flags.commutative = true,
                "idempotent" => flags.idempotent = true,
                "reassociable" => flags.reassociable = true,
                "over" => return Ok(flags),
                _ => return self.cursor.fail("expected a flag or `over`"),
            }
        }
    }

    fn args(&mut self) -> Parsed<Vec<Arg>> {
        let mut args = vec![self.arg()?];
        while self.cursor.eat(",") {
            args.push(self.arg()?);
        }
        Ok(args)
    }

    fn arg(&mut self) -> Parsed<Arg> {
        if let Some(Token::Value(number)) = self.cursor.peek() {
            let number = *number;
            let Some(elem): Option<Elem> = self.values.get(&number).copied() else {
                return self.cursor.fail(format!("`%{number}` is not defined"));
            };
            self.cursor.skip(1);
            return Ok(Arg::Value(Value { number, elem }));
        }
        match self.cursor.constant() {
            Some(constant) => Ok(Arg::Const(constant)),
            None => Ok(Arg::Tensor(self.cursor.ident()?)),
        }
    }
}
