//! Calls the functions of model.ein from Rust, on several threads: rustc main.rs -L . -l model

use std::ffi::{CStr, c_char, c_void};

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    elem: i32,
    rank: i32,
    extents: [i64; 8],
    strides: [i64; 8],
}

const F64: i32 = 13;

unsafe extern "C" {
    fn model_smooth(
        x: *const Tensor,
        keep: f64,
        out: *mut Tensor,
        message: *mut c_char,
        message_size: usize,
    ) -> i32;
    fn model_release(tensor: *mut Tensor);
}

/// A view of numbers; the library only reads arguments.
fn vector(numbers: &[f64]) -> Tensor {
    let (mut extents, mut strides) = ([0; 8], [0; 8]);
    (extents[0], strides[0]) = (numbers.len() as i64, 1);
    Tensor { data: numbers.as_ptr().cast_mut().cast(), elem: F64, rank: 1, extents, strides }
}

fn smooth(x: &[f64], keep: f64) -> Result<Vec<f64>, String> {
    let mut out = vector(&[]);
    let mut message = [0; 200];
    let status =
        unsafe { model_smooth(&vector(x), keep, &mut out, message.as_mut_ptr(), message.len()) };
    if status != 0 {
        let text = unsafe { CStr::from_ptr(message.as_ptr()) };
        return Err(text.to_string_lossy().into_owned());
    }
    let n = out.extents[0] as usize;
    let numbers = unsafe { std::slice::from_raw_parts(out.data.cast::<f64>(), n) }.to_vec();
    unsafe { model_release(&mut out) };
    Ok(numbers)
}

fn main() {
    println!("{:?}", smooth(&[1.0, 2.0, 3.0], 0.5));
    println!("{:?}", smooth(&[], 0.5).map(|numbers| numbers.len()));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_i32)
            .map(|thread| {
                scope.spawn(move || {
                    let x: Vec<f64> = (0..1000).map(|i| f64::from(i % 7 + thread)).collect();
                    let first = smooth(&x, 0.9).expect("it runs");
                    (0..200).all(|_| smooth(&x, 0.9).expect("it runs") == first)
                })
            })
            .collect();
        let same = threads.into_iter().all(|thread| thread.join().expect("it ends"));
        println!("threads agree: {same}");
    });
}
