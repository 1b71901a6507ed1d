//! Formulas of elementary functions as LLVM IR.
//!
//! A function that is used becomes one function of the module, per type and number of lanes, and LLVM
//! decides whether to inline it. Where a formula does not hold in some lane, the library of C is asked
//! for every lane, out of the way of the others.

use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Linkage;
use inkwell::types::{
    BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FloatType, IntType, VectorType,
};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue, VectorValue,
};
use inkwell::{FloatPredicate, IntPredicate};

use super::op::intrinsic;
use super::{Emit, Refused, Result};
use crate::math::{Compare, Float, Formula, Int, Node, Truth, formula};
use crate::optimise::has_masks;

/// A function of the module that is being written: scalars or vectors of one type.
struct Writing<'c, 'e, 'k> {
    emit: &'e Emit<'c, 'k>,
    builder: inkwell::builder::Builder<'c>,
    float: FloatType<'c>,
    int: IntType<'c>,
    width: Option<u32>,
}

impl<'c> Emit<'c, '_> {
    /// An operation on floats, or on vectors of them, by its formula, if it has one.
    pub(super) fn by_formula(
        &self,
        op: Op,
        elem: Elem,
        args: &[BasicValueEnum<'c>],
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let Some(ty) = args.first().map(|arg| arg.get_type()) else { return Ok(None) };
        let width = match ty {
            BasicTypeEnum::VectorType(ty) => Some(ty.get_size()),
            _ => None,
        };
        let name = format!("einlang.{}.{elem}x{}", op.name(), width.unwrap_or(1));
        let function = match self.module.get_function(&name) {
            Some(function) => function,
            None => {
                let Some(formula) = formula(op, elem, has_masks()) else { return Ok(None) };
                self.function_of(op, &formula, &name, ty, args.len())?
            }
        };
        let args: Vec<_> = args.iter().map(|arg| (*arg).into()).collect();
        let call = self.builder.build_call(function, &args, "value")?;
        Ok(call.try_as_basic_value().basic())
    }

    pub(super) fn pure_function(
        &self,
        name: &str,
        ty: BasicTypeEnum<'c>,
        n_args: usize,
    ) -> FunctionValue<'c> {
        let params: Vec<BasicMetadataTypeEnum<'c>> = vec![ty.into(); n_args];
        let ty = ty.fn_type(&params, false);
        let function = self.module.add_function(name, ty, Some(Linkage::Internal));
        for (word, value) in [("memory", 0), ("nounwind", 0), ("willreturn", 0)] {
            let kind = Attribute::get_named_enum_kind_id(word);
            let attribute = self.context.create_enum_attribute(kind, value);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        function
    }

    /// Writes the function of a formula.
    fn function_of(
        &self,
        op: Op,
        formula: &Formula,
        name: &str,
        ty: BasicTypeEnum<'c>,
        n_args: usize,
    ) -> Result<FunctionValue<'c>> {
        let function = self.pure_function(name, ty, n_args);
        let width = match ty {
            BasicTypeEnum::VectorType(ty) => Some(ty.get_size()),
            _ => None,
        };
        let (float, int) = match formula.elem {
            Elem::F32 => (self.context.f32_type(), self.context.i32_type()),
            _ => (self.context.f64_type(), self.context.i64_type()),
        };
        let writing =
            Writing { emit: self, builder: self.context.create_builder(), float, int, width };
        let entry = self.context.append_basic_block(function, "entry");
        writing.builder.position_at_end(entry);
        let args =
            function.get_params().into_iter().map(|arg| writing.converted(arg, writing.floats()));
        let args = args.collect::<Result<Vec<_>>>()?;
        let mut values = Vec::with_capacity(formula.nodes.len());
        for node in &formula.nodes {
            let value = writing.node(*node, &args, &values)?;
            values.push(value);
        }
        let result = writing.converted(values[formula.result], ty)?;
        if let Some(holds) = formula.holds {
            let fine = self.context.append_basic_block(function, "fine");
            let rare = self.context.append_basic_block(function, "rare");
            let all = writing.in_all_lanes(values[holds])?;
            writing.builder.build_conditional_branch(all, fine, rare)?;
            writing.builder.position_at_end(rare);
            let library = self.by_library(op, &format!("{name}.rare"), ty)?;
            let arg = function.get_nth_param(0).ok_or_else(none)?;
            let call = writing.builder.build_call(library, &[arg.into()], "value")?;
            let known = call.try_as_basic_value().basic().ok_or_else(none)?;
            let value = writing.choose(values[holds], result, known)?;
            writing.builder.build_return(Some(&value))?;
            writing.builder.position_at_end(fine);
        }
        writing.builder.build_return(Some(&result))?;
        Ok(function)
    }

    /// Writes the function that asks the library of C for every lane.
    fn by_library(&self, op: Op, name: &str, ty: BasicTypeEnum<'c>) -> Result<FunctionValue<'c>> {
        let function = self.pure_function(name, ty, 1);
        for word in ["cold", "noinline", "optsize"] {
            let kind = Attribute::get_named_enum_kind_id(word);
            let attribute = self.context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        let builder = self.context.create_builder();
        let entry = self.context.append_basic_block(function, "entry");
        builder.position_at_end(entry);
        let x = function.get_nth_param(0).ok_or_else(none)?;
        let of = |x: BasicValueEnum<'c>| -> Result<BasicValueEnum<'c>> {
            let found = intrinsic(op).and_then(Intrinsic::find).ok_or_else(none)?;
            let library = found.get_declaration(&self.module, &[x.get_type()]).ok_or_else(none)?;
            let call = builder.build_call(library, &[x.into()], "value")?;
            call.try_as_basic_value().basic().ok_or_else(none)
        };
        let BasicValueEnum::VectorValue(lanes) = x else {
            builder.build_return(Some(&of(x)?))?;
            return Ok(function);
        };
        let each = self.context.append_basic_block(function, "each");
        let end = self.context.append_basic_block(function, "end");
        let word = self.context.i32_type();
        builder.build_unconditional_branch(each)?;
        builder.position_at_end(each);
        let lane = builder.build_phi(word, "lane")?;
        let so_far = builder.build_phi(ty, "so_far")?;
        let at = lane.as_basic_value().into_int_value();
        let value = of(builder.build_extract_element(lanes, at, "x")?)?;
        let all = so_far.as_basic_value().into_vector_value();
        let all = builder.build_insert_element(all, value, at, "all")?;
        let next = builder.build_int_add(at, word.const_int(1, false), "next")?;
        let n = word.const_int(u64::from(lanes.get_type().get_size()), false);
        let more = builder.build_int_compare(IntPredicate::ULT, next, n, "more")?;
        builder.build_conditional_branch(more, each, end)?;
        lane.add_incoming(&[(&word.const_zero(), entry), (&next, each)]);
        so_far.add_incoming(&[(&lanes, entry), (&all, each)]);
        builder.position_at_end(end);
        builder.build_return(Some(&all))?;
        Ok(function)
    }
}

/// An operation on two scalars or two vectors, which LLVM spells the same.
macro_rules! both {
    ($x:expr, $y:expr, |$a:ident, $b:ident| $done:expr) => {
        match ($x, $y) {
            (BasicValueEnum::FloatValue($a), BasicValueEnum::FloatValue($b)) => $done.into(),
            (BasicValueEnum::VectorValue($a), BasicValueEnum::VectorValue($b)) => $done.into(),
            _ => return Err(none()),
        }
    };
}

/// As `both`, of integers.
macro_rules! both_int {
    ($x:expr, $y:expr, |$a:ident, $b:ident| $done:expr) => {
        match ($x, $y) {
            (BasicValueEnum::IntValue($a), BasicValueEnum::IntValue($b)) => $done.into(),
            (BasicValueEnum::VectorValue($a), BasicValueEnum::VectorValue($b)) => $done.into(),
            _ => return Err(none()),
        }
    };
}

impl<'c> Writing<'c, '_, '_> {
    fn floats(&self) -> BasicTypeEnum<'c> {
        self.width.map_or(self.float.into(), |width| self.float.vec_type(width).into())
    }

    fn ints(&self) -> BasicTypeEnum<'c> {
        self.width.map_or(self.int.into(), |width| self.int.vec_type(width).into())
    }

    fn in_every_lane(&self, value: BasicValueEnum<'c>) -> BasicValueEnum<'c> {
        let Some(width) = self.width else { return value };
        let width = width as usize;
        match value {
            BasicValueEnum::FloatValue(x) => VectorType::const_vector(&vec![x; width]).into(),
            BasicValueEnum::IntValue(x) => VectorType::const_vector(&vec![x; width]).into(),
            other => other,
        }
    }

    /// A float as another type of floats.
    fn converted(
        &self,
        value: BasicValueEnum<'c>,
        to: BasicTypeEnum<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let b = &self.builder;
        Ok(match (value, to) {
            (value, to) if value.get_type() == to => value,
            (BasicValueEnum::FloatValue(x), BasicTypeEnum::FloatType(to)) => {
                b.build_float_cast(x, to, "converted")?.into()
            }
            (BasicValueEnum::VectorValue(x), BasicTypeEnum::VectorType(to)) => {
                b.build_float_cast(x, to, "converted")?.into()
            }
            _ => return Err(none()),
        })
    }

    fn intrinsic(&self, name: &str, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let found = Intrinsic::find(name).ok_or_else(none)?;
        let module = &self.emit.module;
        let ty = args.first().ok_or_else(none)?.get_type();
        let function = found.get_declaration(module, &[ty]).ok_or_else(none)?;
        let args: Vec<_> = args.iter().map(|arg| (*arg).into()).collect();
        let call = self.builder.build_call(function, &args, "value")?;
        call.try_as_basic_value().basic().ok_or_else(none)
    }

    /// Whether a condition holds in all lanes.
    fn in_all_lanes(&self, holds: BasicValueEnum<'c>) -> Result<IntValue<'c>> {
        match holds {
            BasicValueEnum::IntValue(holds) => Ok(holds),
            holds => Ok(self.intrinsic("llvm.vector.reduce.and", &[holds])?.into_int_value()),
        }
    }

    fn choose(
        &self,
        on: BasicValueEnum<'c>,
        yes: BasicValueEnum<'c>,
        no: BasicValueEnum<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let b = &self.builder;
        Ok(match on {
            BasicValueEnum::IntValue(on) => b.build_select(on, yes, no, "choice")?,
            BasicValueEnum::VectorValue(on) => b.build_select(on, yes, no, "choice")?,
            _ => return Err(none()),
        })
    }

    /// A node, given the operands of the function and the nodes before.
    fn node(
        &self,
        node: Node,
        args: &[BasicValueEnum<'c>],
        values: &[BasicValueEnum<'c>],
    ) -> Result<BasicValueEnum<'c>> {
        let b = &self.builder;
        Ok(match node {
            Node::Argument(at) => *args.get(at).ok_or_else(none)?,
            Node::Number(bits) => {
                self.in_every_lane(self.float.const_float(f64::from_bits(bits)).into())
            }
            Node::Integer(number) => {
                self.in_every_lane(self.int.const_int(number as u64, true).into())
            }
            Node::Float(op, x, y) => self.float_op(op, values[x], values[y])?,
            Node::Negative(x) => match values[x] {
                BasicValueEnum::FloatValue(x) => b.build_float_neg(x, "negative")?.into(),
                x => b.build_float_neg(x.into_vector_value(), "negative")?.into(),
            },
            Node::Magnitude(x) => self.intrinsic("llvm.fabs", &[values[x]])?,
            Node::Trunc(x) => self.intrinsic("llvm.trunc", &[values[x]])?,
            Node::Fma(x, y, z) => self.intrinsic("llvm.fma", &[values[x], values[y], values[z]])?,
            Node::Int(op, x, y) => self.int_op(op, values[x], values[y])?,
            Node::Truth(Truth::And, x, y) => {
                both_int!(values[x], values[y], |x, y| b.build_and(x, y, "both")?)
            }
            Node::Truth(Truth::Or, x, y) => {
                both_int!(values[x], values[y], |x, y| b.build_or(x, y, "either")?)
            }
            Node::Compare(how, x, y) => {
                let how = match how {
                    Compare::Less => FloatPredicate::OLT,
                    Compare::LessEqual => FloatPredicate::OLE,
                    Compare::Equal => FloatPredicate::OEQ,
                };
                both!(values[x], values[y], |x, y| b.build_float_compare(how, x, y, "test")?)
            }
            Node::Same(x, y) => {
                let how = IntPredicate::EQ;
                both_int!(values[x], values[y], |x, y| b.build_int_compare(how, x, y, "test")?)
            }
            Node::Choose(on, yes, no) => self.choose(values[on], values[yes], values[no])?,
            Node::Bits(x) => b.build_bit_cast(values[x], self.ints(), "bits")?,
            Node::OfBits(x) => b.build_bit_cast(values[x], self.floats(), "value")?,
            Node::ToFloat(x) => match (values[x], self.floats()) {
                (BasicValueEnum::IntValue(x), BasicTypeEnum::FloatType(to)) => {
                    b.build_signed_int_to_float(x, to, "value")?.into()
                }
                (BasicValueEnum::VectorValue(x), BasicTypeEnum::VectorType(to)) => {
                    b.build_signed_int_to_float(x, to, "value")?.into()
                }
                _ => return Err(none()),
            },
            Node::Scale(x, n) => self.scaled(values[x], values[n])?,
        })
    }

    /// `x * 2^n`, by the instruction for it: in parts that fit a register.
    fn scaled(&self, x: BasicValueEnum<'c>, n: BasicValueEnum<'c>) -> Result<BasicValueEnum<'c>> {
        let (name, bytes) = if self.int.get_bit_width() == 32 { ("ps", 4) } else { ("pd", 8) };
        let width = self.width.unwrap_or(1);
        let part = width.next_power_of_two().clamp(16 / bytes, 64 / bytes);
        let name = format!("llvm.x86.avx512.mask.scalef.{name}.{}", part * bytes * 8);
        let found = Intrinsic::find(&name).ok_or_else(none)?;
        let function = found.get_declaration(&self.emit.module, &[]).ok_or_else(none)?;
        let (context, nothing) = (self.emit.context, self.float.vec_type(part).get_poison());
        let mask = if part > 8 { context.i16_type() } else { context.i8_type() };
        let (mask, rounding) = (mask.const_all_ones(), context.i32_type().const_int(4, false));
        let b = &self.builder;
        let vector = |value: BasicValueEnum<'c>| -> Result<VectorValue<'c>> {
            match value {
                BasicValueEnum::VectorValue(value) => Ok(value),
                value => {
                    let at = context.i32_type().const_zero();
                    Ok(b.build_insert_element(nothing, value, at, "lane")?)
                }
            }
        };
        let (xs, ns) = (vector(x)?, vector(n)?);
        let mut parts = Vec::new();
        for from in (0..width).step_by(part as usize) {
            let (x, n) = (self.lanes(xs, None, from, part)?, self.lanes(ns, None, from, part)?);
            let mut args: Vec<BasicMetadataValueEnum<'c>> =
                vec![x.into(), n.into(), nothing.into(), mask.into()];
            if part * bytes == 64 {
                args.push(rounding.into());
            }
            let call = b.build_call(function, &args, "scaled")?;
            parts.push(call.try_as_basic_value().basic().ok_or_else(none)?.into_vector_value());
        }
        let mut size = part;
        while parts.len() > 1 {
            let pairs = parts.chunks(2);
            let joined = pairs.map(|pair| self.lanes(pair[0], pair.get(1).copied(), 0, 2 * size));
            parts = joined.collect::<Result<Vec<_>>>()?;
            size *= 2;
        }
        let all = *parts.first().ok_or_else(none)?;
        match self.width {
            None => Ok(b.build_extract_element(all, context.i32_type().const_zero(), "scaled")?),
            Some(width) => Ok(self.lanes(all, None, 0, width)?.into()),
        }
    }

    /// So many lanes of one vector or two of the same length, from one on; lanes beyond them are anything.
    fn lanes(
        &self,
        of: VectorValue<'c>,
        and: Option<VectorValue<'c>>,
        from: u32,
        n: u32,
    ) -> Result<VectorValue<'c>> {
        let ty = of.get_type();
        if and.is_none() && from == 0 && n == ty.get_size() {
            return Ok(of);
        }
        let word = self.emit.context.i32_type();
        let all = ty.get_size() * if and.is_some() { 2 } else { 1 };
        let lane =
            |at| if at < all { word.const_int(u64::from(at), false) } else { word.get_poison() };
        let order: Vec<_> = (from..from + n).map(lane).collect();
        let and = and.unwrap_or_else(|| ty.get_poison());
        Ok(self.builder.build_shuffle_vector(of, and, VectorType::const_vector(&order), "lanes")?)
    }

    fn float_op(
        &self,
        op: Float,
        x: BasicValueEnum<'c>,
        y: BasicValueEnum<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let b = &self.builder;
        Ok(match op {
            Float::Add => both!(x, y, |x, y| b.build_float_add(x, y, "sum")?),
            Float::Sub => both!(x, y, |x, y| b.build_float_sub(x, y, "difference")?),
            Float::Mul => both!(x, y, |x, y| b.build_float_mul(x, y, "product")?),
            Float::Div => both!(x, y, |x, y| b.build_float_div(x, y, "quotient")?),
            Float::CopySign => self.intrinsic("llvm.copysign", &[x, y])?,
        })
    }

    fn int_op(
        &self,
        op: Int,
        x: BasicValueEnum<'c>,
        y: BasicValueEnum<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let b = &self.builder;
        Ok(match op {
            Int::Add => both_int!(x, y, |x, y| b.build_int_add(x, y, "sum")?),
            Int::Sub => both_int!(x, y, |x, y| b.build_int_sub(x, y, "difference")?),
            Int::And => both_int!(x, y, |x, y| b.build_and(x, y, "both")?),
            Int::Xor => both_int!(x, y, |x, y| b.build_xor(x, y, "one")?),
            Int::ShiftLeft => both_int!(x, y, |x, y| b.build_left_shift(x, y, "shifted")?),
            Int::ShiftRight => {
                both_int!(x, y, |x, y| b.build_right_shift(x, y, true, "shifted")?)
            }
        })
    }
}

fn none() -> Refused {
    Refused("a formula without a value".to_owned())
}
