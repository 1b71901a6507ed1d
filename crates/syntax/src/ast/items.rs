//! Views of items.

use super::{
    Block, Expr, Name, Path, Pattern, Statement, Type, TypeAscription, child, child_after,
    children, views,
};
use crate::ast::AstNode;
use crate::kind::SyntaxKind::{self, CRATE, DOC_COMMENT, EQ, PUB};
use crate::tree::{Element, Node, Token};

views! {
    /// `#[audit]`
    Attr = ATTR;
    /// `(scale: b, h, w)` of an attribute.
    AttrArgs = ATTR_ARGS;
    /// One argument of an attribute.
    AttrArg = ATTR_ARG;
    /// `fn name[c]<F>(parameters) -> type { … }`
    FnItem = FN_ITEM;
    /// `@fn name(parameters) from @r { … }`
    RuleItem = RULE_ITEM;
    /// `from @r`
    RuleFrom = RULE_FROM;
    /// `[c]` after the name of a function.
    CoordParams = COORD_PARAMS;
    /// `<F>` after a name.
    GenericParams = GENERIC_PARAMS;
    /// Parameters of a function, rule or lambda.
    ParamList = PARAM_LIST;
    /// One parameter.
    Param = PARAM;
    /// `-> type`
    RetType = RET_TYPE;
    /// `struct P { x: f32 }`
    StructItem = STRUCT_ITEM;
    /// `{ x: f32, y: f32 }`
    FieldList = FIELD_LIST;
    /// `x: f32`
    FieldDef = FIELD_DEF;
    /// `enum E { A, B(f32) }`
    EnumItem = ENUM_ITEM;
    /// The variants of an enum.
    VariantList = VARIANT_LIST;
    /// One variant.
    Variant = VARIANT;
    /// `(f32, i32)` of a variant.
    VariantTuple = VARIANT_TUPLE;
    /// `mod a;` or `mod a { … }`
    ModItem = MOD_ITEM;
    /// The braces of an inline module.
    ItemList = ITEM_LIST;
    /// `use …;`
    UseItem = USE_ITEM;
    /// A path with what follows it in a `use`.
    UseTree = USE_TREE;
    /// `{f, g as h}`
    UseList = USE_LIST;
    /// `*`
    UseGlob = USE_GLOB;
    /// `as h`
    UseAlias = USE_ALIAS;
    /// `const N = 10;`
    ConstItem = CONST_ITEM;
    /// `input lr: f32 = 0.1;`
    InputItem = INPUT_ITEM;
}

/// What can carry attributes, doc comments and `pub`.
pub trait Attributed<'t>: AstNode<'t> {
    /// The attributes before the item.
    fn attributes(self) -> impl Iterator<Item = Attr<'t>> {
        children(self.node())
    }

    /// The attribute with this name.
    fn attribute(self, name: &str) -> Option<Attr<'t>> {
        self.attributes().find(|attr| attr.name().is_some_and(|n| n.text() == name))
    }

    /// The `pub` before the item.
    fn pub_token(self) -> Option<Token<'t>> {
        self.node().token(PUB)
    }

    /// The lines of the doc comment, without their slashes and one leading space.
    fn doc_lines(self) -> impl Iterator<Item = &'t str> {
        let comments = self.node().elements().filter_map(|element| match element {
            Element::Token(token) if token.kind() == DOC_COMMENT => Some(token.text()),
            _ => None,
        });
        comments.map(|text| {
            let text = text.strip_prefix("///").unwrap_or(text);
            text.strip_prefix(' ').unwrap_or(text)
        })
    }
}

macro_rules! attributed {
    ($($view:ident)*) => {$(
        impl<'t> Attributed<'t> for $view<'t> {}
    )*};
}
attributed! {
    FnItem RuleItem StructItem FieldDef EnumItem Variant ModItem UseItem ConstItem InputItem
}

macro_rules! named {
    ($($view:ident)*) => {$(
        impl<'t> $view<'t> {
            /// The name.
            pub fn name(self) -> Option<Name<'t>> {
                child(self.0)
            }
        }
    )*};
}
named! {
    Attr AttrArg FnItem RuleFrom StructItem FieldDef EnumItem Variant ModItem UseAlias ConstItem
    InputItem
}

impl<'t> Attr<'t> {
    /// The arguments in parentheses.
    pub fn args(self) -> impl Iterator<Item = AttrArg<'t>> {
        child::<AttrArgs<'_>>(self.0).into_iter().flat_map(|args| children(args.0))
    }
}

impl<'t> AttrArg<'t> {
    /// The value, after `name:` if there is one.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> FnItem<'t> {
    /// The coordinate parameters.
    pub fn coordinates(self) -> impl Iterator<Item = Name<'t>> {
        child::<CoordParams<'_>>(self.0).into_iter().flat_map(|list| children(list.0))
    }

    /// The type parameters.
    pub fn generics(self) -> impl Iterator<Item = Name<'t>> {
        generics(self)
    }

    /// The parameters.
    pub fn params(self) -> impl Iterator<Item = Param<'t>> {
        params(self)
    }

    /// The declared result.
    pub fn ret_type(self) -> Option<Type<'t>> {
        child(child::<RetType<'_>>(self.0)?.0)
    }

    /// The body.
    pub fn body(self) -> Option<Block<'t>> {
        child(self.0)
    }
}

