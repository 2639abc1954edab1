//! scratch
use document::classify::*;
fn main(){
    let f=std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap();
    let mut s=vec![]; read_examples(f,|e|{s.push(Sample::new(&e));Ok(())}).unwrap();
    let v:Vec<_>=s.iter().map(|s|s.dump()).collect();
    std::fs::write("/tmp/i7f/rs.json",serde_json::to_vec(&v).unwrap()).unwrap();
    std::fs::write("/tmp/i7f/names.json",serde_json::to_vec(&Sample::names()).unwrap()).unwrap();
}
