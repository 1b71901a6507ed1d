//! Objects in memory, and calling them.
//!
//! Invariant: code stays linked as long as its session lives, and a session as long as any code of it.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex};

use einlang_interp::native::{Ended, NativeMachine};
use einlang_runtime::pool::Pool;
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

/// The name of the function as `emit` leaves it.
pub(crate) const ENTRY: &str = "einlang_kernel";

/// What links objects into the process, one at a time.
pub(crate) struct Session {
    linker: Mutex<Linker>,
    /// The threads that code runs on.
    pool: Arc<Pool>,
}

struct Linker(LLVMOrcLLJITRef);

// SAFETY: the linker is used by one thread at a time, and is tied to none.
unsafe impl Send for Linker {}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: the session is ours, and nothing that was linked by it is called again.
        let _ = unsafe { LLVMOrcDisposeLLJIT(self.0) };
    }
}

impl Session {
    /// The threads that code runs on.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// A session that finds functions of the process.
    pub(crate) fn new(pool: Pool) -> Result<Session, String> {
        let mut jit = ptr::null_mut();
        // SAFETY: every pointer handed over was made here or by the call before, and each call's
        // error is looked at before its result is used.
        unsafe {
            check(LLVMOrcCreateLLJIT(&mut jit, ptr::null_mut()))?;
            let linker = Linker(jit);
            let mut process = ptr::null_mut();
            let prefix = LLVMOrcLLJITGetGlobalPrefix(jit);
            check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                prefix,
                None,
                ptr::null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit), process);
            Ok(Session { linker: Mutex::new(linker), pool: Arc::new(pool) })
        }
    }

    /// Links objects that belong together; their function has this name, which no other object of the
    /// session has.
    pub(crate) fn load(
        self: &Arc<Session>,
        objects: &[Vec<u8>],
        name: &str,
        tables: Tables,
    ) -> Result<Linked, String> {
        let name = CString::new(name).map_err(|_| "a name with a zero byte".to_owned())?;
        let linker = self.linker.lock().map_err(|_| "linking has failed before".to_owned())?;
        let mut address = 0;
        // SAFETY: as above; the buffers are copies that the session takes over.
        unsafe {
            let main = LLVMOrcLLJITGetMainJITDylib(linker.0);
            for object in objects {
                let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                    object.as_ptr().cast(),
                    object.len(),
                    name.as_ptr(),
                );
                check(LLVMOrcLLJITAddObjectFile(linker.0, main, buffer))?;
            }
            check(LLVMOrcLLJITLookup(linker.0, &mut address, name.as_ptr()))?;
        }
        // SAFETY: `emit` gives the function of this name exactly this type.
        let entry = unsafe {
            std::mem::transmute::<usize, extern "C" fn(*mut Frame) -> i64>(address as usize)
        };
        let pool = Arc::clone(&self.pool);
        Ok(Linked { _session: Arc::clone(self), entry, tables, pool })
    }
}

/// Machine code that can be run.
pub(crate) struct Linked {
    /// Where the code lies.
    _session: Arc<Session>,
    entry: extern "C" fn(*mut Frame) -> i64,
    tables: Tables,
    pool: Arc<Pool>,
}

impl fmt::Debug for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Linked {
    /// Runs it to its end.
    pub(crate) fn run(&self, machine: &mut NativeMachine<'_>) -> Result<(), Ended> {
        let mut services = Services::new(machine, &self.tables, &self.pool);
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
