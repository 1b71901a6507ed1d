//! Events to nodes. The parser sees only significant tokens; here the trivia come back: a node
//! runs from its first to its last significant token, and an item also takes in the doc comments
//! right before it. Nodes beyond [`MAX_HEIGHT`] are left out, and their tokens fall to the node at
//! the limit: whatever the text, the tree has a bounded height.

use super::{Event, MAX_HEIGHT};
use crate::kind::SyntaxKind::{self, *};
use crate::lexer::Tokens;
use crate::tree::NodeData;

/// The nodes, and the token where they would have grown beyond the limit.
pub(super) struct Built {
    pub(super) nodes: Vec<NodeData>,
    pub(super) too_high: Option<u32>,
}

/// Lays out the nodes in preorder. The events are used up.
pub(super) fn build(tokens: &Tokens, significant: &[u32], mut events: Vec<Event>) -> Built {
    let mut builder = Builder {
        tokens,
        significant,
        nodes: Vec::with_capacity(events.len() / 3 + 1),
        open: Vec::new(),
        left_out: 0,
        too_high: None,
        pos: 0,
    };
    let mut chain = Vec::new();
    for i in 0..events.len() {
        match events[i] {
            Event::Start { kind, parent: 0 } => builder.open(kind),
            Event::Start { kind, parent } => {
                chain.push(kind);
                take_parents(&mut events, i, parent, &mut chain);
                while let Some(kind) = chain.pop() {
                    builder.open(kind);
                }
            }
            Event::Finish => builder.close(),
            Event::Token => builder.pos += 1,
            Event::Nothing => {}
        }
    }
    Built { nodes: builder.nodes, too_high: builder.too_high }
}

/// Follows the links to the nodes that were opened later around this one: they come first.
fn take_parents(events: &mut [Event], start: usize, parent: u32, chain: &mut Vec<SyntaxKind>) {
    let (mut at, mut distance) = (start, parent as usize);
    while distance != 0 {
        at += distance;
        match std::mem::replace(&mut events[at], Event::Nothing) {
            Event::Start { kind, parent } => {
                chain.push(kind);
                distance = parent as usize;
            }
            // The later node was given up: there is nothing around.
            _ => return,
        }
    }
}

struct Builder<'a> {
    tokens: &'a Tokens,
    significant: &'a [u32],
    nodes: Vec<NodeData>,
    /// The open nodes, each with the position at which it began.
    open: Vec<(u32, usize)>,
    /// Nodes that are open but beyond the limit.
    left_out: u32,
    too_high: Option<u32>,
    /// Position among the significant tokens.
    pos: usize,
}

impl Builder<'_> {
    fn open(&mut self, kind: SyntaxKind) {
        let first_token = self.first_token(kind);
        if self.open.len() >= MAX_HEIGHT as usize {
            self.left_out += 1;
            let last = (self.tokens.len() as u32).saturating_sub(1);
            self.too_high.get_or_insert(first_token.min(last));
            return;
        }
        let parent = self.open.last().map_or(0, |(parent, _)| *parent);
        if takes_docs(kind) {
            self.take_docs_in(first_token);
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(NodeData {
            kind,
            first_token,
            end_token: first_token,
            end_node: 0,
            parent,
        });
        self.open.push((id, self.pos));
    }

    fn close(&mut self) {
        if self.left_out > 0 {
            self.left_out -= 1;
            return;
        }
        let Some((id, began)) = self.open.pop() else { return };
        let end_node = self.nodes.len() as u32;
        let end_token = self.end_token(id);
        let node = &mut self.nodes[id as usize];
        node.end_node = end_node;
        node.end_token = end_token.max(node.first_token);
        if began == self.pos && id != 0 {
            self.place_empty(id);
        }
    }

    /// Nodes that begin with this one begin with its doc comments.
    fn take_docs_in(&mut self, first_token: u32) {
        for (id, began) in self.open.iter().rev() {
            let node = &mut self.nodes[*id as usize];
            if *began != self.pos || node.first_token <= first_token {
                break;
            }
            node.first_token = first_token;
        }
    }

    /// A node without tokens stands right after the last token that was taken, so that it lies
    /// inside the nodes around it, which may end there.
    fn place_empty(&mut self, id: u32) {
        let parent = self.nodes[id as usize].parent as usize;
        let after = self.pos.checked_sub(1).map_or(0, |last| self.significant[last] + 1);
        let place = after.max(self.nodes[parent].first_token);
        for node in &mut self.nodes[id as usize..] {
            (node.first_token, node.end_token) = (place, place);
        }
    }

    fn first_token(&self, kind: SyntaxKind) -> u32 {
        match self.significant.get(self.pos) {
            Some(&token) if takes_docs(kind) => self.docs_before(token),
            _ if kind == SOURCE_FILE => 0,
            Some(&token) => token,
            // An empty node at the end stands right after the last significant token.
            None => self.significant.last().map_or(0, |last| last + 1),
        }
    }

    fn end_token(&self, id: u32) -> u32 {
        if id == 0 {
            return self.tokens.len() as u32;
        }
        match self.pos.checked_sub(1) {
            Some(last) => self.significant[last] + 1,
            None => 0,
        }
    }

    /// The first doc comment of those right before a token.
    fn docs_before(&self, token: u32) -> u32 {
        let mut first = token;
        for i in (0..token).rev() {
            match self.tokens.kinds[i as usize] {
                DOC_COMMENT => first = i,
                kind if kind.is_trivia() => {}
                _ => break,
            }
        }
        first
    }
}

fn takes_docs(kind: SyntaxKind) -> bool {
    kind.is_item() || matches!(kind, LET_STMT | FIELD_DEF | VARIANT)
}
