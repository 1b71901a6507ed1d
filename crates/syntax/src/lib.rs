//! Lexer, lossless tree, recovering parser, typed views and formatter of Einlang.
