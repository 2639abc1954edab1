//! Stands for the PDF reader where it is not built in.

use process::BuiltIn;

/// A reader that reads nothing.
pub const PDF_READER: BuiltIn = BuiltIn {
    name: "garner-pdf",
    main: |_| {
        eprintln!("the PDF reader is not built into this garner (feature `pdf-reader`)");
        std::process::ExitCode::FAILURE
    },
};
