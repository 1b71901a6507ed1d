//! Reading modules, groups and bindings.

use rustc_hash::FxHashMap as HashMap;

use super::{Cursor, Parsed};
use crate::answer::{Answer, How};
use crate::module::{
    Binding, Check, Clause, Function, Group, Module, Rule, Symbol, SymbolSource, Until,
};
use crate::op::Trap;
use crate::types::{Elem, Loc};

/// Reads the text form of a module. What is read is well formed as text only; the verifier says
/// whether it means something.
pub fn parse_module(text: &str) -> Parsed<Module> {
    let mut parser = Parser {
        cursor: Cursor::new(text)?,
        module: Module::default(),
        values: HashMap::default(),
    };
    parser.module()?;
    parser.cursor.end()?;
    Ok(parser.module)
}

/// Reads a module that stands inside another text, from where the cursor is.
pub(crate) fn parse_module_at<'a>(cursor: Cursor<'a>) -> Parsed<(Module, Cursor<'a>)> {
    let mut parser = Parser { cursor, module: Module::default(), values: HashMap::default() };
    parser.module()?;
    Ok((parser.module, parser.cursor))
}

/// The module so far.
pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) module: Module,
    /// The types of the values defined so far; their numbers are unique in the module.
    pub(super) values: HashMap<u32, Elem>,
}

