use std::io::{BufRead,Write};
fn main(){
    let mut out=std::io::BufWriter::new(std::fs::File::create("/tmp/i7f/features.bin").unwrap());
    std::fs::write("/tmp/i7f/names.json",serde_json::to_string(&document::classify::names()).unwrap()).unwrap();
    let docs:Vec<serde_json::Value>=std::io::stdin().lock().lines().map(|l|serde_json::from_str(&l.unwrap()).unwrap()).collect();
    let t=std::time::Instant::now();
    for d in &docs{
        let v=document::classify::dump(d["text"].as_str().unwrap(),d["pages"].as_u64().map(|p|p as usize));
        for x in v{out.write_all(&x.to_le_bytes()).unwrap();}
    }
    eprintln!("{} features, {:?} a document",document::classify::names().len(),t.elapsed()/docs.len() as u32);
}
