//! Types of every form, with the dimensions of tensors.

use super::Grammar;

impl Grammar<'_, '_> {
    pub(super) fn ty(&mut self) {
        if !self.spend() {
            return self.type_name();
        }
        self.deeper(|g| match g.source.below(9) {
            0..=1 => g.type_name(),
            2 => g.long_path(),
            3 => g.generic_type(),
            4 => g.tensor_type(),
            5 => g.jagged_type(),
            6 => g.tuple_type(),
            7 => g.bracketed("(", ")", Self::ty),
            _ => g.function_type(),
        });
    }

    /// A type after `as`, where `<` is a comparison and must not begin type arguments.
    pub(super) fn cast_type(&mut self) {
        if !self.spend() {
            return self.type_name();
        }
        self.deeper(|g| match g.source.below(6) {
            0..=1 => g.type_name(),
            2 => g.long_path(),
            3 => g.tensor_type(),
            4 => g.tuple_type(),
            _ => g.bracketed("(", ")", Self::ty),
        });
    }

    /// `Option<T>`, `Result<T, str>`
    fn generic_type(&mut self) {
        self.type_name();
        self.token("<");
        let n = 1 + self.source.below(2);
        self.items(n, |g, _| g.ty());
        self.token(">");
    }

    /// `[f32]`, `[f32; 2, 3]`, `[f32; ..l, c]`, `[f32; *]`
    fn tensor_type(&mut self) {
        self.bracketed("[", "]", |g| {
            g.ty();
            let n = g.source.below(4);
            if n > 0 {
                g.token(";");
                g.items(n, |g, _| g.dimension());
            }
        });
    }

    /// `jagged[i32]`, `jagged[i32; 3d]`
    fn jagged_type(&mut self) {
        self.token("jagged");
        self.bracketed("[", "]", |g| {
            g.ty();
            if g.source.flip() {
                g.tokens(&[";", "3d"]);
            }
        });
    }

    /// `()`, `(f32,)`, `(f32, i32)`
    fn tuple_type(&mut self) {
        self.bracketed("(", ")", |g| match g.source.below(4) {
            1 => {
                g.ty();
                g.token(",");
            }
            n => g.items(n, |g, _| g.ty()),
        });
    }

    /// `(f32, f32) -> f32`
    fn function_type(&mut self) {
        self.bracketed("(", ")", |g| {
            let n = g.source.below(3);
            g.items(n, |g, _| g.ty());
        });
        self.token("->");
        self.ty();
    }

    fn dimension(&mut self) {
        match self.source.below(9) {
            0 => self.integer(),
            1 | 2 => self.index_name(),
            3 => self.token("?"),
            4 => self.token("*"),
            5 => {
                self.token("..");
                self.index_name();
            }
            6 => self.tokens(&["N", "-", "K", "+", "1"]),
            7 => self.tokens(&["2", "*", "N", "/", "3"]),
            _ => self.tokens(&["(", "N", "+", "1", ")", "%", "K"]),
        }
    }
}
