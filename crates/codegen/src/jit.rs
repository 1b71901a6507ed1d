//! Objects in memory, and calling them.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr;

use einlang_interp::native::{Ended, NativeKernel, NativeMachine};
use inkwell::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use inkwell::llvm_sys::orc2::lljit::{
    LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
    LLVMOrcLLJITGetGlobalPrefix, LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup, LLVMOrcLLJITRef,
};
use inkwell::llvm_sys::orc2::{
    LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess, LLVMOrcJITDylibAddGenerator,
};

use crate::frame::{Frame, Services, Tables};

/// The name of the function in an object.
pub(crate) const ENTRY: &str = "einlang_kernel";

/// Machine code that can be run.
pub(crate) struct Code {
    jit: LLVMOrcLLJITRef,
    entry: extern "C" fn(*mut Frame) -> i64,
    tables: Tables,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the session is ours, and `entry` is not called again.
        let _ = unsafe { LLVMOrcDisposeLLJIT(self.jit) };
    }
}

impl Code {
    /// Links an object into the process.
    pub(crate) fn load(object: &[u8], tables: Tables) -> Result<Code, String> {
        let name = CString::new(ENTRY).map_err(|_| "a name with a zero byte".to_owned())?;
        let mut jit = ptr::null_mut();
        let mut address = 0;
        // SAFETY: every pointer handed over was made here or by the call before, and each call's
        // error is looked at before its result is used.
        unsafe {
            check(LLVMOrcCreateLLJIT(&mut jit, ptr::null_mut()))?;
            let main = LLVMOrcLLJITGetMainJITDylib(jit);
            let mut process = ptr::null_mut();
            let prefix = LLVMOrcLLJITGetGlobalPrefix(jit);
            check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                prefix,
                None,
                ptr::null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(main, process);
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast(),
                object.len(),
                c"kernel".as_ptr(),
            );
            check(LLVMOrcLLJITAddObjectFile(jit, main, buffer))?;
            check(LLVMOrcLLJITLookup(jit, &mut address, name.as_ptr()))?;
        }
        // SAFETY: `emit` gives the function of this name exactly this type.
        let entry = unsafe {
            std::mem::transmute::<usize, extern "C" fn(*mut Frame) -> i64>(address as usize)
        };
        Ok(Code { jit, entry, tables })
    }
}

impl NativeKernel for Code {
    fn run(&self, machine: &mut NativeMachine<'_>) -> Result<(), Ended> {
        let mut services = Services::new(machine, &self.tables);
        let mut frame = services.frame();
        match (self.entry)(&mut frame) {
            0 => Ok(()),
            site @ 1.. => Err(Ended::Trap((site - 1) as u32)),
            _ => Err(Ended::Refused),
        }
    }
}

/// The message of an error, if there is one.
fn check(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the error is not null; its message is ours to free once it is copied.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}
