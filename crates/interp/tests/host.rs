//! Host programs in text form: what they print and give.

use einlang_interp::host::run_program;
use einlang_interp::io::MemoryIo;
use einlang_interp::options::Options;
use einlang_interp::show::show;
use einlang_interp::stop::Stop;
use einlang_interp::tensor::TensorValue;
use einlang_interp::value::HostValue;
use einlang_tir::host::{parse_program, verify_program};

fn run_in(
    text: &str,
    inputs: Vec<HostValue>,
    options: &Options,
    io: &mut MemoryIo,
) -> Result<Vec<HostValue>, Stop> {
    let program = parse_program(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(verify_program(&program), [], "{text}");
    run_program(&program, inputs, options, io)
}

/// Runs a program whose `main` gives nothing, and compares what it prints.
#[track_caller]
fn prints(text: &str, want: &[&str]) {
    let mut io = MemoryIo::default();
    let text = format!("program {{ {text} entry main; }}");
    if let Err(stop) = run_in(&text, vec![], &Options::default(), &mut io) {
        panic!("{stop}\n{:?}", io.lines);
    }
    assert_eq!(io.lines, want);
}

/// Runs a program that stops, and compares the first line of its error.
#[track_caller]
fn stops(text: &str, options: &Options, want: &str) {
    let text = format!("program {{ {text} entry main; }}");
    let stop = run_in(&text, vec![], options, &mut MemoryIo::default()).expect_err("it stops");
    assert_eq!(stop.to_string().lines().next(), Some(want));
}

const FACT: &str = "fn fact -> (i64) { |%1: i64|
    %2: bool = le %1, 1i64;
    %3: i64 = if %2 { yield 1i64; } else {
        %4: i64 = sub %1, 1i64; %5: i64 = call fact(%4); %6: i64 = mul %1, %5; yield %6; };
    yield %3; }";

