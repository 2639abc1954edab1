//! A real nginx on a free port, for tests of garner beside another web server.

use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::{Fixture, free_port, wait_until};

/// An nginx that serves the site of a fixture; it is stopped when dropped.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    /// The URL of the site's root, with a slash at the end.
    pub url: String,
}

impl Nginx {
    /// Starts it on a free port; the directives go into its `server` block.
    pub fn start(fixture: &Fixture, directives: &str) -> Self {
        Self::start_on(fixture, directives, free_port())
    }

    /// Starts it on a port and waits until it answers.
    pub fn start_on(fixture: &Fixture, directives: &str, port: u16) -> Self {
        let place = fixture.beside("nginx");
        fs::create_dir_all(&place).unwrap();
        let (place, site) = (place.display(), fixture.site());
        let config = format!(
            "daemon off;\nmaster_process off;\nerror_log {place}/error.log;\npid {place}/pid;\n\
             events {{}}\n\
             http {{\n\
             access_log off;\n\
             client_body_temp_path {place}/body;\nproxy_temp_path {place}/proxy;\n\
             fastcgi_temp_path {place}/fastcgi;\nuwsgi_temp_path {place}/uwsgi;\n\
             scgi_temp_path {place}/scgi;\n\
             types {{ text/html html; text/plain txt; application/pdf pdf; image/png png; }}\n\
             default_type application/octet-stream;\n\
             server {{\nlisten 127.0.0.1:{port};\nroot {};\n{directives}\n}}\n}}\n",
            site.display()
        );
        let file = fixture.write_beside("nginx/nginx.conf", config);
        let mut child = Command::new("nginx")
            .arg("-e")
            .arg(fixture.beside("nginx/error.log"))
            .arg("-c")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is installed by scripts/setup test");
        wait_until("nginx answers", || {
            if let Ok(Some(status)) = child.try_wait() {
                let log = fs::read_to_string(fixture.beside("nginx/error.log"));
                panic!("nginx did not start: {status}\n{}", log.unwrap_or_default());
            }
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self {
            child,
            url: format!("http://127.0.0.1:{port}/"),
        }
    }

    /// Stops it at once.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
