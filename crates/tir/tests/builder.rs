//! Programs built without source text verify, print as expected and read back.

use einlang_tir::builder::{Builder, Expr};
use einlang_tir::module::Module;
use einlang_tir::op::Op;
use einlang_tir::text::parse_module;
use einlang_tir::types::Elem::{self, Bool, F32, F64, I32};

#[track_caller]
fn finished(b: Builder) -> Module {
    let module = b.finish().unwrap_or_else(|error| panic!("{error}"));
    let text = module.to_string();
    assert_eq!(parse_module(&text).as_ref(), Ok(&module), "{text}");
    module
}

#[test]
fn a_matrix_product_reads_like_one() {
    let b = Builder::new("matmul");
    let (m, k, n) = (b.extent("M"), b.extent("K"), b.extent("N"));
    let (x, y) = (b.input("A", F32, [&m, &k]), b.input("B", F32, [&k, &n]));
    let c = b.define("C", F32, [("i", &m), ("j", &n)], |[i, j]| {
        b.sum([("p", &k)], |[p]| x.at([&i, &p]) * y.at([&p, &j]))
    });
    b.output(&c);
    let expected = "\
module matmul {
  symbol M = shape A 0;
  symbol K = shape A 1;
  symbol N = shape B 1;
  input A: f32[M, K];
  input B: f32[K, N];
  binding C: f32[i < M, j < N] {
    clause { [i, j] : i >= 0 and i < M and j >= 0 and j < N } {
      %3: f32 = reduce add identity 0.0f32 commutative reassociable over { [p] : p >= 0 and p < K } do {
        %0: f32 = read A[i, p];
        %1: f32 = read B[p, j];
        %2: f32 = mul %0, %1;
        yield %2;
      };
      yield %3;
    }
  }
  output C;
}
";
    assert_eq!(finished(b).to_string(), expected);
}

#[test]
fn mutual_recursion_becomes_one_group() {
    let b = Builder::new("mutual");
    let t = b.extent("T");
    let (even, odd) = (b.declare("even", F64, [("t", &t)]), b.declare("odd", F64, [("t", &t)]));
    let total = b.define("total", F64, [], |[]| b.sum([("u", &t)], |[u]| even.at([u])));
    b.clause(&even, |[t]| [t.equals(0)], |_| Expr::float(F64, 1.0));
    b.clause(&even, |[t]| [t.at_least(1)], |[t]| odd.at([&t - 1]) * 2.0);
    b.clause(&odd, |_| [], |[t]| even.at([&t]) + 1.0);
    b.output(&total);
    b.assume(t.at_least(1));
    let module = finished(b);
    let sizes: Vec<usize> = module.groups.iter().map(|group| group.bindings.len()).collect();
    assert_eq!(sizes, [2, 1], "{module}");
}

#[test]
fn a_shared_node_is_computed_once_per_region() {
    let b = Builder::new("shared");
    let n = b.extent("N");
    let x = b.input("x", F32, [&n]);
    b.define("y", F32, [("i", &n)], |[i]| {
        let s = x.at([&i]).apply(Op::Exp);
        &s * &s + &s
    });
    let mut n_reads = 0;
    finished(b).for_each_inst(&mut |inst| n_reads += usize::from(!inst.tensors().is_empty()));
    assert_eq!(n_reads, 1);
}

#[test]
fn arms_stay_lazy() {
    let b = Builder::new("lazy");
    let n = b.extent("N");
    let (x, key) = (b.input("x", I32, [&n]), b.input("key", I32, [&n]));
    b.define("y", I32, [("i", &n)], |[i]| {
        let k = key.at([&i]);
        k.with(Op::Ge, 0).choose(x.at([&k]), 0)
    });
    let text = finished(b).to_string();
    let arm = text.split("if %").nth(1).unwrap_or_default();
    assert!(arm.contains("read x[%0]"), "{text}");
}

#[test]
fn folds_have_several_parts() {
    let b = Builder::new("argmax");
    let n = b.extent("N");
    let x = b.input("x", F32, [&n]);
    let init = [Expr::float(F32, f64::NEG_INFINITY), Expr::int(I32, 0)];
    let [best, at] = b.fold(
        [("k", &n)],
        init,
        |[m, a], [v, k]| {
            let better = v.with(Op::Gt, &m);
            [better.choose(v, m), better.choose(k, a)]
        },
        |[k]| [x.at([&k]), Expr::index(I32, &k)],
    );
    let value = b.define("value", F32, [], |[]| best);
    b.output(&value);
    let index = b.define("at", I32, [], |[]| at);
    b.output(&index);
    // A region computes the fold once; another region binds its index anew.
    let text = finished(b).to_string();
    assert!(text.contains("[k]") && text.contains("[k']"), "{text}");
}

#[test]
fn an_open_axis_ends_with_its_condition() {
    let b = Builder::new("newton");
    let a = b.input("a", F64, []);
    let steps = b.open("S");
    let x = b.declare("x", F64, [("t", &steps)]);
    b.assume(steps.at_least(1));
    b.clause(&x, |[t]| [t.equals(0)], |_| a.at(()));
    b.clause(&x, |[t]| [t.at_least(1)], |[t]| (x.at([&t - 1]) + a.at(()) / x.at([&t - 1])) * 0.5);
    b.until(&steps, 1, 50, |t| (x.at([&t]) - x.at([&t - 1])).apply(Op::Abs).with(Op::Lt, 1e-9));
    b.output(&x);
    assert!(finished(b).groups[0].until.is_some());
}

#[test]
fn mistakes_are_reported_together() {
    let b = Builder::new("wrong");
    let n = b.extent("N");
    let (x, k) = (b.input("x", F32, [&n]), b.input("k", I32, [&n]));
    b.define("y", F32, [("i", &n)], |[i]| x.at([&i]) + k.at([&i]));
    b.define("z", Bool, [("i", &n)], |[i]| x.at([&i]).with(Op::And, 1));
    let error = b.finish().unwrap_err();
    let expected =
        ["`add` wants operands of one type, not f32 and i32", "`and` wants truth values, not f32"];
    assert_eq!(error.messages, expected);
    let b = Builder::new("rank");
    let x: einlang_tir::builder::TensorRef = b.input("x", Elem::F32, []);
    b.define("y", F32, [], |[]| x.at([0]));
    assert!(b.finish().unwrap_err().to_string().contains("`x` has rank 0, not 1"));
}