impl Parser<'_> {
    fn module(&mut self) -> Parsed<()> {
        self.cursor.expect_word("module")?;
        self.module.name = self.cursor.ident()?.as_str().to_owned();
        if self.cursor.eat_word("with") {
            self.properties()?;
        }
        self.cursor.expect("{")?;
        while !self.cursor.eat("}") {
            self.item()?;
        }
        Ok(())
    }

    fn properties(&mut self) -> Parsed<()> {
        loop {
            let properties = &mut self.module.properties;
            let property = match self.cursor.peek() {
                Some(super::Token::Word("disjoint")) => &mut properties.disjoint,
                Some(super::Token::Word("inlined")) => &mut properties.inlined,
                Some(super::Token::Word("differentiated")) => &mut properties.differentiated,
                Some(super::Token::Word("speculated")) => &mut properties.speculated,
                _ => return self.cursor.fail("expected a property"),
            };
            *property = true;
            self.cursor.skip(1);
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    fn item(&mut self) -> Parsed<()> {
        if self.cursor.sees_word("binding") || self.cursor.sees_word("group") {
            let group = self.group()?;
            self.module.groups.push(group);
            return Ok(());
        }
        if self.cursor.eat_word("fn") {
            return self.function();
        }
        if self.cursor.eat_word("symbol") {
            self.symbol()?;
        } else if self.cursor.eat_word("index") {
            self.indices()?;
        } else if self.cursor.eat_word("assume") {
            let condition = self.condition()?;
            self.module.assumptions.push(condition);
        } else if self.cursor.eat_word("check") {
            let loaded = self.cursor.eat_word(Trap::LoadedShape.as_str());
            let condition = self.condition()?;
            let trap = if loaded { Trap::LoadedShape } else { Trap::ExtentsDiffer };
            let message = self.cursor.string()?;
            self.module.checks.push(Check { condition, message, trap, loc: Loc::default() });
        } else if self.cursor.eat_word("input") {
            let input = self.tensor()?;
            self.module.inputs.push(input);
        } else if self.cursor.eat_word("request") {
            let answer = self.answer()?;
            self.module.answers.push(answer);
        } else if self.cursor.eat_word("output") {
            let names = self.cursor.list(Cursor::ident)?;
            self.module.outputs.extend(names);
        } else {
            return self.cursor.fail("expected an item of a module");
        }
        self.cursor.expect(";")
    }

    fn answer(&mut self) -> Parsed<Answer> {
        let what = self.cursor.string()?;
        let Some((of, by)) = what.split_once(" / ") else {
            return self.cursor.fail("expected a target and a parameter");
        };
        let Some(how) = How::parse(self.cursor.word()?) else {
            return self.cursor.fail("expected how a request was answered");
        };
        self.cursor.expect_word("of")?;
        let target = self.cursor.ident()?;
        let read = match self.cursor.eat_word("by") {
            true => Some(self.cursor.ident()?),
            false => None,
        };
        let (of, by, why) = (of.to_owned(), by.to_owned(), self.cursor.string()?);
        Ok(Answer { of, by, how, why, target, read, loc: Loc::default() })
    }

    fn symbol(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        if self.module.vars.lookup(name.as_str()).is_some() {
            return self.cursor.fail(format!("`{name}` is already declared"));
        }
        let source = if self.cursor.eat("=") { self.source()? } else { SymbolSource::Argument };
        let var = self.module.vars.symbol(name.as_str());
        self.module.symbols.push(Symbol { var, source, loc: Loc::default() });
        Ok(())
    }

    fn source(&mut self) -> Parsed<SymbolSource> {
        match self.cursor.word()? {
            "shape" => Ok(SymbolSource::Shape(self.cursor.ident()?, self.cursor.number()?)),
            "value" => Ok(SymbolSource::Value(self.cursor.ident()?)),
            "max" => Ok(SymbolSource::Max(self.alternatives()?)),
            "min" => Ok(SymbolSource::Min(self.alternatives()?)),
            "until" => Ok(SymbolSource::Until),
            "local" => Ok(SymbolSource::Local),
            _ => self.cursor.fail("expected the source of a symbol"),
        }
    }

    fn alternatives(&mut self) -> Parsed<Vec<einlang_index::Quasi>> {
        self.cursor.expect("(")?;
        let mut list = vec![self.quasi()?];
        while self.cursor.eat(",") {
            list.push(self.quasi()?);
        }
        self.cursor.expect(")")?;
        Ok(list)
    }

    fn indices(&mut self) -> Parsed<()> {
        loop {
            let name = self.cursor.ident()?;
            if self.module.vars.lookup(name.as_str()).is_some() {
                return self.cursor.fail(format!("`{name}` is already declared"));
            }
            self.module.vars.index(name.as_str());
            if !self.cursor.eat(",") {
                return Ok(());
            }
        }
    }

    fn function(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        let reverse = self.cursor.sees_word("reverse_rule");
        let rule = match reverse || self.cursor.sees_word("rule") {
            true => {
                self.cursor.skip(1);
                let function = self.cursor.ident()?;
                let silent = match self.cursor.eat_word("silent") {
                    true => self.cursor.number()?,
                    false => 0,
                };
                Some(Rule { function, reverse, silent })
            }
            false => None,
        };
        let body = self.region()?;
        self.module.functions.push(Function { name, body, rule, loc: Loc::default() });
        Ok(())
    }

    pub(super) fn group(&mut self) -> Parsed<Group> {
        if !self.cursor.eat_word("group") {
            return Ok(Group { bindings: vec![self.binding()?], until: None });
        }
        self.cursor.expect("{")?;
        let mut group = Group { bindings: Vec::new(), until: None };
        while self.cursor.sees_word("binding") {
            group.bindings.push(self.binding()?);
        }
        if self.cursor.eat_word("until") {
            group.until = Some(self.until()?);
        }
        self.cursor.expect("}")?;
        Ok(group)
    }

    fn until(&mut self) -> Parsed<Until> {
        let extent = self.symbol_use()?;
        self.cursor.expect_word("index")?;
        let index = self.binder()?;
        self.cursor.expect_word("from")?;
        let first = self.quasi()?;
        self.cursor.expect_word("max")?;
        let max = self.quasi()?;
        Ok(Until { extent, index, first, max, condition: self.region()? })
    }

    fn binding(&mut self) -> Parsed<Binding> {
        self.cursor.expect_word("binding")?;
        let name = self.cursor.ident()?;
        self.cursor.expect(":")?;
        let elem = self.cursor.elem()?;
        let axes = self.bracketed(Parser::axis)?;
        let zero_fill = self.cursor.eat_word("zero_fill");
        self.cursor.expect("{")?;
        let mut clauses = Vec::new();
        while self.cursor.eat_word("clause") {
            clauses.push(self.clause()?);
        }
        self.cursor.expect("}")?;
        Ok(Binding { name, elem, axes, clauses, zero_fill, loc: Loc::default() })
    }

    fn clause(&mut self) -> Parsed<Clause> {
        let domain = self.domain()?.into();
        let guard = self.guard()?;
        Ok(Clause { domain, guard, body: self.region()?, loc: Loc::default() })
    }
}
