//! Streams all records of a repository and tells how many there are:
//! `cargo run --release --example stream -- http://repository.example/oai [PREFIX]`.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use harvester::{Client, ClientOptions, Error};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let base_url = arguments.next().unwrap_or_default();
    let prefix = arguments.next().unwrap_or_else(|| "oai_dc".to_owned());

    let client = Client::new(ClientOptions::default())?;
    let repository = client.repository(&base_url)?;
    let (mut records, mut bytes) = (0_u64, 0);
    for record in repository.list_records(&prefix, None, None, None) {
        records += 1;
        bytes += record?.xml.len();
    }

    println!("{records} records, {bytes} bytes");
    Ok(())
}
