//! Items: functions, rules, structs, enums, modules, imports, constants and inputs.

use super::Grammar;
use super::place::{Level, Next, Place};

const ATTRIBUTES: &[&str] = &["audit", "zero_fill", "test"];

impl Grammar<'_, '_> {
    /// An item that may stand in a file, a module or a block.
    pub(super) fn item(&mut self) {
        match self.source.below(10) {
            0 => self.constant(),
            1 => self.import(),
            2 | 3 => self.structure(),
            4 | 5 => self.enumeration(),
            6 => self.rule(),
            _ => self.function(),
        }
    }

    /// Doc comments, attributes and `pub`.
    fn decoration(&mut self) {
        self.docs();
        self.attributes();
        if self.source.one_in(3) {
            self.token("pub");
        }
    }

    /// `#[audit]`, `#[broadcast(scale: b, h, w)]`
    pub(super) fn attributes(&mut self) {
        for _ in 0..self.source.below(8).saturating_sub(5) {
            self.token("#");
            self.bracketed("[", "]", |g| {
                let n = 1 + g.source.below(5) / 4;
                g.items(n, |g, _| g.attribute());
            });
        }
    }

    fn attribute(&mut self) {
        if self.source.flip() {
            let name = self.source.pick(ATTRIBUTES);
            return self.token(name);
        }
        self.token("broadcast");
        self.bracketed("(", ")", |g| {
            let n = g.source.below(4);
            g.items(n, |g, _| {
                if g.source.flip() {
                    g.index_name();
                    g.token(":");
                }
                g.index_name();
            });
        });
    }

    /// `fn softmax<F>[c](x: [F; ..l, c], lr: f32 = 0.1) -> [F; ..l, c] { … }`
    fn function(&mut self) {
        self.decoration();
        self.token("fn");
        self.name();
        if self.source.one_in(4) {
            self.generics();
        }
        if self.source.one_in(4) {
            self.bracketed("[", "]", |g| {
                let n = 1 + g.source.below(2);
                g.items(n, |g, _| g.index_name());
            });
        }
        self.parameters();
        if self.source.flip() {
            self.token("->");
            self.ty();
        }
        self.block();
    }

    fn parameters(&mut self) {
        self.bracketed("(", ")", |g| {
            let n = g.source.below(4);
            g.items(n, |g, _| {
                g.binding_pattern();
                if g.source.flip() {
                    g.token(":");
                    g.ty();
                }
                if g.source.one_in(4) {
                    g.token("=");
                    // After `x with [0] = 1`, a parameter `[a, b] = v` would be another update.
                    g.expression(Place { floor: Level::Or, ..Place::FREE });
                }
            });
        });
    }

    fn generics(&mut self) {
        self.token("<");
        let n = 1 + self.source.below(2);
        self.items(n, |g, _| g.name());
        self.token(">");
    }

    /// `@fn f(x, y) { … }` or `@fn f(x, y) from @r { … }`
    fn rule(&mut self) {
        self.docs();
        self.attributes();
        self.tokens(&["@", "fn"]);
        self.constructor();
        self.parameters();
        if self.source.flip() {
            self.tokens(&["from", "@"]);
            self.name();
        }
        self.block();
    }

    fn structure(&mut self) {
        self.decoration();
        self.token("struct");
        self.name();
        if self.source.one_in(4) {
            self.generics();
        }
        self.fields();
    }

    fn fields(&mut self) {
        self.bracketed("{", "}", |g| {
            let n = g.source.below(4);
            g.items(n, |g, _| {
                g.docs();
                if g.source.one_in(6) {
                    g.token("pub");
                }
                g.name();
                g.token(":");
                g.ty();
            });
        });
    }

    /// `enum E { A, B(f32), C { k: i32 } }`
    fn enumeration(&mut self) {
        self.decoration();
        self.token("enum");
        self.name();
        if self.source.one_in(4) {
            self.generics();
        }
        self.bracketed("{", "}", |g| {
            let n = g.source.below(4);
            g.items(n, |g, _| {
                g.docs();
                g.name();
                match g.source.below(3) {
                    0 => {}
                    1 => g.bracketed("(", ")", |g| {
                        let n = g.source.below(3);
                        g.items(n, |g, _| g.ty());
                    }),
                    _ => g.fields(),
                }
            });
        });
    }

    /// `mod a;` or `mod a { … }`
    pub(super) fn module(&mut self) {
        self.decoration();
        self.token("mod");
        self.name();
        if self.source.flip() { self.item_list() } else { self.token(";") }
    }

    /// `use p::q::{f, g as h};`
    fn import(&mut self) {
        self.decoration();
        self.token("use");
        self.long_path();
        self.rest_of_import();
        self.token(";");
    }

    /// What follows a path in `use`.
    fn rest_of_import(&mut self) {
        match self.source.below(4) {
            0 => {}
            1 => {
                self.token("as");
                self.name();
            }
            2 => self.tokens(&["::", "*"]),
            _ => {
                self.token("::");
                self.bracketed("{", "}", |g| {
                    let n = 1 + g.source.below(3);
                    g.items(n, |g, _| {
                        g.name();
                        if g.spend() {
                            g.rest_of_import();
                        }
                    });
                });
            }
        }
    }

    /// `const N = 10;`
    fn constant(&mut self) {
        self.decoration();
        self.token("const");
        self.name();
        if self.source.flip() {
            self.token(":");
            self.ty();
        }
        self.token("=");
        self.expression_where(true, Next::End);
        self.token(";");
    }

    /// `input A: [f32; M, K];` or `input lr: f32 = 0.1;`
    pub(super) fn input(&mut self) {
        self.docs();
        self.attributes();
        self.token("input");
        self.name();
        self.token(":");
        self.ty();
        if self.source.flip() {
            self.token("=");
            self.expression(Place::FREE);
        }
        self.token(";");
    }
}
