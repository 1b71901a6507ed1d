//! The vocabulary of the tree: every kind of token and every kind of node, declared once.
//!
//! Tokens come first, nodes after them, so that "is this a token" is one comparison. The spelling
//! of fixed tokens is declared here too and serves the lexer's tests and the error messages.

macro_rules! kinds {
    (
        trivia { $($trivia:ident $trivia_name:literal,)* }
        tokens { $($token:ident $token_name:literal,)* }
        keywords { $($keyword:ident $keyword_text:literal,)* }
        punctuation { $($punct:ident $punct_text:literal,)* }
        nodes { $($node:ident,)* }
    ) => {
        /// The kind of a token or a node.
        #[allow(non_camel_case_types, missing_docs, reason = "the names are the documentation")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum SyntaxKind {
            $($trivia,)*
            $($token,)*
            $($keyword,)*
            $($punct,)*
            EOF,
            $($node,)*
        }

        impl SyntaxKind {
            /// Every kind, in declaration order.
            pub const ALL: &[SyntaxKind] = &[
                $(SyntaxKind::$trivia,)* $(SyntaxKind::$token,)* $(SyntaxKind::$keyword,)*
                $(SyntaxKind::$punct,)* SyntaxKind::EOF, $(SyntaxKind::$node,)*
            ];

            /// The spelling of a keyword or punctuation mark.
            pub fn fixed_text(self) -> Option<&'static str> {
                match self {
                    $(SyntaxKind::$keyword => Some($keyword_text),)*
                    $(SyntaxKind::$punct => Some($punct_text),)*
                    _ => None,
                }
            }

            /// How messages speak of a token of this kind whose text does not matter.
            pub fn describe(self) -> &'static str {
                match self {
                    $(SyntaxKind::$trivia => $trivia_name,)*
                    $(SyntaxKind::$token => $token_name,)*
                    $(SyntaxKind::$keyword => concat!("`", $keyword_text, "`"),)*
                    $(SyntaxKind::$punct => concat!("`", $punct_text, "`"),)*
                    SyntaxKind::EOF => "the end of the file",
                    _ => "a piece of syntax",
                }
            }

            /// The keyword with this spelling.
            pub(crate) fn keyword(text: &str) -> Option<SyntaxKind> {
                match text {
                    $($keyword_text => Some(SyntaxKind::$keyword),)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    trivia {
        WHITESPACE "white space",
        LINE_COMMENT "a comment",
        BLOCK_COMMENT "a comment",
        DOC_COMMENT "a doc comment",
    }
    tokens {
        IDENT "a name",
        INT "a number",
        FLOAT "a number",
        STR_OPEN "a string",
        STR_TEXT "text",
        INTERP_OPEN "`{` in a string",
        INTERP_SPEC "a format specification",
        INTERP_CLOSE "`}` in a string",
        STR_CLOSE "the end of a string",
        UNKNOWN "an unknown character",
    }
    keywords {
        LET "let", CONST "const", FN "fn", PUB "pub", USE "use", MOD "mod", AS "as", IF "if",
        ELSE "else", MATCH "match", WHERE "where", IN "in", TRUE "true", FALSE "false",
        STRUCT "struct", ENUM "enum", TRY "try", CATCH "catch", SELF "self", SUPER "super",
        CRATE "crate", INPUT "input", WITH "with", FOR "for",
    }
    punctuation {
        L_PAREN "(", R_PAREN ")", L_BRACK "[", R_BRACK "]", L_BRACE "{", R_BRACE "}",
        COMMA ",", SEMI ";", COLON ":", COLON2 "::", DOT ".", DOT2 "..", DOT2EQ "..=",
        EQ "=", EQ2 "==", NEQ "!=", LT "<", GT ">", LTEQ "<=", GTEQ ">=",
        PLUS "+", MINUS "-", STAR "*", STAR2 "**", SLASH "/", PERCENT "%",
        BANG "!", AND2 "&&", PIPE "|", PIPE2 "||", PIPE_GT "|>", QUESTION "?",
        QUESTION_GT "?>", BANG_GT "!>", FAT_ARROW "=>", ARROW "->", AT "@", HASH "#",
        UNDERSCORE "_",
    }
    nodes {
        SOURCE_FILE, ERROR,
        // Items and statements.
        ATTR, ATTR_ARGS, ATTR_ARG,
        FN_ITEM, RULE_ITEM, RULE_FROM, COORD_PARAMS, GENERIC_PARAMS, PARAM_LIST, PARAM, RET_TYPE,
        STRUCT_ITEM, FIELD_LIST, FIELD_DEF, ENUM_ITEM, VARIANT_LIST, VARIANT, VARIANT_TUPLE,
        MOD_ITEM, ITEM_LIST, USE_ITEM, USE_TREE, USE_LIST, USE_GLOB, USE_ALIAS,
        CONST_ITEM, INPUT_ITEM, LET_STMT, FOR_STMT, EXPR_STMT, SLOTS, UNTIL_CLAUSE,
        TYPE_ASCRIPTION, NAME,
        // Expressions.
        PATH, LITERAL, STRING, INTERPOLATION, PAREN_EXPR, TUPLE_EXPR,
        ARRAY_EXPR, COMPREHENSION, COMP_GENERATOR, COMP_BINDING, COMP_CONDITION,
        BLOCK, IF_EXPR, MATCH_EXPR, MATCH_ARM_LIST, MATCH_ARM, MATCH_GUARD, LAMBDA_EXPR,
        UNARY_EXPR, BINARY_EXPR, RANGE_EXPR, CAST_EXPR, CALL_EXPR, ARG_LIST, NAMED_ARG,
        INDEX_EXPR, SUBSCRIPTS, SUB_ALL, SUB_REST, SUB_IN, SUB_COORD, DEFAULT_READ,
        FIELD_EXPR, STRUCT_EXPR, STRUCT_FIELD_LIST, STRUCT_FIELD, PIPE_EXPR, ELSE_EXPR,
        CATCH_EXPR, TRY_EXPR, WITH_EXPR, WITH_UPDATE, WHERE_EXPR, WHERE_BINDING, WHERE_GUARD,
        WHERE_ELSE,
        // Patterns.
        WILDCARD_PAT, NAME_PAT, LITERAL_PAT, RANGE_PAT, OR_PAT, TUPLE_PAT, ARRAY_PAT, REST_PAT,
        STRUCT_PAT, FIELD_PAT, VARIANT_PAT, PATH_PAT, TYPED_PAT, PAREN_PAT,
        // Types.
        PATH_TYPE, GENERIC_ARGS, TENSOR_TYPE, DIM_LIST, DIM_EXPR, DIM_ANY, DIM_REST, DIM_STAR,
        JAGGED_TYPE, TUPLE_TYPE, FN_TYPE, PAREN_TYPE,
    }
}

impl SyntaxKind {
    /// White space and comments: kept in the tree, passed over by the parser.
    pub fn is_trivia(self) -> bool {
        self <= SyntaxKind::DOC_COMMENT
    }

    /// A comment of any form.
    pub fn is_comment(self) -> bool {
        matches!(
            self,
            SyntaxKind::LINE_COMMENT | SyntaxKind::BLOCK_COMMENT | SyntaxKind::DOC_COMMENT
        )
    }

    /// A token rather than a node.
    pub fn is_token(self) -> bool {
        self <= SyntaxKind::EOF
    }

    /// A reserved word.
    pub fn is_keyword(self) -> bool {
        SyntaxKind::LET <= self && self <= SyntaxKind::FOR
    }

    /// An item: what is declared, and visible in its whole block.
    pub fn is_item(self) -> bool {
        use SyntaxKind::*;
        matches!(
            self,
            FN_ITEM
                | RULE_ITEM
                | STRUCT_ITEM
                | ENUM_ITEM
                | MOD_ITEM
                | USE_ITEM
                | CONST_ITEM
                | INPUT_ITEM
        )
    }

    /// A statement of a file or block, items included.
    pub fn is_statement(self) -> bool {
        use SyntaxKind::*;
        self.is_item() || matches!(self, LET_STMT | FOR_STMT | EXPR_STMT)
    }

    /// The closing bracket that belongs to an opening one.
    pub fn closer(self) -> Option<SyntaxKind> {
        match self {
            SyntaxKind::L_PAREN => Some(SyntaxKind::R_PAREN),
            SyntaxKind::L_BRACK => Some(SyntaxKind::R_BRACK),
            SyntaxKind::L_BRACE => Some(SyntaxKind::R_BRACE),
            SyntaxKind::INTERP_OPEN => Some(SyntaxKind::INTERP_CLOSE),
            _ => None,
        }
    }

    /// `)`, `]`, `}` or the `}` that ends an interpolation.
    pub fn is_closer(self) -> bool {
        matches!(
            self,
            SyntaxKind::R_PAREN
                | SyntaxKind::R_BRACK
                | SyntaxKind::R_BRACE
                | SyntaxKind::INTERP_CLOSE
        )
    }
}
