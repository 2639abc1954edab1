//! Makes the bindings to httpd and APR from the headers that are installed.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/headers.h");
    println!("cargo:rerun-if-env-changed=APXS");
    // Once loaded it stays, so that every restart does the same; a new version comes with a full restart.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");

    let apxs = env::var("APXS").unwrap_or_else(|_| "apxs".to_owned());
    let mut flags = vec![format!("-I{}", ask(&apxs, &["-q", "INCLUDEDIR"]).join(" "))];
    flags.extend(ask("apr-1-config", &["--includes", "--cppflags"]));
    flags.extend(ask("apu-1-config", &["--includes"]));
    let bindings = bindgen::Builder::default()
        .header("src/headers.h")
        .clang_args(flags)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .allowlist_function("ap_.*|apr_.*|sigfillset|pthread_sigmask")
        .allowlist_type(
            "module|command_rec|request_rec|conn_rec|server_rec|authn_provider|authn_status|core_server_config|ap_.*|apr_.*",
        )
        .allowlist_var("ap_.*|AP_.*|apr_.*|APR_.*|MODULE_.*|OK|DECLINED|HTTP_.*|M_.*")
        .allowlist_var("OPT_.*|OR_.*|RSRC_CONF|ACCESS_CONF|APLOG_.*|REQUEST_.*|SIG_SETMASK")
        .layout_tests(false)
        .derive_debug(false)
        .generate_comments(false)
        .formatter(bindgen::Formatter::None)
        .generate()
        .expect("the headers of httpd can be read");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    bindings
        .write_to_file(out.join("bindings.rs"))
        .expect("the output directory can be written");
}

/// The output of a configuration program, as words.
fn ask(program: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| {
        panic!("`{program}`: {error}; `scripts/setup apache` installs what this needs")
    });
    assert!(
        output.status.success(),
        "`{program}` fails: {}",
        output.status
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().map(str::to_owned).collect()
}
