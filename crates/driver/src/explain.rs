//! The page of each diagnostic code, as `einlang explain` prints it.
//!
//! Pages are the files of `docs/errors`, embedded, so that the explanation fits the binary that
//! printed the code. Invariant: every code has a page; a test holds the table to the catalogue.

use einlang_source::{Code, nearest};

macro_rules! pages {
    ($($code:ident)*) => {
        /// Every code with its page, in the order of the catalogue.
        pub const PAGES: &[(Code, &str)] = &[$((
            Code::$code,
            include_str!(concat!("../../../docs/errors/", stringify!($code), ".md")),
        ),)*];
    };
}

pages! {
    E0101 E0102 E0103
    E0110 E0111 E0112 E0113 E0114 E0115 E0116
    E0201 E0202 E0203 E0204 E0205
    E0301 E0302 E0303 E0304 E0305 W0305 E0306 E0307 E0308 E0309 E0310 E0311 E0312
    E0401 E0402 E0403 E0404 E0405 W0406 E0407 E0408 E0409 E0410
    E0501 E0502 E0503 E0504
    E0601 E0602 E0603 W0604
    E0701 E0702 E0703 E0704 E0705 E0706
    E0801 E0802 E0803
    E0901 E0902 E0903 E0904 E0905 E0906 E0907
    E0999
}

/// The page of a code, in Markdown. Its first line is `# code: title`.
pub fn page(code: Code) -> Option<&'static str> {
    PAGES.iter().find(|(of, _)| *of == code).map(|(_, page)| *page)
}

/// The code that a user means: in either letter case, and errors also without their `E`.
pub fn find(text: &str) -> Option<Code> {
    Code::parse(text).or_else(|| Code::parse(&format!("E{text}")))
}

/// The code that is spelled most like a text that is none.
pub fn nearest_code(text: &str) -> Option<Code> {
    let spelled = text.to_ascii_uppercase();
    nearest(&spelled, Code::ALL.iter().map(|code| code.as_str())).and_then(Code::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_page() {
        let with_page: Vec<Code> = PAGES.iter().map(|(code, _)| *code).collect();
        assert_eq!(with_page, Code::ALL);
    }

    #[test]
    fn pages_bear_the_title_of_their_code() {
        for (code, page) in PAGES {
            let title = format!("# {code}: {}\n", code.title());
            assert!(page.starts_with(&title), "{code}");
        }
    }

    #[test]
    fn codes_are_found_as_people_write_them() {
        for text in ["E0101", "e0101", "0101"] {
            assert_eq!(find(text), Some(Code::E0101));
        }
        for text in ["", "E", "E01", "E9999", "unexpected token"] {
            assert_eq!(find(text), None);
        }
    }

    #[test]
    fn a_near_code_is_suggested() {
        assert_eq!(nearest_code("e0401"), Some(Code::E0101));
        assert_eq!(nearest_code("E04O9"), Some(Code::E0409));
        assert_eq!(nearest_code("E0777"), None);
        assert_eq!(nearest_code("nonsense"), None);
    }
}
