//! scratch
use document::classify::*;
fn main(){
    let f=std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap();
    let mut ex=vec![]; read_examples(f,|e|{ex.push(e);Ok(())}).unwrap();
    let m=std::env::args().nth(2);
    let s:Vec<Sample>=ex.iter().map(Sample::new).collect();
    if let Some(m)=m { let c=Classifier::train(&Training::default(),&s,&mut|d,o|eprint!("{d}/{o} ")).unwrap(); std::fs::write(m,c.to_bytes().unwrap()).unwrap(); eprintln!("{}",c.version()); return; }
    let cpu=||{let s=std::fs::read_to_string("/proc/self/stat").unwrap();let v:Vec<&str>=s.rsplit(')').next().unwrap().split_whitespace().collect();v[11].parse::<u64>().unwrap()+v[12].parse::<u64>().unwrap()};
    let c=Classifier::built_in(); 
    let t=cpu();
    for _ in 0..3 { for e in &ex { std::hint::black_box(c.classify(&e.text,e.pages)); } }
    eprintln!("{} ms CPU a document",(cpu()-t) as f64*10.0/(3*ex.len()) as f64);
}