#[test]
fn values_print_as_the_language_says() {
    prints(
        "struct P { x: f32, y: str } enum E { A(), B(f32), C(i32) } labels E C(k);
         fn main -> () {
            %0: struct P = struct P(1.0f32, \"a\"); %1: tuple(i32, bool) = tuple(1i32, true);
            %2: enum E = variant E A(); %3: enum E = variant E B(0.5f32); %4: enum E = variant E C(7i32);
            %5: list(i32) = list(1i32, 2i32); %6: tuple() = tuple();
            print(%0, %1); print(%2, %3, %4); print(%5, %6, \"text\", 0.1f32); print(); yield; }",
        &["P { x: 1.0, y: \"a\" } (1, true)", "A B(0.5) C { k: 7 }", "[1, 2] () text 0.1", ""],
    );
}

#[test]
fn everything_of_the_ir_runs() {
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/tir/host/everything.tir"),
    )
    .expect("the fixture exists");
    let x = TensorValue::f32s([2], [1.5, -2.0]).expect("it fits");
    let option = HostValue::variant(
        &"Option".into(),
        "Some",
        vec![
            einlang_tir::constant::Const::int(einlang_tir::types::Elem::I32, 4).into(),
            einlang_tir::constant::Const::int(einlang_tir::types::Elem::I32, 5).into(),
        ],
    );
    let mut io = MemoryIo::default();
    let results = run_in(&text, vec![HostValue::tensor(x), option], &Options::default(), &mut io);
    let results = results.unwrap_or_else(|stop| panic!("{stop}"));
    assert_eq!(io.lines, ["n = 00000120! 128 (1.0, 3)"]);
    assert_eq!(results.iter().map(show).collect::<Vec<_>>(), ["[3.0, -4.0]"]);
}

#[test]
fn recursion_works() {
    let main = "fn main -> () { %10: i64 = call fact(20i64); print(%10); yield; }";
    prints(&format!("{FACT} {main}"), &["2432902008176640000"]);
}

#[test]
fn recursion_may_be_deep_but_ends() {
    let text = "fn down -> (i64) { |%0: i64|
            %1: bool = eq %0, 0i64;
            %2: i64 = if %1 { yield 0i64; } else {
                %3: i64 = sub %0, 1i64; %4: i64 = call down(%3); %5: i64 = add %4, 1i64; yield %5; };
            yield %2; }
        fn main -> () { %6: i64 = call down(DEPTHi64); print(%6); yield; }";
    prints(&text.replace("DEPTH", "9000"), &["9000"]);
    let want = "E0802: `down` recurses more than 10000 deep";
    stops(&text.replace("DEPTH", "-1"), &Options::default(), want);
    let deeper = Options { depth: 1_000_000, ..Options::default() };
    let text = format!("program {{ {} entry main; }}", text.replace("DEPTH", "500000"));
    let mut io = MemoryIo::default();
    assert!(run_in(&text, vec![], &deeper, &mut io).is_ok());
    assert_eq!(io.lines, ["500000"]);
}

#[test]
fn strings_are_formatted() {
    prints(
        "fn main -> () {
            %0: str = format(\"n = \", 7i32 as \"03d\", \", x = \", 3.14159f64 as \".2f\", \" {\", \"ab\" as \">4\", \"}\");
            print(%0);
            %1: str = concat(%0, \"!\"); %2: bool = str_eq(%1, %0); %3: bool = str_lt(%0, %1); print(%2, %3);
            %4: tensor(i32, 1) = chars(\"héy\"); %5: str = from_chars(%4); print(%4, %5);
            %6: i64 = parse_int(\" -12 \"); %7: f32 = parse_float(\"2.5e1\"); print(%6, %7); yield; }",
        &["n = 007, x = 3.14 {  ab}", "false true", "[104, 233, 121] héy", "-12 25.0"],
    );
}

#[test]
fn matches_bind_payloads() {
    prints(
        "enum Shape { Dot(), Circle(f32), Box(f32, f32) }
         fn area -> (f32) { |%0: enum Shape|
            %1: f32 = match %0 {
                Circle { |%2: f32| %3: f32 = mul %2, %2; %4: f32 = mul %3, 3.0f32; yield %4; }
                Box { |%5: f32, %6: f32| %7: f32 = mul %5, %6; yield %7; }
                else { yield 0.0f32; } };
            yield %1; }
         fn main -> () {
            %10: enum Shape = variant Shape Dot(); %11: f32 = call area(%10);
            %12: enum Shape = variant Shape Circle(2.0f32); %13: f32 = call area(%12);
            %14: enum Shape = variant Shape Box(2.0f32, 0.5f32); %15: f32 = call area(%14);
            print(%11, %13, %15); yield; }",
        &["0.0 12.0 1.0"],
    );
}

#[test]
fn loops_carry_and_print_in_order() {
    prints(
        "fn main -> () {
            %0: i64 = for 1i64, 4i64 carry(0i64) { |%1: i64, %2: i64|
                print(\"row\", %1); %3: i64 = add %2, %1; yield %3; };
            %4: i64, %5: i64 = while carry(0i64, 1i64) { |%6: i64, %7: i64| %8: bool = lt %7, 50i64; yield %8; }
                do { |%9: i64, %10: i64| %11: i64 = add %9, %10; yield %10, %11; };
            for 3i64, 3i64 carry() { |%12: i64| print(\"never\"); yield; };
            print(%0, %4, %5); yield; }",
        &["row 1", "row 2", "row 3", "6 34 55"],
    );
}

#[test]
fn lists_grow_without_being_copied() {
    // Copying the list each time would take hours.
    prints(
        "fn main -> () {
            %0: list(i64) = list();
            %1: list(i64) = for 0i64, 300000i64 carry(%0) { |%2: i64, %3: list(i64)|
                %4: list(i64) = list_push(%3, %2); yield %4; };
            %5: i32 = list_len(%1); %6: i64 = list_get(%1, 299999i32); print(%5, %6); yield; }",
        &["300000 299999"],
    );
}

#[test]
fn a_value_that_is_shared_stays_as_it_was() {
    prints(
        "fn main -> () {
            %0: list(i64) = list(1i64); %1: list(i64) = list_push(%0, 2i64); %2: list(i64) = list_push(%0, 3i64);
            %3: list(i64) = list_concat(%1, %2); print(%0, %1, %2, %3); yield; }",
        &["[1] [1, 2] [1, 3] [1, 2, 1, 3]"],
    );
}

#[test]
fn jagged_lists_and_tensors() {
    prints(
        "fn main -> () {
            %0: list(i32) = list(1i32, 2i32); %1: list(i32) = list(3i32, 4i32); %2: list(i32) = list();
            %3: list(list(i32)) = list(%0, %1); %4: tensor(i32, 2) = list_to_tensor(%3);
            %5: list(list(i32)) = list(%0, %2); %6: str = type_of(%5); %7: str = type_of(%4);
            print(%4, %5, %6, %7);
            %8: list(tensor(i32, 1)) = tensor_to_list(%4); %9: list(list(i32)) = tensor_to_list(%4);
            %10: tensor(f32, 2) = cast_tensor(%4); %11: i64 = extent(%4, 1i64); %12: i32 = element(%4, 1i64, 0i64);
            print(%8, %9, %10, %11, %12); yield; }",
        &["[[1, 2], [3, 4]] [[1, 2], []] jagged[i32] [i32; 2, 2]",
          "[[1, 2], [3, 4]] [[1, 2], [3, 4]] [[1.0, 2.0], [3.0, 4.0]] 2 3"],
    );
    stops(
        "fn main -> () { %0: list(i32) = list(1i32); %1: list(i32) = list(); %2: list(list(i32)) = list(%0, %1);
            %3: tensor(i32, 2) = list_to_tensor(%2); yield; }",
        &Options::default(),
        "E0705: the list is not rectangular: axis 1 has lengths 1 and 0",
    );
}

#[test]
fn closures_hold_their_values() {
    prints(
        "fn axpy -> (f32) { |%0: f32, %1: f32, %2: f32| %3: f32 = mul %0, %1; %4: f32 = add %3, %2; yield %4; }
         fn twice -> (f32) { |%5: fn(f32) -> (f32), %6: f32| %7: f32 = apply %5(%6); %8: f32 = apply %5(%7); yield %8; }
         fn main -> () {
            %10: fn(f32) -> (f32) = closure axpy(2.0f32, 3.0f32); %11: f32 = call twice(%10, 1.0f32);
            %12: list(fn(f32) -> (f32)) = list(%10, %10); %13: fn(f32) -> (f32) = list_get(%12, 1i32);
            %14: f32 = apply %13(0.0f32); print(%11, %14); yield; }",
        &["13.0 6.0"],
    );
}

#[test]
fn try_turns_stops_into_messages() {
    prints(
        "enum R { Ok(i32), Err(str) }
         fn quotient -> (i32) { |%0: i32, %1: i32| %2: i32 = div %0, %1; yield %2; }
         fn main -> () {
            %10: enum R = try { %11: i32 = call quotient(7i32, 2i32); yield %11; };
            %12: enum R = try { print(\"before\"); %13: i32 = call quotient(7i32, 0i32); print(\"after\"); yield %13; };
            %14: enum R = try { %15: enum R = try { fail assertion \"inner\"; yield 1i32; };
                print(%15); trap out_of_bounds \"outer\"; yield 2i32; };
            print(%10, %12, %14); yield; }",
        &["before", "Err(\"inner\")", "Ok(3) Err(\"integer division by zero: `7 / 0`\") Err(\"outer\")"],
    );
}

#[test]
fn limits_are_not_caught() {
    stops(
        "enum R { Ok(i32), Err(str) }
         fn f -> (i32) { |%0: i32| %1: i32 = call f(%0); yield %1; }
         fn main -> () { %2: enum R = try { %3: i32 = call f(1i32); yield %3; }; yield; }",
        &Options::default(),
        "E0802: `f` recurses more than 10000 deep",
    );
    stops(
        "fn main -> () { %0: i64 = while carry(0i64) { |%1: i64| yield true; } do { |%2: i64| yield %2; }; yield; }",
        &Options { steps: Some(100_000), ..Options::default() },
        "E0803: the program took more than the 100000 steps allowed",
    );
    stops(
        "fn main -> () { %0: str = for 0i64, 60i64 carry(\"ab\") { |%1: i64, %2: str|
            %3: str = concat(%2, %2); yield %3; }; yield; }",
        &Options { memory: 1 << 20, ..Options::default() },
        "E0801: a string of 2097152 bytes is larger than the memory limit",
    );
}

#[test]
fn asserts_and_failures_carry_messages() {
    let options = Options::default();
    let want = "E0703: assertion failed: d is zero";
    stops("fn main -> () { assert false \"d is zero\"; yield; }", &options, want);
    stops(
        "fn main -> () { %0: str = format(\"x was \", 41i32 as \"\"); fail assertion %0; yield; }",
        &options,
        "E0703: x was 41",
    );
    let want = "E0702: the list is read at index 3 of axis 0, whose extent is 1";
    stops(
        "fn main -> () { %0: list(i32) = list(1i32); %1: i32 = list_get(%0, 3i32); yield; }",
        &options,
        want,
    );
    let want = "E0903: `x1` is not a number of type i32";
    stops("fn main -> () { %0: i32 = parse_int(\"x1\"); yield; }", &options, want);
    let checked = Options { checked: true, ..Options::default() };
    let want = "E0704: overflow: `2147483647 + 1` does not fit i32";
    stops("fn main -> () { %0: i32 = add 2147483647i32, 1i32; yield; }", &checked, want);
}

#[test]
fn modules_run_and_call_back() {
    prints(
        &format!(
            "{FACT}
             module m {{ symbol N; input scale: f32[];
                binding f: i64[i < N] {{ clause {{ [i] : 0 <= i < N }} {{
                    %100: i64 = index i; %101: i64 = host_call fact(%100); yield %101; }} }}
                binding g: f32[] {{ clause {{ [] }} {{ %102: f32 = read scale[]; %103: f32 = mul %102, 2.0f32; yield %103; }} }}
                output f, g; }}
             fn main -> () {{
                %10: tensor(f32, 0) = scalar(1.25f32);
                %11: tensor(i64, 1), %12: tensor(f32, 0) = run m(%10, 6i64);
                print(%11, %12); yield; }}"
        ),
        &["[1, 1, 2, 6, 24, 120] 2.5"],
    );
}

#[test]
fn errors_of_modules_name_the_point() {
    stops(
        "module m { symbol N = shape x 0; input x: i32[N];
            binding q: i32[i < N] { clause { [i] : 0 <= i < N } { %100: i32 = read x[i]; %101: i32 = div 6i32, %100; yield %101; } }
            output q; }
         fn main -> () { %0: list(i32) = list(3i32, 0i32); %1: tensor(i32, 1) = list_to_tensor(%0);
            %2: tensor(i32, 1) = run m(%1); yield; }",
        &Options::default(),
        "E0701: integer division by zero: `6 / 0` (at `q[i = 1]`)",
    );
}

#[test]
fn files_go_through_the_world() {
    let text = "program { fn main -> (str) {
        write_text(\"out/a.txt\", \"hello\"); %0: bool = file_exists(\"out/a.txt\"); %1: bool = file_exists(\"b\");
        %2: list(str) = list_dir(\"out\"); %3: str = read_text(\"out/a.txt\"); print(%0, %1, %2); yield %3; } entry main; }";
    let mut io = MemoryIo::default();
    let results = run_in(text, vec![], &Options::default(), &mut io).expect("it runs");
    assert_eq!(results.iter().map(show).collect::<Vec<_>>(), ["hello"]);
    assert_eq!(io.lines, ["true false [\"a.txt\"]"]);
    let want = "E0901: there is no file `nope`";
    stops("fn main -> () { %0: str = read_text(\"nope\"); yield; }", &Options::default(), want);
    stops(
        "fn main -> () { %0: tensor(f32, 2) = load_tensor(\"npy\", \"w.npy\"); yield; }",
        &Options::default(),
        "unavailable: cannot load `w.npy`: the format `npy` is not available here",
    );
}

#[test]
fn equality_is_structural() {
    prints(
        "struct P { x: f32, l: list(i32) }
         fn main -> () {
            %0: list(i32) = list(1i32); %1: struct P = struct P(0.0f32, %0); %2: struct P = struct P(-0.0f32, %0);
            %3: struct P = struct P(nanf32, %0); %4: bool = equal(%1, %2); %5: bool = equal(%3, %3);
            %6: bool = equal(\"a\", \"b\"); print(%4, %5, %6); yield; }",
        &["true false false"],
    );
}

#[test]
fn inputs_are_checked() {
    let text = "program { fn main -> (i32) { |%0: i32| yield %0; } entry main; }";
    let missing = run_in(text, vec![], &Options::default(), &mut MemoryIo::default());
    assert_eq!(
        missing.map_err(|stop| stop.to_string()).err().as_deref(),
        Some("E0905: `main` takes 1 inputs, not 0")
    );
    let wrong =
        run_in(text, vec![HostValue::str("a")], &Options::default(), &mut MemoryIo::default());
    assert_eq!(
        wrong.map_err(|stop| stop.to_string()).err().as_deref(),
        Some("E0906: input 0 wants i32, not str")
    );
}

#[test]
fn long_linked_values_are_no_danger() {
    prints(
        "enum L { Nil(), Cons(i64, enum L) }
         fn main -> () {
            %0: enum L = variant L Nil();
            %1: enum L = for 0i64, 200000i64 carry(%0) { |%2: i64, %3: enum L|
                %4: enum L = variant L Cons(%2, %3); yield %4; };
            %5: i64, %6: enum L, %7: bool = while carry(0i64, %1, true) { |%8: i64, %9: enum L, %10: bool| yield %10; }
                do { |%11: i64, %12: enum L, %13: bool|
                    %14: i64, %15: enum L, %16: bool = match %12 {
                        Nil { yield %11, %12, false; }
                        Cons { |%17: i64, %18: enum L| %19: i64 = add %11, %17; yield %19, %18, true; } };
                    yield %14, %15, %16; };
            print(%5); yield; }",
        &["19999900000"],
    );
}
