//! Which bracket closes which. Found before parsing, so that recovery can pass over a whole group
//! and knows whether a closer that is missed here is still to come.
//!
//! When brackets do not balance, a closer that fits an outer bracket closes it and leaves the
//! inner ones open; a closer that fits none stays alone.

use crate::kind::SyntaxKind;

#[derive(Debug, Default)]
pub(crate) struct Brackets {
    /// For each significant token: the position of its partner, or `NONE`.
    partner: Vec<u32>,
    /// True when every bracket has its partner.
    pub(crate) balanced: bool,
}

const NONE: u32 = u32::MAX;

impl Brackets {
    /// Pairs the brackets of a sequence of significant tokens.
    pub(crate) fn matching(kinds: &[SyntaxKind]) -> Brackets {
        let mut partner = vec![NONE; kinds.len()];
        let mut balanced = true;
        let mut open: Vec<usize> = Vec::new();
        // How many brackets that wait for each closer are open: without this count, a long run of
        // closers that fit nothing would search the whole stack each time.
        let mut waiting = [0_u32; 256];
        for (i, kind) in kinds.iter().enumerate() {
            if let Some(closer) = kind.closer() {
                open.push(i);
                waiting[closer as usize] += 1;
            } else if kind.is_closer() {
                if waiting[*kind as usize] == 0 {
                    balanced = false;
                    continue;
                }
                while let Some(opener) = open.pop() {
                    let closer = kinds[opener].closer().unwrap_or(SyntaxKind::EOF);
                    waiting[closer as usize] -= 1;
                    if closer == *kind {
                        partner[i] = opener as u32;
                        partner[opener] = i as u32;
                        break;
                    }
                    balanced = false;
                }
            }
        }
        balanced &= open.is_empty();
        Brackets { partner, balanced }
    }

    /// The position of the bracket that belongs to the one at `pos`.
    pub(crate) fn partner(&self, pos: usize) -> Option<usize> {
        match self.partner.get(pos) {
            Some(&NONE) | None => None,
            Some(&other) => Some(other as usize),
        }
    }
}
