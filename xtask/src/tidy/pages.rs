//! Samples of the book paste as they are shown. rustdoc hides a line that begins with `# `; a code host shows
//! it, and whoever copies the sample from there has it in their program, or lacks what it made.

use std::path::{Path, PathBuf};

use super::{Finding, read};

pub(super) fn findings(files: &[PathBuf]) -> Vec<Finding> {
    let book = |file: &&PathBuf| {
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        let shown_first = ["README.md", "crates/shelfward/README.md"].map(Path::new);
        is_page && (file.starts_with("docs") || shown_first.contains(&file.as_path()))
    };
    let pages = files.iter().filter(book);
    pages
        .flat_map(|page| {
            hidden_lines(&read(page)).into_iter().map(|line| {
                let what = "a line of a sample is hidden; show it, or write the sample without it";
                Finding::new(format!("{}:{line}", page.display()), what)
            })
        })
        .collect()
}

/// The lines of Rust samples that rustdoc hides, from 1.
fn hidden_lines(page: &str) -> Vec<usize> {
    let (mut hidden, mut within) = (Vec::new(), None);
    for (line, number) in page.lines().zip(1..) {
        let text = line.trim_start();
        match (text.strip_prefix("```"), within) {
            // A sample without a language is Rust to rustdoc.
            (Some(language), None) => {
                within = Some(language.is_empty() || language.starts_with("rust"))
            }
            (Some(_), Some(_)) => within = None,
            (None, Some(true)) if text == "#" || text.starts_with("# ") => hidden.push(number),
            _ => {}
        }
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_rustdoc_hides_are_found_in_samples_alone() {
        let page = "# Title\n```rust\nlet a = 1;\n# let b = 2;\n  # Ok(())\n#\n```\n# Next\n\
                    ```console\n# comment\n```\n```\n# hidden\n#[test]\n```\n";
        assert_eq!(hidden_lines(page), [4, 5, 6, 13]);
    }
}
