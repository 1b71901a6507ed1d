//! Strings, interpolation and format specifications.

use super::build::Builder;

impl Builder<'_, '_> {
    pub(super) fn texts(&mut self) {
        match self.source.below(4) {
            0 => self.formatted_integers(),
            1 => self.formatted_floats(),
            2 => self.formatted_strings(),
            _ => self.interpolated_values(),
        }
    }

    /// `"{n:05d}"`
    fn formatted_integers(&mut self) {
        let n = self.small() * 7;
        let own = self.fresh("n");
        self.line(format!("let {own} = {n};"));
        let positive = n.abs();
        let cases = [
            (format!("{{{own}}}"), format!("{n}")),
            (format!("{{{own}:6d}}"), format!("{n:6}")),
            (format!("{{{own}:<6}}|"), format!("{n:<6}|")),
            (format!("{{{own}:^7}}|"), format!("{n:^7}|")),
            (format!("{{{own}:+d}}"), format!("{n:+}")),
            (format!("{{{own}:06d}}"), format!("{n:06}")),
            (format!("{{{own}:*>6}}"), format!("{n:*>6}")),
            (format!("{{abs({own}):x}}"), format!("{positive:x}")),
            (format!("{{abs({own}):b}}"), format!("{positive:b}")),
            (format!("{{{own} + 1:3}}{{{{}}}}"), format!("{:3}{{}}", n + 1)),
        ];
        for _ in 0..3 {
            let (text, expected) = &cases[self.source.below(cases.len())];
            self.say(format!("\"{text}\""), expected);
        }
    }

    /// `"{x:8.3f}"`; quarters and eighths have no more than three digits.
    fn formatted_floats(&mut self) {
        let x = self.small() as f64 / 8.0;
        let own = self.fresh("x");
        self.line(format!("let {own} = {x:?};"));
        let cases = [
            (format!("{{{own}}}"), format!("{x:?}")),
            (format!("{{{own}:.3f}}"), format!("{x:.3}")),
            (format!("{{{own}:9.4f}}|"), format!("{x:9.4}|")),
            (format!("{{{own}:<9.3f}}|"), format!("{x:<9.3}|")),
            (format!("{{{own}:+.3f}}"), format!("{x:+.3}")),
            (format!("{{{own}:.1%}}"), format!("{:.1}%", x * 100.0)),
        ];
        for _ in 0..3 {
            let (text, expected) = &cases[self.source.below(cases.len())];
            self.say(format!("\"{text}\""), expected);
        }
    }

    /// `"{s:>6}"`
    fn formatted_strings(&mut self) {
        let s = ["", "a", "tensor", "näher", "x y"][self.source.below(5)];
        let own = self.fresh("t");
        self.line(format!("let {own} = \"{s}\";"));
        self.say(format!("\"[{{{own}:>8}}]\""), format!("[{s:>8}]"));
        self.say(format!("\"[{{{own}:_<8}}]\""), format!("[{s:_<8}]"));
        self.say(format!("\"[{{{own}:.2}}]\""), format!("[{s:.2}]"));
        self.say(
            format!("{own} == \"a\", {own} != \"\""),
            format!("{} {}", s == "a", !s.is_empty()),
        );
        self.say(format!("({own}, 1)"), format!("(\"{s}\", 1)"));
    }

    /// `"{v:3d} and {(1, true)}"`
    fn interpolated_values(&mut self) {
        let (name, values) = self.ints(3);
        let padded: Vec<String> = values.iter().map(|value| format!("{value:3}")).collect();
        self.say(format!("\"{{{name}:3d}}\""), format!("[{}]", padded.join(", ")));
        let x = self.small();
        self.say(
            format!("\"{{({x}, {x} > 0)}}, {{[{x}, 1]}}\""),
            format!("({x}, {}), [{x}, 1]", x > 0),
        );
        let pick = ["less", "more"][usize::from(x > 2)];
        let text = format!("\"{{if {x} > 2 {{ \"more\" }} else {{ \"less\" }}}}\"");
        self.say(text, pick);
    }
}
