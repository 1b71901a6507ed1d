//! Reading kernels: declarations. Statements are in `parse_stmt.rs`.

use einlang_index::{Domain, MinMax, ParseError, Quasi, Var};
use einlang_tir::types::{Elem, Ident, Loc};
use rustc_hash::FxHashMap as HashMap;

use super::{Buffer, BufferDim, BufferId, Kernel, Site, SiteId, Size};
use crate::schedule::parse_layout;
use crate::text::{Cursor, Parsed, TextError};

/// Reads a kernel.
pub fn parse_kernel(text: &str) -> Result<Kernel, TextError> {
    let mut reader =
        Reader { cursor: Cursor::new(text), kernel: Kernel::default(), elems: HashMap::default() };
    reader.kernel()?;
    match reader.cursor.is_at_end() {
        true => Ok(reader.kernel),
        false => reader.cursor.fail("expected the end"),
    }
}

pub(super) struct Reader<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) kernel: Kernel,
    /// The types of values, which only their definitions spell out.
    pub(super) elems: HashMap<u32, Elem>,
}

impl Reader<'_> {
    fn kernel(&mut self) -> Parsed<()> {
        self.cursor.expect_word("kernel")?;
        self.kernel.name = self.cursor.name()?;
        self.cursor.expect("{")?;
        loop {
            match &self.cursor.name()?[..] {
                "symbols" => self.names(true)?,
                "indices" => self.names(false)?,
                "size" => self.size()?,
                "buffer" => self.buffer()?,
                "site" => {
                    self.cursor.number()?;
                    let what = self.cursor.quoted()?;
                    self.kernel.sites.push(Site {
                        what,
                        loc: Loc::default(),
                        fault: Default::default(),
                    });
                    self.cursor.expect(";")?;
                }
                "output" => {
                    while !self.cursor.eat(";") {
                        let buffer = self.buffer_id()?;
                        self.kernel.outputs.push(buffer);
                        self.cursor.eat(",");
                    }
                }
                "body" => {
                    self.kernel.body = self.braced()?;
                    return self.cursor.expect("}");
                }
                other => return self.cursor.fail(format!("`{other}` is no declaration")),
            }
        }
    }

    fn names(&mut self, symbols: bool) -> Parsed<()> {
        for name in self.cursor.list(";", Cursor::name)? {
            match symbols {
                true => self.kernel.vars.symbol(&name),
                false => self.kernel.vars.index(&name),
            };
        }
        Ok(())
    }

    fn size(&mut self) -> Parsed<()> {
        let var = self.var()?;
        self.cursor.expect("=")?;
        let size = match &self.cursor.name()?[..] {
            "argument" => Size::Argument,
            "shape" => Size::Shape(self.buffer_id()?, self.small()?),
            _ => return self.cursor.fail("expected `argument` or `shape`"),
        };
        self.kernel.sizes.push((var, size));
        self.cursor.expect(";")
    }

    fn buffer(&mut self) -> Parsed<()> {
        self.cursor.number()?;
        let mut name = self.cursor.name()?;
        if name == "input" && self.cursor.peek_word() != "" {
            name = self.cursor.name()?;
            self.kernel.n_inputs += 1;
        }
        self.cursor.expect(":")?;
        let elem = self.elem()?;
        self.cursor.expect("[")?;
        let mut dims = Vec::new();
        while !self.cursor.eat("]") {
            let layout = parse_layout(&mut self.cursor)?;
            dims.push(BufferDim { extent: self.quasi()?, layout });
            self.cursor.eat(",");
        }
        let marks = self.cursor.eat_word("marks");
        let stack = self.cursor.eat_word("stack");
        let unset = self.cursor.eat_word("unset");
        let (name, loc) = (Ident::new(&name), Loc::default());
        self.kernel.buffers.push(Buffer { name, elem, dims, marks, stack, unset, loc });
        self.cursor.expect(";")
    }

    pub(super) fn elem(&mut self) -> Parsed<Elem> {
        let name = self.cursor.name()?;
        match Elem::parse(&name) {
            Some(elem) => Ok(elem),
            None => self.cursor.fail(format!("`{name}` is no element type")),
        }
    }

    pub(super) fn small(&mut self) -> Parsed<u32> {
        match u32::try_from(self.cursor.number()?) {
            Ok(number) => Ok(number),
            Err(_) => self.cursor.fail("the number is out of range"),
        }
    }

    pub(super) fn buffer_id(&mut self) -> Parsed<BufferId> {
        Ok(BufferId(self.small()?))
    }

    pub(super) fn site(&mut self) -> Parsed<SiteId> {
        self.cursor.expect_word("site")?;
        Ok(SiteId(self.small()?))
    }

    pub(super) fn var(&mut self) -> Parsed<Var> {
        let name = self.cursor.name()?;
        match self.kernel.vars.lookup(&name) {
            Some(var) => Ok(var),
            None => self.cursor.fail(format!("`{name}` is not declared")),
        }
    }

    fn known<T>(&self, parsed: Result<T, ParseError>) -> Parsed<T> {
        parsed.or_else(|error| self.cursor.fail(error.to_string()))
    }

    /// An index expression in parentheses.
    pub(super) fn quasi(&mut self) -> Parsed<Quasi> {
        self.cursor.expect("(")?;
        let text = self.cursor.raw(&[')'])?;
        let expr = Quasi::parse(text, &mut self.kernel.vars);
        self.cursor.expect(")")?;
        self.known(expr)
    }

    /// A bound up to one of the signs.
    pub(super) fn bound(&mut self, end: char) -> Parsed<MinMax> {
        let text = self.cursor.raw(&[end])?;
        let bound = MinMax::parse(text, &mut self.kernel.vars);
        self.known(bound)
    }

    /// A domain with its braces.
    pub(super) fn domain(&mut self) -> Parsed<Domain> {
        self.cursor.expect("{")?;
        let text = format!("{{{}}}", self.cursor.raw(&['}'])?);
        self.cursor.expect("}")?;
        let domain = Domain::parse(&text, &mut self.kernel.vars);
        self.known(domain)
    }
}
