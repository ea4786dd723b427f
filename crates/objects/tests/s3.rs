//! A bucket on a server that speaks S3, and a network that fails it.

use std::path::Path as FilePath;

use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use waybill_objects::{Objects, Place};
use waybill_testkit::{Bucket, Trouble};

/// Stores take no part below this but the last.
const PART_BYTES: usize = 5 * 1024 * 1024;

async fn bucket() -> Bucket {
    Bucket::fresh(FilePath::new(env!("CARGO_TARGET_TMPDIR"))).await
}

fn objects(bucket: &Bucket) -> Objects {
    let settings = bucket.settings();
    let settings = settings.iter().map(|(name, value)| (*name, value.as_str()));
    Place::parse(&bucket.url(), settings).and_then(|place| place.to_write()).expect("a client")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_can_be_written_read_listed_and_deleted_from() {
    let bucket = bucket().await;
    let objects = objects(&bucket);
    for _ in 0..2 {
        objects.probe().await.expect("it works");
    }
    let key = Path::from("exports/a/b/1-c");
    let upload = objects.begin(&key).await.expect("it begins");
    assert!(upload.name().is_some_and(|name| !name.is_empty()), "S3 names it");
    let mut parts = upload.into_parts();
    let sent = [parts.put_part(vec![b'a'; PART_BYTES].into()), parts.put_part("end".into())];
    // The second is there first, and is the second all the same.
    for part in sent.into_iter().rev() {
        part.await.expect("it is sent");
    }
    parts.complete().await.expect("it ends");
    let read = objects.get(&key).await.expect("it is there").bytes().await.expect("its bytes");
    assert_eq!((read.len(), &read[PART_BYTES - 1..]), (PART_BYTES + 3, b"aend".as_slice()));
    assert_eq!(bucket.unended_uploads().await, 0);

    let empty = Path::from("exports/a/b/2-c");
    objects.begin(&empty).await.expect("it begins").into_parts().complete().await.expect("it ends");
    assert_eq!(objects.head(&empty).await.expect("it is there").size, 0);
    let page = objects.page(&Path::from("exports"), Some(&key), 10).await.expect("a page");
    assert_eq!(page.iter().map(|object| &object.location).collect::<Vec<_>>(), [&empty]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_never_ended_is_aborted_by_its_name_however_often() {
    let bucket = bucket().await;
    let objects = objects(&bucket);
    let key = Path::from("exports/a/b/1-c");
    let upload = objects.begin(&key).await.expect("it begins");
    let name = upload.name().map(str::to_owned);
    let mut parts = upload.into_parts();
    parts.put_part(vec![b'a'; PART_BYTES].into()).await.expect("a part");
    drop(parts);
    assert_eq!(bucket.unended_uploads().await, 1, "its writer is gone, and its part is not");
    for _ in 0..2 {
        objects.abort(&key, name.as_deref()).await.expect("it is aborted");
        objects.remove(&key).await.expect("there is no object");
    }
    assert_eq!(bucket.unended_uploads().await, 0);
    objects.abort(&key, None).await.expect("an upload without a name never began");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_for_a_moment_is_asked_again() {
    let bucket = bucket().await;
    let objects = objects(&bucket);
    let troubles =
        [(Trouble::Unavailable, "PUT"), (Trouble::AnswerLost, "PUT"), (Trouble::Unavailable, "GET")];
    for ((trouble, method), struck) in troubles.into_iter().zip(1..) {
        let key = Path::from(format!("exports/a/b/{struck}-c"));
        bucket.proxy().trouble(trouble, &[method, key.as_ref()], 1);
        let mut parts = objects.begin(&key).await.expect("it begins").into_parts();
        parts.put_part(PutPayload::from("id\n")).await.expect("a part");
        parts.complete().await.expect("it ends");
        let read = objects.get(&key).await.expect("it is there").bytes().await.expect("its bytes");
        assert_eq!(read, "id\n", "{trouble:?}");
        bucket.proxy().has_struck(struck).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_not_there_is_no_store() {
    let bucket = bucket().await;
    let settings = bucket.settings();
    let place = Place::parse("s3://nowhere", settings.iter().map(|(name, value)| (*name, value.as_str())));
    let error =
        place.and_then(|place| place.to_write()).expect("a client").probe().await.expect_err("no bucket");
    assert_eq!(error.what, "written");
}