impl<'t> RuleItem<'t> {
    /// The function the rule is for.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }

    /// The parameters.
    pub fn params(self) -> impl Iterator<Item = Param<'t>> {
        params(self)
    }

    /// The cotangent of a reverse rule.
    pub fn from(self) -> Option<RuleFrom<'t>> {
        child(self.0)
    }

    /// The body.
    pub fn body(self) -> Option<Block<'t>> {
        child(self.0)
    }
}

fn params<'t>(owner: impl AstNode<'t>) -> impl Iterator<Item = Param<'t>> {
    child::<ParamList<'_>>(owner.node()).into_iter().flat_map(ParamList::params)
}

fn generics<'t>(owner: impl AstNode<'t>) -> impl Iterator<Item = Name<'t>> {
    child::<GenericParams<'_>>(owner.node()).into_iter().flat_map(|list| children(list.0))
}

impl<'t> ParamList<'t> {
    /// The parameters.
    pub fn params(self) -> impl Iterator<Item = Param<'t>> {
        children(self.0)
    }
}

impl<'t> Param<'t> {
    /// What the argument is bound to.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }

    /// The declared type.
    pub fn ty(self) -> Option<Type<'t>> {
        child::<TypeAscription<'_>>(self.0)?.ty()
    }

    /// The default value.
    pub fn default(self) -> Option<Expr<'t>> {
        child_after(self.0, EQ)
    }
}

impl<'t> StructItem<'t> {
    /// The type parameters.
    pub fn generics(self) -> impl Iterator<Item = Name<'t>> {
        generics(self)
    }

    /// The fields.
    pub fn fields(self) -> impl Iterator<Item = FieldDef<'t>> {
        fields(self)
    }
}

fn fields<'t>(owner: impl AstNode<'t>) -> impl Iterator<Item = FieldDef<'t>> {
    child::<FieldList<'_>>(owner.node()).into_iter().flat_map(|list| children(list.0))
}

impl<'t> FieldDef<'t> {
    /// The type of the field.
    pub fn ty(self) -> Option<Type<'t>> {
        child(self.0)
    }
}

impl<'t> EnumItem<'t> {
    /// The type parameters.
    pub fn generics(self) -> impl Iterator<Item = Name<'t>> {
        generics(self)
    }

    /// The variants.
    pub fn variants(self) -> impl Iterator<Item = Variant<'t>> {
        child::<VariantList<'_>>(self.0).into_iter().flat_map(|list| children(list.0))
    }
}

/// What a variant carries.
#[derive(Clone, Debug)]
pub enum Payload<'t> {
    /// Nothing: `A`.
    Unit,
    /// Values by position: `B(f32)`.
    Tuple(Vec<Type<'t>>),
    /// Values by name: `C { k: i32 }`.
    Fields(Vec<FieldDef<'t>>),
}

impl<'t> Variant<'t> {
    /// What the variant carries.
    pub fn payload(self) -> Payload<'t> {
        if let Some(tuple) = child::<VariantTuple<'_>>(self.0) {
            return Payload::Tuple(children(tuple.0).collect());
        }
        match child::<FieldList<'_>>(self.0) {
            Some(list) => Payload::Fields(children(list.0).collect()),
            None => Payload::Unit,
        }
    }
}

impl<'t> ModItem<'t> {
    /// The braces of an inline module.
    pub fn items_node(self) -> Option<Node<'t>> {
        child::<ItemList<'_>>(self.0).map(AstNode::node)
    }

    /// The statements of an inline module; none for `mod a;`.
    pub fn inline(self) -> Option<impl Iterator<Item = Statement<'t>>> {
        child::<ItemList<'_>>(self.0).map(|list| children(list.0))
    }
}

impl<'t> UseItem<'t> {
    /// What is imported.
    pub fn tree(self) -> Option<UseTree<'t>> {
        child(self.0)
    }
}

impl<'t> UseTree<'t> {
    /// The path, or the part before `::{…}` or `::*`.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }

    /// The `*`.
    pub fn glob(self) -> Option<UseGlob<'t>> {
        child(self.0)
    }

    /// The trees in braces.
    pub fn list(self) -> Option<impl Iterator<Item = UseTree<'t>>> {
        child::<UseList<'_>>(self.0).map(|list| children(list.0))
    }

    /// The new name after `as`.
    pub fn alias(self) -> Option<Name<'t>> {
        child::<UseAlias<'_>>(self.0)?.name()
    }

    /// The first word, when it says where the path begins.
    pub fn anchor(self) -> Option<SyntaxKind> {
        let first = self.path()?.segments().next()?.kind();
        (SyntaxKind::SELF..=CRATE).contains(&first).then_some(first)
    }
}

impl<'t> ConstItem<'t> {
    /// The annotation.
    pub fn ty(self) -> Option<Type<'t>> {
        child::<TypeAscription<'_>>(self.0)?.ty()
    }

    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child_after(self.0, EQ)
    }
}

impl<'t> InputItem<'t> {
    /// The declared type.
    pub fn ty(self) -> Option<Type<'t>> {
        child::<TypeAscription<'_>>(self.0)?.ty()
    }

    /// The default value.
    pub fn default(self) -> Option<Expr<'t>> {
        child_after(self.0, EQ)
    }
}
