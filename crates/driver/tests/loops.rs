//! Fixtures in `tests/loops`: beside each program its schedules and its loop IR, which also read back
//! as printed. Those in `tests/threads` have their loop IR divided among threads, which is checked to
//! need its barriers; those in `tests/jam` with rounds that go together.

use std::path::Path;

use einlang_driver::{Session, Stage};
use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::ir::{Kernel, Size, parse_kernel, verify};
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::{Checkpoints, parse_schedules};
use einlang_loops::threads::{Worth, divide_work, has_teams};
use einlang_loops::{Rounds, hoist_values, jam_rounds};
use einlang_source::MemoryWorld;
use einlang_testkit::fixtures::{Program, check, programs};
use einlang_tir::module::Module;

fn printed(program: &Program, stage: Stage) -> String {
    let world = MemoryWorld::new().with("main.ein", program.text.clone());
    let mut session = Session::new(&world);
    let file = session.load(Path::new("main.ein")).expect("the program is there");
    session.ir(file, Some(stage)).text
}

#[test]
fn schedules_are_as_expected() {
    check("tests/loops", "schedule", |program| {
        let text = printed(program, Stage::Decide);
        let again = parse_schedules(&text).expect("it reads back");
        assert_eq!(again.iter().map(ToString::to_string).collect::<String>(), text);
        text
    });
}

/// What is decided for the programs that are measured, so that a change which loses a decision is seen.
#[test]
fn schedules_of_measured_programs_are_as_expected() {
    check("bench", "plan", |program| {
        let text = with_call(&program.text);
        printed(&Program { text, ..program.clone() }, Stage::Decide)
    });
}

