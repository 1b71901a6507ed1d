//! Reading programs.
//!
//! ```text
//! program = "program" "{" {item} "}"
//! item    = "struct" name "{" [name ":" type {"," …}] "}" | module | "entry" name ";"
//!         | "enum" name "{" [name "(" [types] ")" {"," …}] "}"
//!         | "labels" name name "(" [name {"," name}] ")" ";"
//!         | "fn" name [rule] "->" "(" [types] ")" block
//! rule    = "rule" ("forward" | "reverse") name "(" [number {"," number}] ")"
//! type    = elem | "str" | "tensor" "(" elem "," rank ")" | "list" "(" type ")"
//!         | "tuple" "(" [types] ")" | "struct" name | "enum" name
//!         | "fn" "(" [types] ")" "->" "(" [types] ")"
//! block   = "{" ["|" def {"," def} "|"] {inst} "yield" [args] ";" "}"
//! inst    = [def {"," def} "="] kind ";"           def = value ":" type
//! kind    = op args | intrinsic "(" [args] ")" | "tuple" "(" [args] ")" | "list" "(" [args] ")"
//!         | "struct" name "(" [args] ")" | "variant" name name "(" [args] ")"
//!         | "field" arg "," number | "if" arg block "else" block
//!         | "switch" arg "{" {number block} "else" block "}"
//!         | "match" arg "{" {name block} ["else" block] "}"
//!         | "for" arg "," arg "carry" "(" [args] ")" block
//!         | "while" "carry" "(" [args] ")" block "do" block
//!         | ("call" | "closure" | "run") name "(" [args] ")" | "apply" arg "(" [args] ")"
//!         | "format" "(" [part {"," part}] ")" | "try" block
//!         | "assert" arg string | "trap" trap string | "fail" trap arg
//! part    = string | arg "as" string               arg = value | constant | string
//! ```

use super::{
    Block, FormatPart, HostArg, HostDef, HostFn, HostInst, HostKind, HostRule, HostType, Intrinsic,
    Labels, Program, TypeDecl, Variant,
};
use crate::op::{Op, Trap};
use crate::text::{Cursor, Parsed, Token, parse_module_at};
use crate::types::{Elem, Loc};

/// Reads the text form of a program.
pub fn parse_program(text: &str) -> Parsed<Program> {
    let mut cursor = Cursor::new(text)?;
    cursor.expect_word("program")?;
    cursor.expect("{")?;
    let mut program = Program::default();
    while !cursor.eat("}") {
        if cursor.sees_word("module") {
            let (module, rest) = parse_module_at(cursor)?;
            cursor = rest;
            program.modules.push(module);
        } else {
            item(&mut cursor, &mut program)?;
        }
    }
    cursor.end()?;
    Ok(program)
}

fn item(c: &mut Cursor<'_>, program: &mut Program) -> Parsed<()> {
    match c.word()? {
        "struct" => program.types.push(TypeDecl::Struct {
            name: c.ident()?,
            fields: wrapped(c, "{", "}", |c| {
                let name = c.ident()?;
                c.expect(":")?;
                Ok((name, host_type(c)?))
            })?,
        }),
        "enum" => program.types.push(TypeDecl::Enum {
            name: c.ident()?,
            variants: wrapped(c, "{", "}", |c| {
                Ok(Variant { name: c.ident()?, fields: types(c)? })
            })?,
        }),
        "labels" => {
            let (of, variant) = (c.ident()?, c.ident()?);
            let names = wrapped(c, "(", ")", |c| c.ident())?;
            c.expect(";")?;
            program.labels.push(Labels { of, variant, names });
        }
        "fn" => {
            let name = c.ident()?;
            let rule = if c.eat_word("rule") { Some(rule(c)?) } else { None };
            c.expect("->")?;
            let (results, body) = (types(c)?, block(c)?);
            program.functions.push(HostFn { name, results, body, rule, loc: Loc::default() });
        }
        "entry" => {
            program.entry = Some(c.ident()?);
            c.expect(";")?;
        }
        word => return c.fail(format!("`{word}` is not an item of a program")),
    }
    Ok(())
}

/// A rule of a function, after the word.
fn rule(c: &mut Cursor<'_>) -> Parsed<HostRule> {
    let reverse = c.eat_word("reverse");
    if !reverse {
        c.expect_word("forward")?;
    }
    let function = c.ident()?;
    let silent = wrapped(c, "(", ")", |c| c.number())?;
    Ok(HostRule { function, reverse, silent })
}

