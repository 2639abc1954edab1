//! A page of facts and tables in the look of answers, for those who run a repository; and the same as lines of text.

use super::escape::escaped;
use crate::assets;

/// A page of facts and tables.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    /// The heading.
    pub title: String,
    /// Where the repository answers; its style sheet is the page's.
    pub base_url: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// A question that the page answers.
    pub form: Option<SheetForm>,
    /// Tables.
    pub tables: Vec<SheetTable>,
}

/// A question with one field, and the answer to the last one.
#[derive(Debug, Clone, Default)]
pub struct SheetForm {
    /// The heading.
    pub title: &'static str,
    /// The name of the parameter.
    pub name: &'static str,
    /// The label of the field.
    pub label: &'static str,
    /// The label of the button.
    pub button: &'static str,
    /// The value that was asked about.
    pub value: String,
    /// The lines of the answer.
    pub answer: Vec<String>,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct SheetTable {
    /// The heading.
    pub title: String,
    /// The headings of the columns.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The message where there are none.
    pub empty: &'static str,
}

impl Sheet {
    /// The page.
    pub fn html(&self) -> String {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <link rel=\"stylesheet\" href=\"{}\">\n</head>\n<body>\n<header class=\"gn-top\"><div class=\"gn-wide\">\
             <p class=\"gn-mark\"><a href=\"{}\">garner</a> <span class=\"gn-base\">{}</span></p></div></header>\n\
             <main id=\"content\" class=\"gn-wide\">\n<h1 dir=\"auto\">{title}</h1>\n",
            escaped(&assets::path(&self.base_url, assets::PAGE_STYLE)),
            escaped(&self.base_url),
            escaped(&self.base_url)
        );
        html.push_str("<dl class=\"gn-card gn-facts\">\n");
        for (name, value) in &self.facts {
            let (name, value) = (escaped(name), escaped(value));
            html.push_str(&format!("<dt>{name}</dt><dd>{value}</dd>\n"));
        }
        html.push_str("</dl>\n");
        if let Some(form) = &self.form {
            form.push(&mut html);
        }
        for table in &self.tables {
            table.push(&mut html);
        }
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }

    /// The facts, one a line.
    pub fn text(&self) -> String {
        let facts = self.facts.iter();
        facts
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect()
    }
}

impl SheetForm {
    fn push(&self, html: &mut String) {
        html.push_str(&format!(
            "<section class=\"gn-card\"><h2>{}</h2>\n<form method=\"get\" class=\"gn-form\"><label>{} \
             <input name=\"{}\" value=\"{}\" required></label> <button>{}</button></form>\n",
            self.title,
            self.label,
            self.name,
            escaped(&self.value),
            self.button
        ));
        if !self.answer.is_empty() {
            html.push_str("<ul>\n");
            for line in &self.answer {
                html.push_str(&format!("<li>{}</li>\n", escaped(line)));
            }
            html.push_str("</ul>\n");
        }
        html.push_str("</section>\n");
    }
}

impl SheetTable {
    fn push(&self, html: &mut String) {
        html.push_str(&format!("<section><h2>{}</h2>\n", escaped(&self.title)));
        if self.rows.is_empty() {
            html.push_str(&format!(
                "<p class=\"gn-quiet\">{}</p></section>\n",
                self.empty
            ));
            return;
        }
        html.push_str("<table class=\"gn-list gn-card\"><thead><tr>");
        for column in &self.columns {
            html.push_str(&format!("<th scope=\"col\">{column}</th>"));
        }
        html.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (column, value) in self.columns.iter().zip(row) {
                let value = escaped(value);
                html.push_str(&format!("<td data-label=\"{column}\">{value}</td>"));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></section>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_escaped_everywhere() {
        let hostile = "<script>\"'&";
        let sheet = Sheet {
            title: hostile.to_owned(),
            base_url: format!("http://a/{hostile}"),
            facts: vec![(hostile.to_owned(), hostile.to_owned())],
            form: Some(SheetForm {
                value: hostile.to_owned(),
                answer: vec![hostile.to_owned()],
                ..SheetForm::default()
            }),
            tables: vec![SheetTable {
                title: hostile.to_owned(),
                columns: vec!["One"],
                rows: vec![vec![hostile.to_owned()]],
                empty: "",
            }],
        };

        let html = sheet.html();

        assert!(!html.contains("<script"), "{html}");
        assert!(
            html.contains("value=\"&lt;script&gt;&quot;&#39;&amp;\""),
            "{html}"
        );
    }
}
