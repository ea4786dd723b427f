//! An export's file: whole, in parts, and by a link.

use sha2::{Digest, Sha256};
use waybill_testkit::{Answer, Bucket, Caller, Process, System};

struct Scene {
    system: System,
    operator: Caller,
    caller: Caller,
    path: String,
    file: Vec<u8>,
    etag: String,
    _house: (Process, Process),
}

async fn scene_in(system: System) -> Scene {
    let (api, operator, caller) = system.called().await;
    let house = (api, system.start(&["worker"]));
    let export_id = caller.export("intent-1").await;
    let result = caller.settled(&export_id).await["result"].clone();
    let path = format!("/v1/exports/{export_id}/content");
    let etag = format!("\"{}\"", result["sha256"].as_str().expect("a digest"));
    Scene { system, operator, caller, path, file: Vec::new(), etag, _house: house }
}

async fn scene() -> Scene {
    let mut scene = scene_in(System::fresh().await).await;
    let whole = scene.caller.get(&scene.path).await;
    assert_eq!(whole.status, 200);
    assert_eq!(format!("\"{}\"", hex(&whole.bytes)), scene.etag, "the whole is what its digest says");
    scene.file = whole.bytes;
    scene
}

impl Scene {
    async fn range(&self, range: &str) -> Answer {
        self.caller.get_with(&self.path, &[("Range", range)]).await
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[tokio::test]
async fn the_parts_of_a_file_are_together_the_file() {
    let scene = scene().await;
    let size = scene.file.len();
    let (mut together, mut first) = (Vec::new(), 0);
    while first < size {
        let part = scene.range(&format!("bytes={first}-{}", first + size / 3)).await;
        let last = (first + size / 3).min(size - 1);
        assert_eq!(part.status, 206, "{}", part.json());
        assert_eq!(header(&part, "content-range"), format!("bytes {first}-{last}/{size}"));
        assert_eq!(header(&part, "content-length"), part.bytes.len().to_string());
        assert_eq!(header(&part, "etag"), scene.etag, "one file, one validator");
        first += part.bytes.len();
        together.extend(part.bytes);
    }
    assert!(together == scene.file, "byte by byte");
    let end = scene.range("bytes=-10").await;
    assert!(end.status == 206 && end.bytes == scene.file[size - 10..]);
}

#[tokio::test]
async fn a_range_beyond_the_end_is_refused_with_the_size_and_what_is_no_range_gets_the_whole() {
    let scene = scene().await;
    let size = scene.file.len();
    let beyond = scene.range(&format!("bytes={size}-")).await;
    assert_eq!((beyond.status.as_u16(), beyond.code().as_str()), (416, "range-not-satisfiable"));
    assert_eq!(header(&beyond, "content-range"), format!("bytes */{size}"));
    for whole in ["bytes=0-1,3-4", "bytes=4-3", "lines=0-1", "bytes"] {
        let answer = scene.range(whole).await;
        assert!(answer.status == 200 && answer.bytes == scene.file, "{whole}");
    }
}

#[tokio::test]
async fn a_download_is_continued_only_of_the_same_file() {
    let scene = scene().await;
    let same = [("Range", "bytes=5-"), ("If-Range", scene.etag.as_str())];
    let rest = scene.caller.get_with(&scene.path, &same).await;
    assert!(rest.status == 206 && rest.bytes == scene.file[5..]);
    for other in ["\"another\"", "Wed, 21 Oct 2026 07:28:00 GMT"] {
        let answer = scene.caller.get_with(&scene.path, &[("Range", "bytes=5-"), ("If-Range", other)]).await;
        assert!(answer.status == 200 && answer.bytes == scene.file, "{other}");
    }
    let known =
        scene.caller.get_with(&scene.path, &[("If-None-Match", &scene.etag), ("Range", "bytes=0-0")]).await;
    assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0), "what it has comes first");
}

#[tokio::test]
async fn a_head_says_what_a_get_would_without_the_file() {
    let scene = scene().await;
    let head = scene.caller.head_with(&scene.path, &[]).await;
    let get = scene.caller.get(&scene.path).await;
    for name in
        ["content-length", "content-type", "content-disposition", "accept-ranges", "etag", "repr-digest"]
    {
        assert_eq!(header(&head, name), header(&get, name), "{name}");
        assert!(!header(&head, name).is_empty(), "{name}");
    }
    assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0));
}

#[tokio::test]
async fn a_file_that_changed_its_size_is_served_in_no_part() {
    let scene = scene().await;
    let admin = scene.system.database.admin().await;
    let key = "SELECT object_key FROM export.candidates WHERE state = 'selected'";
    let key: String = admin.query_one(key, &[]).await.expect("a result").get(0);
    let object = scene.system.objects().join(key);
    std::fs::write(&object, &scene.file[..scene.file.len() - 1]).expect("it is cut off");
    for answer in [scene.range("bytes=0-0").await, scene.caller.get(&scene.path).await] {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (500, "result-missing"));
    }
    assert_eq!(scene.caller.head_with(&scene.path, &[]).await.status, 500);
}

#[tokio::test]
async fn a_bucket_hands_the_file_over_by_a_link_to_whoever_may_have_it() {
    let bucket = Bucket::fresh(std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let mut system = System::fresh().await.with("object_store.url", bucket.url()).with("api.content", "link");
    for (name, value) in bucket.settings() {
        system = system.with(&format!("object_store.settings.{name}"), value);
    }
    let scene = scene_in(system).await;

    let sent = scene.caller.get(&scene.path).await;
    assert_eq!((sent.status.as_u16(), sent.bytes.len()), (302, 0));
    assert_eq!(header(&sent, "etag"), scene.etag);
    let link = header(&sent, "location").to_owned();
    let seconds = link.split('&').find_map(|part| part.strip_prefix("X-Amz-Expires="));
    assert_eq!(seconds, Some("300"), "{link}");
    let read = reqwest::Client::builder().no_proxy().build().expect("a client").get(&link).send().await;
    let read = read.expect("the bucket answers");
    assert_eq!(read.status(), 200);
    let disposition = read.headers().get("content-disposition").cloned();
    let file = read.bytes().await.expect("the file");
    assert_eq!(format!("\"{}\"", hex(&file)), scene.etag);
    assert!(disposition.is_some_and(|name| name.as_bytes().starts_with(b"attachment")), "it has its name");

    let known = scene.caller.get_with(&scene.path, &[("If-None-Match", &scene.etag)]).await;
    assert_eq!(known.status, 304);
    let head = scene.caller.head_with(&scene.path, &[]).await;
    assert_eq!(
        (head.status.as_u16(), header(&head, "content-length")),
        (200, file.len().to_string().as_str())
    );
    let other = scene.system.tenant(&scene.operator, "another").await;
    assert_eq!(other.get(&scene.path).await.status, 404, "a link is made for nobody else");
    let delete = scene.path.trim_end_matches("/content");
    scene.caller.delete(delete).await.success();
    assert_eq!(scene.caller.get(&scene.path).await.status, 410, "nor for a file that is to go");
}
