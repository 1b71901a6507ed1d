//! Element types through whole modules.

use crate::check;

/// A module that applies instructions to constants and yields `%9`.
fn scalar(elem: &str, insts: &str) -> String {
    format!(
        "module m with speculated {{ binding r: {elem}[] {{ clause {{ [] }} {{ {insts} yield %9; }} }} output r; }}"
    )
}

#[track_caller]
fn gives(elem: &str, insts: &str, want: &str) {
    check(&scalar(elem, insts), vec![], &[], want);
}

#[test]
fn integers() {
    gives("i32", "%9: i32 = add 2147483647i32, 1i32;", "-2147483648");
    gives("u8", "%9: u8 = sub 1u8, 2u8;", "255");
    gives("i64", "%9: i64 = ipow 3i64, 5i64;", "243");
    gives("i32", "%9: i32 = rem -7i32, 3i32;", "-1");
    gives("u64", "%9: u64 = bnot 0u64;", "18446744073709551615");
    gives("i16", "%9: i16 = shl 1i16, 15i16;", "-32768");
    gives("bool", "%9: bool = lt -1i8, 1i8;", "true");
    gives("bool", "%9: bool = lt 255u8, 1u8;", "false");
}

#[test]
fn floats() {
    gives("f32", "%9: f32 = div 1.0f32, 3.0f32;", "0.33333334");
    gives("f64", "%9: f64 = div 1.0f64, 3.0f64;", "0.3333333333333333");
    gives("f16", "%9: f16 = div 1.0f16, 3.0f16;", "0.3333");
    gives("bf16", "%9: bf16 = add 256.0bf16, 1.0bf16;", "256.0");
    gives("f8e4m3", "%9: f8e4m3 = mul 300.0f8e4m3, 2.0f8e4m3;", "NaN");
    gives("f32", "%9: f32 = div 0.0f32, 0.0f32;", "NaN");
    gives("f64", "%9: f64 = powi 1.5f64, -2i32;", "0.4444444444444444");
    gives("f64", "%9: f64 = pow 2.0f64, 0.5f64;", "1.4142135623730951");
    gives("f64", "%9: f64 = fma 0.1f64, 10.0f64, -1.0f64;", "5.551115123125783e-17");
    gives("f64", "%9: f64 = atan2 1.0f64, -1.0f64;", "2.356194490192345");
}

#[test]
fn special_functions() {
    gives("f64", "%9: f64 = erf 0.5f64;", "0.5204998778130465");
    gives("f64", "%9: f64 = gamma 5.0f64;", "24.0");
    gives("f32", "%9: f32 = lgamma 10.0f32;", "12.801827");
    gives("f32", "%9: f32 = digamma 1.0f32;", "-0.5772157");
    gives("f32", "%9: f32 = polygamma 2i32, 1.0f32;", "-2.4041138");
    gives("f32", "%9: f32 = bessel_j0 1.0f32;", "0.7651977");
    gives("f32", "%9: f32 = bessel_j1 1.0f32;", "0.44005057");
}

#[test]
fn conversions() {
    gives("i8", "%9: i8 = cast -300.0f32;", "-128");
    gives("u8", "%9: u8 = cast 300i32;", "44");
    gives("i32", "%9: i32 = cast nanf64;", "0");
    gives("f32", "%9: f32 = cast true;", "1.0");
    gives("i32", "%9: i32 = bitcast 1.0f32;", "1065353216");
    gives("f32", "%9: f32 = bitcast -1082130432i32;", "-1.0");
    gives("f32", "%9: f32 = select true, 1.0f32, 2.0f32;", "1.0");
    gives("f32", "%9: f32 = detach 2.5f32;", "2.5");
}
