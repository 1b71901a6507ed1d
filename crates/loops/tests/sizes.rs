//! What is chosen for the sizes of a call: a convolution runs in lanes along its channels where its rows would
//! leave many without work, and tiles fit the rows that there are.

use einlang_loops::plan::{Choices, Plan, plan};
use einlang_tir::text::parse_module;

const CONVOLUTION: &str = "\
module part with disjoint, inlined, differentiated {
  symbol O = shape w 0;
  symbol C = shape w 1;
  symbol S = shape w 2;
  symbol N = shape x 0;
  symbol Q = shape x 2;
  symbol M = max(0, -S + Q + 1);
  input w: f32[O, C, S];
  input x: f32[N, C, Q];
  binding y: f32[n < N, o < O, q < M] {
    clause { [n, o, q] : n >= 0 and n < N and o >= 0 and o < O and q >= 0 and q <= -S + Q and q < M } {
      %3: f32 = reduce add identity 0.0f32 commutative reassociable over { [c, s] : c >= 0 and c < C and s >= 0 and s < S } do {
        %0: f32 = read x[n, c, q + s] proved;
        %1: f32 = read w[o, c, s] proved;
        %2: f32 = mul %0, %1;
        yield %2;
      };
      yield %3;
    }
  }
  output y;
}
";

const PRODUCT: &str = "\
module part with disjoint, inlined, differentiated {
  symbol N = shape a 0;
  symbol J = shape a 1;
  symbol K = shape b 1;
  input a: f32[N, J];
  input b: f32[J, K];
  binding y: f32[n < N, k < K] {
    clause { [n, k] : n >= 0 and n < N and k >= 0 and k < K } {
      %3: f32 = reduce add identity 0.0f32 commutative reassociable over { [j] : j >= 0 and j < J } do {
        %0: f32 = read a[n, j] proved;
        %1: f32 = read b[j, k] proved;
        %2: f32 = mul %0, %1;
        yield %2;
      };
      yield %3;
    }
  }
  output y;
}
";

const STENCIL: &str = "\
module part with disjoint, inlined, differentiated {
  symbol steps;
  symbol N = shape x 0;
  symbol M = shape x 1;
  symbol T = max(1, steps + 1);
  input x: f32[N, M];
  binding u: f32[t < T, i < N, j < M] {
    clause { [t, i, j] : t = 0 and t < T and i >= 0 and i < N and j >= 0 and j < M } {
      %0: f32 = read x[i, j] proved;
      yield %0;
    }
    clause { [t, i, j] : t >= 1 and t <= steps and t < T and i = 0 and i < N and j >= 0 and j < M } {
      %1: f32 = read u[t - 1, i, j] proved;
      yield %1;
    }
    clause { [t, i, j] : t >= 1 and t <= steps and t < T and i >= 1 and i < N and j >= 0 and j < M } {
      %2: f32 = read u[t - 1, i - 1, j] proved;
      %3: f32 = read u[t - 1, i, j] proved;
      %4: f32 = add %2, %3;
      yield %4;
    }
  }
  binding y: f32[i < N, j < M] {
    clause { [i, j] : i >= 0 and i < N and j >= 0 and j < M } {
      %5: f32 = read u[T - 1, i, j] proved;
      yield %5;
    }
  }
  output y;
}
";

fn planned(text: &str, shapes: &[&[i64]]) -> Plan {
    let module = parse_module(text).expect("a module");
    let shapes: Vec<Vec<i64>> = shapes.iter().map(|shape| shape.to_vec()).collect();
    let choices = Choices { expects_sizes: !shapes.is_empty(), shapes, ..Choices::default() };
    plan(&module, &choices).expect("it can be planned")
}

/// The innermost loops of the schedule: how many rows at once, and which axis in how many lanes.
fn tile(text: &str, shapes: &[&[i64]]) -> (String, String) {
    let plan = planned(text, shapes);
    assert_eq!(plan.follows_shapes, !shapes.is_empty());
    let schedule = plan.schedule.to_string();
    let line = |word: &str| {
        let found = schedule.lines().find(|line| line.contains(word));
        found.unwrap_or_else(|| panic!("no {word} in\n{schedule}")).trim().to_owned()
    };
    (line("unroll"), line("points"))
}

#[test]
fn a_convolution_runs_along_rows_or_channels_as_the_sizes_ask() {
    let along_rows = |rows: u32| {
        let unroll = format!("loop y/0 by (0, 1, 0) unroll {rows} {{");
        (unroll, "points y/0 (0, 1, 2) lane 32;".to_owned())
    };
    let along_channels = |rows: u32, lanes: u32| {
        let unroll = format!("loop y/0 by (0, 0, 1) unroll {rows} {{");
        (unroll, format!("points y/0 (0, 2, 1) lane {lanes};"))
    };
    assert_eq!(tile(CONVOLUTION, &[]), along_rows(12), "nothing is known");
    // 54 of 64 lanes would have work along the rows, all of them along the channels, of which a tile has so few that
    // enough columns share them.
    let (channels, deep) = (&[64, 64, 3][..], &[8, 64, 56][..]);
    assert_eq!(tile(CONVOLUTION, &[channels, deep]), along_channels(9, 32));
    assert_eq!(tile(CONVOLUTION, &[&[32, 64, 3], deep]), along_channels(9, 32));
    assert_eq!(tile(CONVOLUTION, &[&[3, 64, 3], deep]).1, "points y/0 (0, 1, 2) lane 32;");
    // Rows of 224 leave no lane without work, and results need not be scattered.
    assert_eq!(tile(CONVOLUTION, &[channels, &[8, 64, 226]]).1, "points y/0 (0, 1, 2) lane 32;");
}

#[test]
fn narrow_results_run_along_their_rows() {
    let narrow = tile(PRODUCT, &[&[256, 512], &[512, 10]]);
    assert_eq!(narrow.0, "loop y/0 by (0, 1) unroll 10 {");
    assert_eq!(narrow.1, "points y/0 (1, 0) lane 32;");
    let wide = tile(PRODUCT, &[&[256, 512], &[512, 96]]);
    assert_eq!(wide.1, "points y/0 (0, 1) lane 32;");
}

#[test]
fn long_axes_are_equally_long() {
    let tile = |n: i64| tile(PRODUCT, &[&[n, 300], &[300, n]]);
    assert_eq!(tile(1000), tile(100_000));
}

/// Steps are taken in tiles, unless all planes are known to stay in a cache. What is not told apart may be long.
#[test]
fn small_planes_have_no_tiles() {
    let has_tiles =
        |shapes: &[&[i64]]| planned(STENCIL, shapes).schedule.to_string().contains("tile 8 wave");
    assert!(has_tiles(&[]), "nothing is known");
    assert!(!has_tiles(&[&[256, 256]]));
    assert!(has_tiles(&[&[257, 8]]));
    assert!(has_tiles(&[&[2000, 2000]]));
}