/// Items separated by commas between two signs.
fn wrapped<T>(
    c: &mut Cursor<'_>,
    open: &str,
    close: &str,
    mut item: impl FnMut(&mut Cursor<'_>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    c.expect(open)?;
    let mut items = Vec::new();
    while !c.sees(close) {
        items.push(item(c)?);
        if !c.eat(",") {
            break;
        }
    }
    c.expect(close)?;
    Ok(items)
}

fn types(c: &mut Cursor<'_>) -> Parsed<Vec<HostType>> {
    wrapped(c, "(", ")", host_type)
}

fn host_type(c: &mut Cursor<'_>) -> Parsed<HostType> {
    c.enter()?;
    let word = c.word()?;
    let ty = match word {
        "str" => HostType::Str,
        "tensor" => {
            c.expect("(")?;
            let elem = c.elem()?;
            c.expect(",")?;
            let rank = c.number()?;
            c.expect(")")?;
            HostType::Tensor(elem, rank)
        }
        "list" => {
            c.expect("(")?;
            let of = host_type(c)?;
            c.expect(")")?;
            HostType::List(Box::new(of))
        }
        "tuple" => HostType::Tuple(types(c)?),
        "struct" => HostType::Struct(c.ident()?),
        "enum" => HostType::Enum(c.ident()?),
        "fn" => {
            let params = types(c)?;
            c.expect("->")?;
            HostType::Fn(params, types(c)?)
        }
        word => match Elem::parse(word) {
            Some(elem) => HostType::Scalar(elem),
            None => return c.fail(format!("`{word}` is not a type")),
        },
    };
    c.leave();
    Ok(ty)
}

fn block(c: &mut Cursor<'_>) -> Parsed<Block> {
    c.enter()?;
    c.expect("{")?;
    let mut block = Block::default();
    if c.eat("|") {
        block.params = c.list(def)?;
        c.expect("|")?;
    }
    while !c.eat_word("yield") {
        block.insts.push(inst(c)?);
    }
    if !c.sees(";") {
        block.results = c.list(arg)?;
    }
    c.expect(";")?;
    c.expect("}")?;
    c.leave();
    Ok(block)
}

fn def(c: &mut Cursor<'_>) -> Parsed<HostDef> {
    let Some(Token::Value(number)) = c.peek() else { return c.fail("expected a value") };
    let number = *number;
    c.skip(1);
    c.expect(":")?;
    Ok(HostDef { number, ty: host_type(c)? })
}

fn arg(c: &mut Cursor<'_>) -> Parsed<HostArg> {
    match c.peek() {
        Some(Token::Value(number)) => {
            let number = *number;
            c.skip(1);
            Ok(HostArg::Value(number))
        }
        Some(Token::Text(_)) => Ok(HostArg::Str(c.string()?)),
        _ => match c.constant() {
            Some(constant) => Ok(HostArg::Const(constant)),
            None => c.fail("expected an operand"),
        },
    }
}

fn args(c: &mut Cursor<'_>) -> Parsed<Vec<HostArg>> {
    wrapped(c, "(", ")", arg)
}

fn inst(c: &mut Cursor<'_>) -> Parsed<HostInst> {
    let results = match c.peek() {
        Some(Token::Value(_)) => {
            let defs = c.list(def)?;
            c.expect("=")?;
            defs
        }
        _ => Vec::new(),
    };
    let word = c.word()?;
    let kind = match Op::parse(word) {
        Some(op) => HostKind::Op(op, c.list(arg)?),
        None => kind(c, word)?,
    };
    c.expect(";")?;
    Ok(HostInst { results, kind, loc: Loc::default() })
}

fn kind(c: &mut Cursor<'_>, word: &str) -> Parsed<HostKind> {
    if let Some(intrinsic) = Intrinsic::parse(word) {
        return Ok(HostKind::Intrinsic(intrinsic, args(c)?));
    }
    Ok(match word {
        "tuple" => HostKind::Tuple(args(c)?),
        "list" => HostKind::List(args(c)?),
        "struct" => HostKind::Struct(c.ident()?, args(c)?),
        "variant" => HostKind::Variant(c.ident()?, c.ident()?, args(c)?),
        "field" => {
            let of = arg(c)?;
            c.expect(",")?;
            HostKind::Field(of, c.number()?)
        }
        "call" => HostKind::Call(c.ident()?, args(c)?),
        "closure" => HostKind::Closure(c.ident()?, args(c)?),
        "apply" => HostKind::Apply(arg(c)?, args(c)?),
        "run" => HostKind::Run(c.ident()?, args(c)?),
        "format" => HostKind::Format(wrapped(c, "(", ")", format_part)?),
        "assert" => HostKind::Assert(arg(c)?, c.string()?),
        "trap" => HostKind::Trap(trap(c)?, c.string()?),
        "fail" => HostKind::Fail(trap(c)?, arg(c)?),
        word => return control(c, word),
    })
}

fn trap(c: &mut Cursor<'_>) -> Parsed<Trap> {
    match Trap::parse(c.word()?) {
        Some(trap) => Ok(trap),
        None => c.fail("expected the name of a trap"),
    }
}

fn control(c: &mut Cursor<'_>, word: &str) -> Parsed<HostKind> {
    Ok(match word {
        "if" => {
            let (condition, then) = (arg(c)?, block(c)?);
            c.expect_word("else")?;
            HostKind::If(condition, then, block(c)?)
        }
        "switch" => {
            let on = arg(c)?;
            c.expect("{")?;
            let mut cases = Vec::new();
            while !c.eat_word("else") {
                cases.push((c.number()?, block(c)?));
            }
            let otherwise = block(c)?;
            c.expect("}")?;
            HostKind::Switch(on, cases, otherwise)
        }
        "match" => {
            let on = arg(c)?;
            c.expect("{")?;
            let mut arms = Vec::new();
            while !c.sees("}") && !c.sees_word("else") {
                arms.push((c.ident()?, block(c)?));
            }
            let otherwise = if c.eat_word("else") { Some(block(c)?) } else { None };
            c.expect("}")?;
            HostKind::Match(on, arms, otherwise)
        }
        "for" => {
            let lo = arg(c)?;
            c.expect(",")?;
            let hi = arg(c)?;
            c.expect_word("carry")?;
            HostKind::For(lo, hi, args(c)?, block(c)?)
        }
        "while" => {
            c.expect_word("carry")?;
            let (carried, condition) = (args(c)?, block(c)?);
            c.expect_word("do")?;
            HostKind::While(carried, condition, block(c)?)
        }
        "try" => HostKind::Try(block(c)?),
        word => return c.fail(format!("`{word}` is not an instruction")),
    })
}

fn format_part(c: &mut Cursor<'_>) -> Parsed<FormatPart> {
    let first = arg(c)?;
    match first {
        first if c.eat_word("as") => Ok(FormatPart::Value(first, c.string()?)),
        HostArg::Str(text) => Ok(FormatPart::Text(text)),
        _ => c.fail("expected `as`"),
    }
}
