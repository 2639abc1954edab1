//! Trusted certificates for encrypted FTP: those of the system, and those of a file.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use suppaftp::tokio::AsyncRustlsConnector;
use suppaftp::tokio_rustls::TlsConnector;

use crate::{Access, Error};

/// Opens encrypted connections. One connector serves control and data, so that data connections resume the session of the control
/// connection, as careful servers want it.
pub(super) fn connector(access: &Access) -> Result<AsyncRustlsConnector, Error> {
    let mut roots = RootCertStore::empty();
    // An unreadable certificate of the system does not cost the others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = &access.ca_file {
        let error =
            |error: &dyn std::fmt::Display| Error::disk("read as certificates", file, error);
        let certificates = CertificateDer::pem_file_iter(file).map_err(|why| error(&why))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|why| error(&why))?;
            roots.add(certificate).map_err(|why| error(&why))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Refused(format!("TLS cannot be used: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)).into())
}