/// What was decided can be given: it is legal, and gives the same code. Trajectories with a budget are held to it
/// only where the compiler decides.
#[test]
fn schedules_that_were_decided_can_be_given() {
    let mut wrong = Vec::new();
    for folder in ["tests/loops", "bench", "bench/more"] {
        for Program { path, text, .. } in programs(folder) {
            let world = MemoryWorld::new();
            let mut session = Session::new(&world);
            let file = session.add_text("main.ein", with_call(&text));
            let Ok(executable) = session.build(file) else { panic!("{}", path.display()) };
            for checkpoint in [Checkpoint::None, Checkpoint::Segments(Checkpoints::Sqrt)] {
                let usual = Choices { checkpoint, ..Choices::default() };
                for module in &executable.program().modules {
                    let Ok(decided) = plan(module, &usual) else { continue };
                    let schedules =
                        parse_schedules(&decided.schedule.to_string()).expect("it reads back");
                    let name = format!("{} {} {checkpoint:?}", path.display(), module.name);
                    match plan(module, &Choices { schedules, ..usual.clone() }) {
                        Err(why) => wrong.push(format!("{name}: {why}")),
                        Ok(again) if again.kernel.to_string() != decided.kernel.to_string() => {
                            wrong.push(format!("{name}: other code"));
                        }
                        Ok(_) => {}
                    }
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A program that calls the function `run` of a file, if it has one, with inputs of any lengths.
fn with_call(text: &str) -> String {
    let Some((_, head)) = text.split_once("pub fn run(") else { return text.to_owned() };
    let (mut depth, mut parameters, mut start) = (0, Vec::new(), 0);
    for (at, char) in head.char_indices() {
        depth += i32::from("([".contains(char)) - i32::from(")]".contains(char));
        if (char == ',' && depth == 0) || depth < 0 {
            parameters.extend(head[start..at].split_once(':'));
            start = at + 1;
        }
        if depth < 0 {
            break;
        }
    }
    let mut program = text.to_owned();
    for (name, ty) in &parameters {
        let ty = match ty.trim().strip_suffix(']').and_then(|ty| ty.split_once(';')) {
            Some((element, extents)) => {
                let any = |extent: &str| match extent.trim().parse::<u32>() {
                    Ok(number) => number.to_string(),
                    Err(_) => "?".to_owned(),
                };
                let extents: Vec<String> = extents.split(',').map(any).collect();
                format!("{element}; {}]", extents.join(", "))
            }
            None => ty.trim().to_owned(),
        };
        program += &format!("input {}: {ty};\n", name.trim());
    }
    let names: Vec<&str> = parameters.iter().map(|(name, _)| name.trim()).collect();
    program + &format!("let out = run({});\n", names.join(", "))
}

#[test]
fn loop_ir_is_as_expected() {
    check("tests/loops", "kernel", |program| {
        let text = printed(program, Stage::LowerLoops);
        for kernel in text.split_inclusive("\n}\n") {
            let again = parse_kernel(kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
            assert_eq!(again.to_string(), kernel);
            assert_eq!(verify(&again), [], "{kernel}");
        }
        text
    });
}

/// Rounds that go together are written out, or lie inside of lanes where code is to be short.
#[test]
fn rounds_go_together_as_expected() {
    check("tests/jam", "jammed", |program| printed(program, Stage::JamRounds));
    check("tests/jam", "short", |program| {
        let mut kernel = parse_kernel(&printed(program, Stage::DivideWork)).expect("it reads");
        assert!(jam_rounds(&mut kernel, Rounds::Short) > 0, "it is shorter");
        kernel.to_string()
    });
}

/// What no step changes is computed before the steps.
#[test]
fn values_are_hoisted_as_expected() {
    check("tests/hoist", "hoisted", |program| printed(program, Stage::HoistValues));
}

/// Whatever rounds go together, kernels stay well formed, and those that are to be short are no longer than others.
#[test]
fn kernels_with_rounds_that_go_together_are_well_formed() {
    let mut n_spared = 0;
    for folder in ["tests/jam", "tests/loops", "tests/threads", "bench", "bench/more"] {
        for program in programs(folder) {
            let program = Program { text: with_call(&program.text), ..program };
            for kernel in printed(&program, Stage::DivideWork).split_inclusive("\n}\n") {
                let Ok(kernel) = parse_kernel(kernel) else { continue };
                let [mut asked, mut short] = [kernel.clone(), kernel];
                assert_eq!(jam_rounds(&mut asked, Rounds::Asked), 0);
                let spared = jam_rounds(&mut short, Rounds::Short);
                n_spared += spared;
                let mut hoisted = asked.clone();
                hoist_values(&mut hoisted);
                for kernel in [&asked, &short, &hoisted] {
                    let mut problems = verify(kernel);
                    // That parts of divided loops are apart was seen before; conditions of copies hide it.
                    problems
                        .retain(|problem| problem.message != "a loop is divided that cannot be");
                    assert_eq!(problems, [], "{}: {kernel}", program.name);
                }
                let length = |kernel: &Kernel| kernel.to_string().lines().count();
                assert!(spared == 0 || length(&short) < length(&asked), "{}", program.name);
            }
        }
    }
    assert!(n_spared > 1000, "{n_spared}");
}

#[test]
fn teams_are_as_expected() {
    check("tests/threads", "teams", |program| {
        let text = printed(program, Stage::DivideWork);
        for kernel in text.split_inclusive("\n}\n") {
            let again = parse_kernel(kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
            assert_eq!(again.to_string(), kernel);
            assert_eq!(verify(&again), [], "{kernel}");
            for (at, _) in kernel.match_indices("barrier;\n") {
                let without = kernel[..at].to_owned() + &kernel[at + "barrier;\n".len()..];
                let without = parse_kernel(&without).expect("it is there");
                assert!(!verify(&without).is_empty(), "a barrier is not needed:\n{kernel}");
            }
        }
        text
    });
}

/// The first module of a program.
fn module_of(text: &str) -> Module {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("main.ein", text);
    let Ok(executable) = session.build(file) else { panic!("it is built") };
    executable.program().modules[0].clone()
}

/// A small matrix is applied many times: sizes up to 16 have code of their own, with the state on the stack.
#[test]
fn small_sizes_of_a_call_have_code_of_their_own() {
    let text = "input a: [f64; S, S];
input first: [f64; S];
fn power(a: [f64; S, S], first: [f64; S]) -> [f64; S] {
    let x[0, i in 0..S] = first[i];
    let x[t in 1..1000, i in 0..S] = sum[j](a[i, j] * x[t - 1, j]);
    x[999]
}
let last = power(a, first);
";
    let module = &module_of(text);
    for (size, small) in [(4, true), (16, true), (17, false)] {
        let shapes = module.inputs.iter().map(|input| vec![size; input.ty.dims.len()]).collect();
        let planned = plan(module, &Choices { shapes, expects_sizes: true, ..Choices::default() })
            .expect("it is planned");
        let schedule = planned.schedule.to_string();
        assert_eq!(schedule.contains(&format!("= {size};")), small, "{schedule}");
        assert_eq!(schedule.contains(" stack;"), small, "{schedule}");
        assert_eq!(verify(&planned.kernel), []);
    }
}

/// Rows of a product are copied where many panels of lanes go through them.
#[test]
fn rows_are_packed_where_that_is_worth_it() {
    let text = "input a: [f32; M, K];
input b: [f32; K, N];
fn product(a: [f32; M, K], b: [f32; K, N]) -> [f32; M, N] {
    let c[i, j] = sum[k](a[i, k] * b[k, j]);
    c
}
let c = product(a, b);
";
    let module = &module_of(text);
    for (n_lanes, many) in [(64, false), (500, false), (1024, true), (5000, true)] {
        let shape = |name: &str| if name == "a" { [2000, 2000] } else { [2000, n_lanes] };
        let shapes = module.inputs.iter().map(|of| shape(of.name.as_str()).to_vec()).collect();
        let planned = plan(module, &Choices { shapes, expects_sizes: true, ..Choices::default() })
            .expect("it is planned");
        let schedule = planned.schedule.to_string();
        assert_eq!(schedule.contains("pack a axis 0 by 12 rows"), many, "{n_lanes}: {schedule}");
        assert!(schedule.contains("pack b axis 1 "), "{n_lanes}: {schedule}");
        assert_eq!(verify(&planned.kernel), []);
    }
}

/// Steps that are too short for threads stay with one, whatever their number; what stands beside them is
/// divided, and longer steps are.
#[test]
fn steps_are_divided_where_that_is_worth_it() {
    let text = "input a: [f64; S, S];
input first: [f64; S];
input many: [f64; N];
fn power(a: [f64; S, S], first: [f64; S]) -> [f64; S] {
    let x[0, i in 0..S] = first[i];
    let x[t in 1..1000, i in 0..S] = sum[j](a[i, j] * x[t - 1, j]);
    x[999]
}
let last = power(a, first);
let others[i] = exp(sin(many[i])) + last[0];
";
    const WORTH: Worth = Worth { least: 60_000, ..Worth::ALWAYS };
    let module = &module_of(text);
    let divided = |s: i64, n: i64| {
        let shape = |rank: usize, name: &str| match name {
            "many" => vec![n],
            _ => vec![s; rank],
        };
        let inputs = module.inputs.iter();
        let shapes = inputs.map(|input| shape(input.ty.dims.len(), input.name.as_str())).collect();
        let choices = Choices { shapes, expects_sizes: true, ..Choices::default() };
        let mut kernel = plan(module, &choices).expect("it is planned").kernel;
        let left = divide_work(&mut kernel, WORTH, &choices.shapes);
        assert_eq!(verify(&kernel), []);
        (kernel, left)
    };
    let barriers = |kernel: &Kernel| kernel.to_string().matches("barrier;").count();
    let (short, left) = divided(32, 10);
    assert!(!has_teams(&short) && !left.is_empty());
    let (beside, left_beside) = divided(32, 1_000_000);
    assert!(has_teams(&beside) && barriers(&beside) == 0 && !left_beside.is_empty(), "{beside}");
    let (long, none) = divided(2000, 10);
    assert!(has_teams(&long) && barriers(&long) > 0 && none.is_empty(), "{long}");
    let sizes = |s: i64, n: i64| -> Vec<i64> {
        let shape = |size: &Size| match size {
            Size::Shape(buffer, _) if short.buffers[buffer.0 as usize].name.as_str() == "many" => n,
            _ => s,
        };
        short.sizes.iter().map(|(_, size)| shape(size)).collect()
    };
    let more = |s, n| left.iter().any(|left| left.is_worth_more(&short, &sizes(s, n), WORTH));
    assert!(!more(33, 20) && more(2000, 10) && more(32, 1_000_000));
}
