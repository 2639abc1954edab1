//! scratch
use document::classify::*;
fn main(){
    let f=std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap();
    let mut ex=vec![]; read_examples(f,|e|{ex.push(e);Ok(())}).unwrap();
    let t=std::time::Instant::now();
    let s:Vec<Sample>=ex.iter().map(Sample::new).collect();
    eprintln!("{:?} a document",t.elapsed()/ex.len() as u32);
    for seed in 1..=4 {
        let t=std::time::Instant::now();
        let tr=Training{seed,..Training::default()};
        let a=cross_validate(&tr,&s,&mut |_,_|()).unwrap();
        let j:Vec<Judged>=ex.iter().cloned().zip(a).map(|(e,a)|Judged::new(e,a)).collect();
        let e=evaluate(&j,&Policy::default());
        let r=|b:&str|e.bucket[b].recall.unwrap(); let f=|b:&str|e.subtype[b].false_positive_rate.unwrap();
        println!("acc {:.4} hard {:.4} fp {:.3} rec {:.3} {:.3} {:.3} {:.3} sub {:.2} {:.2} {:.2} {:.2} {:.2} ece {:.3} kinds {:.3} {:?}",e.all.accuracy.unwrap(),e.hard.accuracy.unwrap(),e.all.false_positive_rate.unwrap(),r("CS"),r("math-physics"),r("biomedical"),r("other"),f("manual"),f("slides"),f("cv"),f("form"),f("government_report"),e.all.expected_calibration_error.unwrap(),e.kind_accuracy.unwrap(),t.elapsed());
        if seed==4 { println!("{}",serde_json::to_string(&e.decisions).unwrap()); println!("{}",serde_json::to_string(&e.kinds).unwrap());}
    }
}
